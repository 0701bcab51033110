"""Timing: sides run in turn."""

from collections.abc import Callable

from lab.timing import race


def test_sides_run_in_turn_and_each_begins_a_round() -> None:
    log: list[str] = []

    def side(name: str) -> Callable[[], int]:
        def run() -> int:
            log.append(name)
            return ord(name)

        return run

    race({"a": side("a"), "b": side("b")}, repeat=2)
    assert log == ["a", "b", "b", "a", "a", "b"]

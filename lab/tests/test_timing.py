"""Timing: sides run in turn."""

from collections.abc import Callable

from lab.timing import race


def test_sides_run_in_turn_and_after_different_ones() -> None:
    log: list[str] = []

    def side(name: str) -> Callable[[], int]:
        def run() -> int:
            log.append(name)
            return ord(name)

        return run

    names = ["a", "b", "c"]
    times = race({name: side(name) for name in names}, repeat=12)
    rounds = [log[i : i + 3] for i in range(0, len(log), 3)]
    assert rounds[0] == names  # to warm up
    assert len(rounds) == 13
    assert all(sorted(each) == names for each in rounds)
    assert len({tuple(each) for each in rounds}) > 3
    assert {len(each.seconds) for each in times.values()} == {12}
    assert {name: each.rows for name, each in times.items()} == {n: ord(n) for n in names}

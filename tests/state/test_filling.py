"""Empty windows of a bucket: those of brute force, of a batch, and a state that stays bounded."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.model.windows import Window
from muntin.state.store import MemoryStore
from muntin_testing.buckets import EMPTY, BruteForce, Row, spec_of, stepped
from muntin_testing.reached import Reached
from muntin_testing.windows import window_sets

STRATEGIES = ["unshared-pairs", "shared-pairs", "wcg", "direct"]


def script(seed: object, span: int) -> list[tuple[list[Row], int]]:
    """Rows of keys that fall silent now and then; some late, and steps of the watermark."""
    random, found, number, watermark, clock = Random(f"{seed}"), [], 0, 0, 0
    while clock < span:
        clock += random.choice((1, 8, 30))
        rows: list[Row] = []
        for _ in range(random.choice((0, 0, 1, 3))):
            number += 1
            time = max(clock - random.choice((0, 0, 5, 40)), 0)
            rows.append((time, random.choice(["a", "b", None]), random.randrange(9), number))
        watermark = max(watermark, clock - random.randrange(20))
        found.append((rows, watermark))
    return [*found, ([], watermark + 60), ([], watermark + 150)]


def test_empty_windows_are_those_of_brute_force() -> None:
    reached = Reached()

    @given(
        window_sets(most=3),
        st.integers(0, 10**6),
        st.sampled_from(STRATEGIES),
        st.sampled_from([1, 20, 60]),
        st.booleans(),
    )
    def each(windows: list[Window], seed: int, strategy: str, fill: int, late_now: bool) -> None:
        spec = spec_of(windows, strategy, fill_for=fill, late_now=late_now)
        store, oracle = MemoryStore(), BruteForce(windows, late_now=late_now, fill_for=fill)
        given: dict[Any, Any] = {}
        for rows, watermark in script(seed, 90):
            found, _ = stepped(spec, store, rows, watermark)
            assert found == oracle.step(rows, watermark)
            assert not given.keys() & found.keys(), "no window comes twice"
            given |= found
            reached["filled"] += EMPTY in found.values()
            reached["filled without rows"] += EMPTY in found.values() and not rows
        reached["a gap that was too long"] += _check_against_batch(windows, given, fill)

    each()
    reached.at_least(10, "filled", "filled without rows", "a gap that was too long")


def _check_against_batch(windows: list[Window], given: dict[Any, Any], fill: int) -> bool:
    """A batch fills all between a key's first and last window; a stream what the rule leaves."""
    too_long = False
    for window in windows:
        for key in {at[1] for at in given}:
            own = {at[2]: r for at, r in given.items() if at[0] == window.id and at[1] == key}
            held = sorted(start for start, result in own.items() if result != EMPTY)
            assert not own or min(own) == held[0], "nothing before the first window with rows"
            for before, after in zip(held, [*held[1:], None], strict=True):
                last = before + fill if after is None else min(before + fill, after - 1)
                wanted = set(range(before + window.slide, last + 1, window.slide))
                mine = {s for s in own if s > before and (after is None or s < after)}
                assert mine == wanted if after is not None else mine <= wanted
                too_long |= after is not None and after - before > fill + window.slide
    return too_long


def test_windows_change_while_empty_ones_are_filled() -> None:
    """A window that stays goes on exactly; one that joins fills from its first instance on."""
    short, long = Window(10, 10, id="short"), Window(30, 10, id="long")
    store, oracle = MemoryStore(), BruteForce([short], fill_for=40)
    sets = ([short], [short, long], [long, short], [short])
    for i, (rows, watermark) in enumerate(script("change", 400)):
        windows = sets[min(i // 8, 3)]
        found, step = stepped(spec_of(windows, fill_for=40), store, rows, watermark)
        wanted = oracle.step(rows, watermark)
        assert {at: r for at, r in found.items() if at[0] == "short"} == wanted
        since = step.complete_from.get("long", 0)
        assert all(at[2] >= since for at in found if at[0] == "long")


def test_filling_may_be_left_out_and_asked_for_again() -> None:
    windows, store = [Window(10, 10, id="w")], MemoryStore()
    stepped(spec_of(windows, fill_for=50), store, [(5, "a", 1, 1)], 0)
    found, _ = stepped(spec_of(windows, fill_for=50), store, [], 20)
    assert found["w", "a", 10] == EMPTY
    found, _ = stepped(spec_of(windows), store, [(25, "b", 1, 2)], 30)
    assert set(found) == {("w", "b", 20)}
    found, _ = stepped(spec_of(windows, fill_for=50), store, [(45, "b", 1, 3)], 40)
    assert found == {}, "who was known is not known any more"
    found, _ = stepped(spec_of(windows, fill_for=50), store, [], 60)
    assert found == {("w", "b", 40): (1, 1, "1", 1, 3), ("w", "b", 50): EMPTY}


def test_silent_keys_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every key is silent after one row: the state stays bounded, and every row is exact."""
    monkeypatch.setattr("muntin.state.keys.SMALL", 20)
    windows = [Window(10, 10, id="w"), Window(20, 10, id="v")]
    spec, store, oracle = spec_of(windows, fill_for=30), MemoryStore(), BruteForce(windows)
    oracle.fill_for, sizes = 30, []
    for i in range(80):
        rows: list[Row] = [(10 * i + j, f"key {i} {j}", j, 10 * i + j) for j in range(6)]
        found, _ = stepped(spec, store, rows, 10 * i)
        assert found == oracle.step(rows, 10 * i)
        sizes.append(sum(map(len, store.values())))
        for at in [at for at in oracle.held if at[2] < 10 * i - 100]:
            del oracle.held[at]  # it would look at keys that are long gone
    assert max(sizes[50:]) <= max(sizes[20:50]) * 1.1


def test_a_stream_that_begins_today_fills_nothing_since_1970() -> None:
    """The first watermark comes from 0: a jump of decades costs no more than what is emitted."""
    now = 1_700_000_000_000_000
    spec, store = spec_of([Window(60, 20, id="w")], fill_for=100), MemoryStore()
    stepped(spec, store, [(now, "a", 1, 1), (now + 500, "b", 1, 2)], 0)
    found, _ = stepped(spec, store, [], now + 1000)
    assert {at[1] for at, result in found.items() if result == EMPTY} == {"a", "b"}
    assert [list(found.values()).count(EMPTY), len(found)] == [10, 16]

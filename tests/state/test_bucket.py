"""A bucket against the protocol by brute force: late rows, silent keys, restarts, other windows."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.errors import StateError
from muntin.model.windows import Window
from muntin.state.store import MemoryStore
from muntin_testing.buckets import STRATEGIES, BruteForce, Row, spec_of, stepped
from muntin_testing.reached import Reached
from muntin_testing.windows import window_sets

KEYS = st.sampled_from(["a", "b", "c", None])
VALUES = st.none() | st.integers(-9, 9)
NUMBERS = st.integers(1, 3)


@st.composite
def batches(draw: st.DrawFn) -> list[tuple[list[Row], int]]:
    """Rows around a clock that goes on, some of them late, and a watermark behind it."""
    found, clock, watermark, number = [], 0, 0, 0
    for _ in range(draw(st.integers(1, 7))):
        clock += draw(st.integers(0, 40))
        times = draw(st.lists(st.integers(max(clock - 60, -5), clock + 20), max_size=12))
        rows = []
        for time in times:
            rows.append((time, draw(KEYS), draw(VALUES), number := number + draw(NUMBERS)))
        watermark = max(watermark, clock - draw(st.integers(0, 30)))
        found.append((rows, watermark))
    return [*found, ([], watermark + 100)]


def test_every_step_emits_what_the_protocol_says() -> None:
    reached = Reached()

    @given(
        window_sets(most=4), batches(), st.sampled_from(STRATEGIES), st.booleans(), st.booleans()
    )
    def each(
        windows: list[Window], script: Any, strategy: str, update: bool, late_now: bool
    ) -> None:
        spec = spec_of(windows, strategy, update=update, late_now=late_now)
        store, oracle = MemoryStore(), BruteForce(windows, update, late_now)
        for rows, watermark in script:
            found, step = stepped(spec, store, rows, watermark)
            assert found == oracle.step(rows, watermark)
            reached["appended" if not update else "updated"] += bool(found)
            reached["emitted without a new row"] += bool(found) and not rows
            reached["late"] += bool(step.late)
            reached["dropped"] += bool(step.dropped)
        reached["several bases"] += len(spec.bases) > 1
        reached["windows together"] += any(len(base.windows) > 1 for base in spec.bases)

    each()
    reached.at_least(10, "appended", "updated", "emitted without a new row", "late", "dropped")
    reached.at_least(8, "several bases", "windows together")


def test_windows_may_change_between_steps() -> None:
    """Kept windows go on exactly; new ones emit just what they would have had all along.

    A plan that puts windows together which the state holds apart may be refused.
    """
    reached = Reached()

    @given(window_sets(least=2, most=5), batches(), st.booleans(), st.booleans(), st.data())
    def each(every: list[Window], script: Any, update: bool, late_now: bool, data: Any) -> None:
        some = st.lists(st.sampled_from(every), min_size=1, max_size=3, unique=True)
        sets = data.draw(st.lists(some, min_size=2, max_size=3))
        store, oracle = MemoryStore(), BruteForce(every, update, late_now)
        slicing = st.sampled_from(STRATEGIES)
        always = set(sets[0])
        for i, (rows, watermark) in enumerate(script):
            windows = sets[min(i * len(sets) // len(script), len(sets) - 1)]
            spec = spec_of(windows, data.draw(slicing), update=update, late_now=late_now)
            try:
                found, step = stepped(spec, store, rows, watermark)
            except StateError:
                assert len(windows) > 1
                reached["refused"] += 1
                return
            since = step.complete_from
            always &= set(windows)
            assert not set(since) & {w.id for w in always}
            wanted = {
                at: result
                for at, result in oracle.step(rows, watermark).items()
                if at[0] in {w.id for w in windows} and at[2] >= since.get(at[0], at[2])
            }
            assert found == wanted
            late = i * len(sets) >= len(script)
            reached["rows of a kept window"] += late and any(
                at[0] in {w.id for w in always} for at in found
            )
            reached["rows of a new window"] += late and any(at[0] in since for at in found)

    each()
    reached.at_least(10, "rows of a kept window", "rows of a new window")


def test_a_late_row_counts_in_the_windows_that_are_open() -> None:
    windows = [Window(10, 10, id="short"), Window(30, 10, id="long")]
    spec, store = spec_of(windows), MemoryStore()
    stepped(spec, store, [(5, "a", 1, 1)], 0)
    found, _ = stepped(spec, store, [(25, "a", 1, 2)], 20)
    assert found == {
        ("short", "a", 0): (1, 1, "1", 1, 1),
        ("long", "a", -20): (1, 1, "1", 1, 1),
        ("long", "a", -10): (1, 1, "1", 1, 1),
    }
    _, step = stepped(spec, store, [(5, "b", 7, 3), (-15, "b", 1, 4)], 20)
    assert (step.late, step.dropped) == (1, 1)
    found, _ = stepped(spec, store, [], 30)
    assert found["long", "b", 0] == (7, 1, "7", 7, 3)
    assert ("short", "b", 0) not in found


def test_state_reaches_a_plateau(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices leave with their last window, and keys with their last slice."""
    monkeypatch.setattr("muntin.state.keys.SMALL", 100)
    spec, store = spec_of([Window(60, 10), Window(35, 5)]), MemoryStore()
    sizes = []
    for i in range(300):
        rows = [(10 * i + j, f"key {10 * i + j}", j, j) for j in range(10)]
        stepped(spec, store, rows, 10 * i)
        sizes.append((len(store), sum(map(len, store.values()))))
    early, later = sizes[150:220], sizes[230:]
    assert max(entries for entries, _ in later) <= max(entries for entries, _ in early)
    assert max(size for _, size in later) <= max(size for _, size in early) * 1.01


def test_a_step_with_nothing_new_writes_nothing() -> None:
    spec, store = spec_of([Window(10, 10)]), MemoryStore()
    stepped(spec, store, [(5, "a", 1, 1)], 3)
    before = dict(store)
    stepped(spec, store, [], 3)
    assert store == before


def test_instants_of_today_do_not_overflow() -> None:
    now = 1_700_000_000_000_000
    spec, store = spec_of([Window(60, 10), Window(25, 5)], update=True), MemoryStore()
    for key in ("a", "b"):
        found, _ = stepped(spec, store, [(now, key, 1, 1)], now - 1000)
        assert {at[1] for at in found} == {key}
        assert len(found) == 11


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_silent_keys_are_emitted_when_the_watermark_passes(strategy: str) -> None:
    spec, store = spec_of([Window(20, 5), Window(10, 10)], strategy), MemoryStore()
    stepped(spec, store, [(3, "silent", 4, 1)], 0)
    found, _ = stepped(spec, store, [(50, "loud", 1, 2)], 40)
    assert {at[2] for at in found if at[1] == "silent"} == {-15, -10, -5, 0}

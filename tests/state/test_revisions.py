"""Allowed lateness: fired windows come again, corrected, numbered, until they are settled."""

from collections import defaultdict
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.errors import StateError
from muntin.model.windows import Window
from muntin.physical.due_techniques import TECHNIQUES
from muntin.state.bucket import Bucket
from muntin.state.store import MemoryStore
from muntin_testing.buckets import (
    STRATEGIES,
    BruteForce,
    Row,
    late_script,
    lifted,
    pieces,
    spec_of,
    stepped,
)
from muntin_testing.reached import Reached
from muntin_testing.windows import window_sets

pytestmark = pytest.mark.slow


def test_revisions_are_those_of_brute_force_and_the_last_is_the_batch() -> None:
    """Every step, and at its end: all rows that were not too late, without gaps in revisions."""
    reached = Reached()

    @given(
        window_sets(most=4),
        st.integers(0, 10**6),
        st.sampled_from(STRATEGIES),
        st.sampled_from([60, 1000, 15, 1]),
        st.booleans(),
    )
    def each(windows: list[Window], seed: int, strategy: str, late: int, update: bool) -> None:
        spec = spec_of(windows, strategy, update=update, lateness=late)
        store, oracle = MemoryStore(), BruteForce(windows, update, lateness=late)
        came: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
        for rows, watermark in late_script(seed, 120):
            found, step = stepped(spec, store, rows, watermark)
            assert found == oracle.step(rows, watermark)
            reached["dropped"] += bool(step.dropped)
            reached["updated"] += update and bool(found)
            for at, result in found.items():
                came[at].append(result)
        reached["several bases"] += len(spec.bases) > 1
        if update:
            return
        assert {at: results[-1][:-1] for at, results in came.items()} == {
            at: lifted(rows) for at, rows in oracle.held.items()
        }
        for results in came.values():
            assert [result[-1] for result in results] == list(range(len(results)))
            reached["came again"] += len(results) > 1
            reached["came a third time"] += len(results) > 2

    each()
    reached.at_least(10, "dropped", "updated", "came again", "came a third time")
    reached.at_least(4, "several bases")


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_techniques_repair_what_late_rows_touch(technique: str) -> None:
    """Long windows by each technique, with what a worker remembers, and without."""
    reached = Reached()
    for seed in range(3):
        random = Random(f"{technique} {seed}")
        windows = [Window(160, random.choice((1, 5))), Window(64, 4)][: seed % 2 + 1]
        spec = spec_of(windows, technique=technique, lateness=random.choice((30, 90)))
        oracle = BruteForce(windows, lateness=spec.lateness)
        store, cache = MemoryStore(), dict[str, pa.Table]()
        for rows, watermark in late_script(f"{technique} {seed}", 400):
            if random.random() < 0.1:
                cache.clear()
            found, _ = stepped(spec, store, rows, watermark, cache=cache)
            assert found == oracle.step(rows, watermark)
            reached["again"] += any(result[-1] for result in found.values())
            reached["due"] += any(not result[-1] for result in found.values())
    reached.at_least(10, "again", "due")


def test_windows_change_while_late_rows_are_allowed() -> None:
    """Kept windows are corrected as before; a new one never emits what ended before it joined."""
    reached = Reached()

    @given(window_sets(least=2, most=4), st.integers(0, 10**6), st.data())
    def each(every: list[Window], seed: int, data: Any) -> None:
        some = st.lists(st.sampled_from(every), min_size=1, max_size=3, unique=True)
        sets = data.draw(st.lists(some, min_size=2, max_size=3))
        store, oracle = MemoryStore(), BruteForce(every, lateness=50)
        steps, always = late_script(seed, 90), set(sets[0])
        for i, (rows, watermark) in enumerate(steps):
            windows = sets[min(i * len(sets) // len(steps), len(sets) - 1)]
            spec = spec_of(windows, data.draw(st.sampled_from(STRATEGIES)), lateness=50)
            try:
                found, step = stepped(spec, store, rows, watermark)
            except StateError:
                return
            always &= set(windows)
            whole = {w.id for w in always}
            wanted = oracle.step(rows, watermark)
            assert {at: found[at] for at in found if at[0] in whole} == {
                at: wanted[at] for at in wanted if at[0] in whole
            }
            since, ids = step.complete_from, {w.id for w in windows} - whole
            assert {at: found[at][:-1] for at in found if at[0] in ids} == {
                at: wanted[at][:-1]
                for at in wanted
                if at[0] in ids and at[2] >= since.get(at[0], at[2])
            }
            reached["kept, again"] += i * len(sets) >= len(steps) and any(
                found[at][-1] for at in found if at[0] in whole
            )
            reached["new"] += bool(ids & {at[0] for at in found})

    each()
    reached.at_least(5, "kept, again", "new")


def test_a_window_whose_first_row_is_late_begins_with_revision_0() -> None:
    spec, store = spec_of([Window(10, 10, id="w")], lateness=20), MemoryStore()
    stepped(spec, store, [(35, "a", 1, 1)], 0)
    stepped(spec, store, [], 30)
    found, _ = stepped(spec, store, [(15, "b", 2, 2), (35, "b", 3, 3)], 30)
    assert found == {("w", "b", 10): (2, 1, "2", 2, 2, 0)}
    found, _ = stepped(spec, store, [(16, "b", 4, 4)], 30)
    assert found == {("w", "b", 10): (6, 2, "4", 2, 2, 1)}
    found, step = stepped(spec, store, [(9, "b", 4, 5), (10, "b", 1, 6)], 39)
    assert found["w", "b", 10] == (7, 3, "4", 2, 2, 2)
    assert step.dropped == 1, "the window of 9 was settled at 30"
    assert "revised" in store
    stepped(spec, store, [], 40)
    assert "revised" not in store, "what is settled is not counted any more"
    found, step = stepped(spec, store, [(15, "b", 9, 7)], 40)
    assert (found, step.dropped) == ({}, 1)


def test_lateness_may_change_at_a_restart() -> None:
    """What was settled stays so: slices that have left cannot be corrected."""
    windows, store = [Window(10, 10, id="w")], MemoryStore()
    stepped(spec_of(windows), store, [(5, "a", 1, 1), (25, "a", 1, 2)], 0)
    stepped(spec_of(windows), store, [], 30)
    found, step = stepped(spec_of(windows, lateness=100), store, [(6, "a", 1, 3)], 30)
    assert (found, step.dropped) == ({}, 1)
    stepped(spec_of(windows, lateness=100), store, [(35, "a", 1, 4)], 40)
    found, _ = stepped(spec_of(windows, lateness=100), store, [(36, "a", 1, 5)], 40)
    assert found["w", "a", 30][-1] == 1
    found, step = stepped(spec_of(windows, lateness=5), store, [(31, "a", 1, 6)], 50)
    assert (found["w", "a", 30][-1], step.dropped) == (2, 0), "40 + 5 is after 40"
    found, step = stepped(spec_of(windows, lateness=5), store, [(31, "a", 1, 7)], 50)
    assert (found, step.dropped) == ({}, 1)


def test_keys_that_left_are_renumbered_in_the_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin.state.keys.SMALL", 10)
    windows = [Window(10, 10, id="w")]
    spec, store, oracle = spec_of(windows, lateness=30), MemoryStore(), BruteForce(windows)
    oracle.lateness = 30
    random, number = Random(7), 0
    again, sizes = 0, []
    for i in range(60):
        rows: list[Row] = []
        for _ in range(10):
            number += 1
            time = max(10 * i - random.choice((0, 0, 12, 25, 60)), 0)
            rows.append((time, f"{i % 20} {random.randrange(8)}" if time % 3 else "a", 1, number))
        found, _ = stepped(spec, store, rows, 10 * i)
        assert found == oracle.step(rows, 10 * i)
        again += sum(result[-1] > 0 for result in found.values())
        sizes.append(sum(map(len, store.values())))
    assert again > 10
    assert max(sizes[40:]) <= max(sizes[15:40]) * 1.1, "the state is bounded"


def test_a_count_goes_with_its_key_when_others_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin.state.keys.SMALL", 2)
    spec, store = spec_of([Window(10, 10, id="w")], lateness=30), MemoryStore()
    others: list[Row] = [(15, f"other {i}", 1, i) for i in range(10)]
    stepped(spec, store, [*others, (35, "last", 1, 10)], 0)
    stepped(spec, store, [], 40)
    found, _ = stepped(spec, store, [(36, "last", 1, 11)], 40)
    assert found["w", "last", 30][-1] == 1
    found, _ = stepped(spec, store, [(37, "last", 1, 12)], 50)
    assert found == {("w", "last", 30): (3, 3, "1", 1, 10, 2)}
    # All others have left by then, and the last key has become the first.
    found, _ = stepped(spec, store, [(38, "last", 1, 13)], 50)
    assert found == {("w", "last", 30): (4, 4, "1", 1, 10, 3)}


def test_windows_that_are_put_together_are_corrected_from_slices_that_are_there() -> None:
    """The slices of the short window are gone sooner than the long one needs them."""
    windows = [Window(10, 10, id="short"), Window(30, 10, id="long")]
    store, oracle = MemoryStore(), BruteForce(windows, lateness=30)
    steps: list[tuple[list[Row], int]] = [
        ([(5 + 10 * i, "a", i, i) for i in range(12)], 0),
        ([], 100),
        ([(75, "a", 50, 20), (95, "a", 60, 21)], 100),
    ]
    for i, (rows, watermark) in enumerate(steps):
        spec = spec_of(windows, "shared-pairs" if i == 2 else "unshared-pairs", lateness=30)
        assert len(spec.bases) == (1 if i == 2 else 2)
        found, _ = stepped(spec, store, rows, watermark)
        assert found == oracle.step(rows, watermark)
    assert found["long", "a", 50] == (5 + 6 + 7 + 50, 4, "7", 5, 5, 1)


def test_a_stream_from_history_is_corrected_too() -> None:
    """What the table holds counts in windows that end after it, and in their revisions."""
    windows, reached = [Window(10, 10, id="short"), Window(40, 10, id="long")], Reached()
    for seed in range(6):
        oracle, store = BruteForce(windows, lateness=100, last=60), MemoryStore()
        steps = late_script(f"history {seed}", 250)
        every = [row for rows, _ in steps for row in rows]
        before = [row for row in every if row[0] < 60]
        for row in before:
            for window in windows:
                for start in (s for s in window.instances_of(row[0]) if s + window.range > 60):
                    oracle.held.setdefault((window.id, row[1], start), []).append(row)
        spec = spec_of(windows, lateness=100, until=60)
        Bucket(spec, 0, store).begin([pieces(before, base) for base in spec.bases])
        for rows, watermark in steps:
            new = [row for row in rows if row[0] >= 60]
            found, _ = stepped(spec, store, new, watermark)
            assert found == oracle.step(new, watermark)
            reached["again"] += any(result[-1] for result in found.values())
            reached["with history"] += any(
                at[2] < 60 and result[-1] for at, result in found.items()
            )
    reached.at_least(10, "again")
    reached.at_least(4, "with history")

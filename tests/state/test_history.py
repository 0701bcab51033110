"""A bucket that begins with history: its rows are those of one stream over both sides."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.errors import StateError
from muntin.model.windows import Window
from muntin.state.bucket import Bucket
from muntin.state.spec import Spec
from muntin.state.store import MemoryStore
from muntin_testing.buckets import BruteForce, Found, Row, pieces, spec_of, stepped
from muntin_testing.reached import Reached
from muntin_testing.windows import window_sets

STRATEGIES = ["shared-pairs", "unshared-pairs", "wcg", "direct"]
KEYS = ["a", "b", None]
"""Those of both sides; the history has one more."""


@st.composite
def both_sides(draw: st.DrawFn) -> tuple[list[Row], int, list[tuple[list[Row], int]]]:
    """Rows before an instant, the instant, and batches after it with their watermarks."""
    until = draw(st.integers(1, 120))

    def rows(low: int, high: int, keys: st.SearchStrategy[Any], first: int) -> list[Row]:
        times = draw(st.lists(st.integers(low, high), max_size=15))
        return [(t, draw(keys), draw(st.integers(-9, 9)), first + i) for i, t in enumerate(times)]

    past = rows(until - 40, until - 1, st.sampled_from([*KEYS, "silent"]), 0)
    batches, watermark = [], 0
    for i in range(draw(st.integers(1, 4))):
        batches.append(
            (rows(until, until + 25 * (i + 1), st.sampled_from(KEYS), 100 * (i + 1)), watermark)
        )
        watermark = draw(st.integers(watermark, until + 25 * (i + 1)))
    return past, until, [*batches, ([], watermark), ([], until + 300)]


def begin(spec: Spec, store: MemoryStore, rows: list[Row], calls: int) -> None:
    """The history in several calls, as Spark makes them where it is large."""
    for part in range(calls):
        own = rows[part::calls]
        Bucket(spec, 0, store).begin([pieces(own, base) for base in spec.bases if own])


def after(found: Found, windows: list[Window], until: int) -> Found:
    """The results of windows that end after an instant."""
    ranges = {w.id: w.range for w in windows}
    return {at: values for at, values in found.items() if at[2] + ranges[at[0]] > until}


def test_rows_are_those_of_one_stream_over_both_sides() -> None:
    reached = Reached()

    @given(
        window_sets(most=4), both_sides(), st.sampled_from(STRATEGIES), st.booleans(), st.booleans()
    )
    def each(
        windows: list[Window], sides: Any, strategy: str, update: bool, late_now: bool
    ) -> None:
        past, until, batches = sides
        spec = spec_of(windows, strategy, update=update, late_now=late_now, until=until)
        store, oracle = MemoryStore(), BruteForce(windows, update, late_now)
        begin(spec, store, past, calls=1 + until % 3)
        told = after(oracle.step(past, 0), windows, until)
        for rows, watermark in batches:
            found, step = stepped(spec, store, rows, watermark)
            told |= after(oracle.step(rows, watermark), windows, until)
            assert found == told
            reached["late"] += bool(step.late)
            reached["of the history alone"] += any(at[1] == "silent" for at in found)
            reached["across"] += any(values[1] > 1 and values[4] < 100 for values in found.values())
            told = {}
        reached["updated"] += update and bool(past)
        reached["no history"] += not past
        reached["cut by until"] += any((until - w.offset) % w.slide != 0 for w in windows)

    each()
    reached.at_least(
        5, "late", "of the history alone", "across", "updated", "no history", "cut by until"
    )


def test_a_state_that_began_elsewhere_is_refused() -> None:
    windows = [Window(10, 5)]
    rows: list[Row] = [(3, "a", 1, 1)]
    store = MemoryStore()
    begin(spec_of(windows, until=7), store, rows, 1)
    with pytest.raises(StateError, match=r"started from history until 1970.*, and the query says"):
        stepped(spec_of(windows, until=8), store, [], 0)
    with pytest.raises(StateError, match="rows of the stream before that would count twice"):
        stepped(spec_of(windows), store, [], 0)
    plain = MemoryStore()
    stepped(spec_of(windows), plain, rows, 0)
    with pytest.raises(StateError, match="was begun without history"):
        stepped(spec_of(windows, until=7), plain, [], 0)
    with pytest.raises(StateError, match=r"holds no history until .*\(None, ...\) brings none"):
        stepped(spec_of(windows, until=7), MemoryStore(), [], 0)


def test_slices_that_no_open_window_needs_are_not_kept() -> None:
    windows = [Window(10, 5)]
    spec, store = spec_of(windows, until=100), MemoryStore()
    begin(spec, store, [(5, "old", 1, 1), (98, "new", 1, 2)], 1)
    keys = Bucket(spec, 0, store).state.keys().table.column("k0").to_pylist()
    assert keys == ["new"]


def test_windows_may_change_later() -> None:
    """A window that joins at a restart is complete from what the history keeps."""
    first, joined = Window(40, 10), Window(20, 10)
    store = MemoryStore()
    begin(spec_of([first], until=100), store, [(t, "a", 1, t) for t in range(60, 100)], 2)
    stepped(spec_of([first], until=100), store, [(105, "a", 1, 105)], 0)
    found, _ = stepped(spec_of([first, joined], until=100), store, [], 125)
    counts = {(id, start): values[1] for (id, _, start), values in found.items()}
    assert counts == {
        (first.id, 70): 31,
        (first.id, 80): 21,
        (joined.id, 90): 11,
        (joined.id, 100): 1,
    }

"""A bucket that begins with history: its rows are those of one stream over both sides."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.errors import StateError
from muntin.model.windows import Window
from muntin.state.bucket import Bucket
from muntin.state.spec import Spec
from muntin.state.store import MemoryStore
from muntin_testing.buckets import EMPTY, BruteForce, Found, Row, pieces, spec_of, stepped
from muntin_testing.reached import Reached, drawn
from muntin_testing.windows import window_sets

STRATEGIES = ["shared-pairs", "unshared-pairs", "wcg", "direct"]
RULES: dict[str, dict[str, Any]] = {
    "append": {},
    "lateness": {"lateness": 40},
    "fill": {"fill_for": 45},
    "update": {"update": True},
    "update, lateness": {"update": True, "lateness": 15},
    "late now": {"late_now": True},
    "update, late now": {"update": True, "late_now": True},
    "fill, late now": {"fill_for": 100, "late_now": True},
}
"""By which a stream may run."""
KEYS = ["a", "b", None]
"""Those of both sides; the history has one more."""


def both_sides(seed: object) -> tuple[list[Row], int, list[tuple[list[Row], int]]]:
    """Rows before an instant, the instant, and batches after it with their watermarks.

    The history is empty now and then, or ends long before; its key "silent" is not in the stream.
    """
    random = Random(f"{seed}")
    until, number = random.randrange(1, 160), 0

    def rows(low: int, high: int, most: int, *keys: str | None) -> list[Row]:
        nonlocal number
        found: list[Row] = []
        for _ in range(random.randrange(most)):
            number += 1
            key, value = random.choice(keys), random.choice([None, *range(-9, 9)])
            found.append((random.randint(low, high), key, value, number))
        return found

    reach, silent = random.choice([(40, 0), (40, 0), (130, 0), (130, 30)])
    past = rows(until - reach, until - 1 - silent, random.choice([1, 20, 40]), *KEYS, "silent")
    number, watermark, batches = 100, 0, []
    for i in range(random.randrange(1, 6)):
        new = rows(until, until + 9, 6, *KEYS) + rows(until, until + 25 * (i + 1), 9, *KEYS)
        batches.append((new, watermark))
        watermark = random.randint(max(watermark, until), until + 25 * (i + 1))
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
    """Also where late rows correct windows, and where keys that are known get empty ones."""
    reached = Reached()

    @drawn(25)
    @given(window_sets(most=4), st.integers(0, 10**6), st.sampled_from(STRATEGIES))
    def each(windows: list[Window], seed: int, strategy: str) -> None:
        past, until, batches = both_sides((seed, windows))
        for name, rules in RULES.items():
            if "fill_for" in rules:
                past = [row for row in past if row[0] >= 0]  # a stream knows nothing before 1970
            spec = spec_of(windows, strategy, **rules, until=until)
            store, oracle = MemoryStore(), BruteForce(windows, **rules)
            begin(spec, store, past, calls=1 + until % 3)
            told = after(oracle.step(past, 0), windows, until)
            for rows, watermark in batches:
                found, step = stepped(spec, store, rows, watermark)
                told |= after(oracle.step(rows, watermark), windows, until)
                assert found == told, name
                _census(reached, name, found, step)
                told = {}
        reached["no history"] += not past
        reached["cut by until"] += any((until - w.offset) % w.slide != 0 for w in windows)

    each()
    reached.at_least(5, "late", "of the history alone", "across", "cut by until")
    reached.at_least(2, "no history")
    reached.at_least(5, "revised with history", "filled", "filled for the history alone")


def _census(reached: Reached, name: str, found: Found, step: Any) -> None:
    rows = {at: values for at, values in found.items() if values != EMPTY}
    reached["late"] += bool(step.late)
    reached["of the history alone"] += any(at[1] == "silent" for at in rows)
    across = [values for values in rows.values() if values[1] > 1 and values[4] < 100]
    reached["across"] += bool(across)
    reached["revised with history"] += name == "lateness" and any(v[-1] for v in across)
    reached["filled"] += len(rows) < len(found)
    reached["filled for the history alone"] += any(
        at[1] == "silent" and at not in rows for at in found
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


def test_a_window_that_joins_later_begins_alike_in_all_buckets() -> None:
    """Also in one whose history ends earlier, or has no rows."""
    first, joined = Window(40, 10), Window(30, 30, 5, id="joined")  # where slices have no cuts
    since = []
    for end in (100, 75, 60):
        rows: list[Row] = [(t, "a", 1, t) for t in range(60, end)]
        store = MemoryStore()
        begin(spec_of([first], until=100), store, rows, 1)
        _, step = stepped(spec_of([first, joined], until=100), store, [], 0)
        since.append(step.complete_from["joined"])
    assert since[0] == since[1] == since[2] > 0


def test_known_keys_stay_though_no_slice_of_them_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin.state.keys.SMALL", 2)
    spec = spec_of([Window(10, 10, id="w")], until=25, fill_for=30)
    store, keys = MemoryStore(), [f"key {i}" for i in range(9)]
    begin(spec, store, [(12, key, 1, i) for i, key in enumerate(keys)], 2)
    found, _ = stepped(spec, store, [], 60)
    assert found == {("w", key, start): EMPTY for key in keys for start in (20, 30, 40)}

"""Stairs: aggregates, distinct items and joins equal recomputation, whatever comes and goes."""

from collections import Counter
from itertools import pairwise
from math import inf
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muntin as mt
from muntin.errors import AggregateError, QueryError
from muntin.model.windows import Window
from muntin.nesting import NestedAggregate, NestedDistinct, NestedJoin
from muntin.nesting.operator import Nested
from muntin_testing.monoids import Concat
from muntin_testing.reached import Reached
from muntin_testing.windows import starts, window_sets

END = 90
streams = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abcde")), max_size=50)
pools = window_sets(least=1, most=7, longest=24)


def timed(steps: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Gaps between records as times that do not decrease."""
    time, records = 0, []
    for gap, value in steps:
        time += gap
        records.append((time, value))
    return records


Lives = dict[str, tuple[Window, float, float]]
"""A window, from when on its instances begin, and until when they end."""


def instances(lives: Lives) -> list[tuple[str, int, int]]:
    """Every instance that must be answered."""
    return [
        (id, start, start + window.range)
        for id, (window, since, until) in lives.items()
        for start in starts(window, -24, END)
        if since <= start and start + window.range <= until
    ]


def all_along(windows: list[Window]) -> Lives:
    return {w.id: (w, -inf, float(END)) for w in windows}


def within(records: list[tuple[int, Any]], start: int, end: int) -> list[Any]:
    return [value for time, value in records if start <= time < end]


# Fixed windows --------------------------------------------------------------------------


@given(pools, streams, st.sampled_from(["greedy", "minimum"]))
def test_aggregates_equal_recomputation(
    windows: list[Window], steps: list[tuple[int, str]], grouping: str
) -> None:
    records = timed(steps)
    nested = NestedAggregate(Concat(), windows, grouping)
    found = [answer for record in records for answer in nested.insert(*record)]
    found += nested.advance(END)
    assert_aggregates(found, records, all_along(windows))


def assert_aggregates(found: list[Any], records: list[tuple[int, str]], lives: Lives) -> None:
    expected = {(id, s, e): "".join(within(records, s, e)) for id, s, e in instances(lives)}
    got = Counter((a.window_id, a.start, a.end, a.value) for a in found if a.end <= END)
    assert got == Counter((*key, value) for key, value in expected.items() if value)


@given(pools, streams)
def test_distinct_items_equal_recomputation(
    windows: list[Window], steps: list[tuple[int, str]]
) -> None:
    records = timed(steps)
    nested = NestedDistinct(windows)
    reports = [report for record in records for report in nested.insert(*record)]
    reports += nested.advance(END)
    assert_distinct(reports, records, all_along(windows))
    for report in reports:
        for seen in report.items:
            assert seen.last == max(t for t, v in records if v == seen.item and t < report.end)
            assert report.end <= seen.expires
            window = next(w for w in windows if w.id == seen.window_id)
            assert window.starts_at(report.end - window.range)
            holding = [
                w for w in windows if report.counts.get(w.id) and seen.item in report.of(w.id)
            ]
            assert window.range == min(w.range for w in holding)


def assert_distinct(reports: list[Any], records: list[tuple[int, str]], lives: Lives) -> None:
    ranges = {id: window.range for id, (window, _, _) in lives.items()}
    got = Counter(
        (id, r.end - ranges[id], r.end, tuple(sorted(r.of(id)))) for r in reports for id in r.counts
    )
    expected: Counter[Any] = Counter()
    for id, start, end in instances(lives):
        items = set(within(records, start, end))
        if items:
            expected[id, start, end, tuple(sorted(items))] += 1
    assert got == expected


two_streams = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["left", "right"]), st.sampled_from("ab")),
    max_size=30,
)


def test_joins_equal_recomputation() -> None:
    reached = Reached()

    @given(pools, two_streams)
    def each(windows: list[Window], steps: list[tuple[int, str, str]]) -> None:
        nested = NestedJoin(windows, on=lambda row: row[2])
        rows, time = [], 0
        pairs = []
        for number, (gap, side, key) in enumerate(steps):
            time += gap
            rows.append((time, side, (number, time, key)))
            pairs += nested.insert(side, time, rows[-1][2])
        assert_joined(pairs, rows, all_along(windows))
        held = [(p.left, p.right, w.window_id) for p in pairs for w in p.windows]
        assert len(held) == len(set(held)), "one probe finds a pair once"
        reached["pairs"] += bool(pairs)
        reached["pairs of several windows"] += any(len(p.windows) > 1 for p in pairs)

    each()
    reached.at_least(8, "pairs", "pairs of several windows")


def assert_joined(pairs: list[Any], rows: list[tuple[int, str, Any]], lives: Lives) -> None:
    windows = {id: window for id, (window, _, _) in lives.items()}
    got = Counter(
        (held.window_id, end, pair.left, pair.right)
        for pair in pairs
        for held in pair.windows
        for end in range(held.first, held.expires + 1, windows[held.window_id].slide)
        if end <= lives[held.window_id][2]
    )
    expected = Counter(
        (id, end, left, right)
        for id, start, end in instances(lives)
        for lt, ls, left in rows
        if ls == "left" and start <= lt < end
        for rt, rs, right in rows
        if rs == "right" and start <= rt < end and left[2] == right[2]
    )
    assert got == expected


# Windows that come and go ---------------------------------------------------------------


def played(nested: Nested[Any, Any], random: Random, feed: Any) -> tuple[Lives, list[Any]]:
    """Records mixed with registrations, suspensions and regroupings."""
    lives: Lives = {w.id: (w, -inf, float(END)) for w in nested.manager.windows}
    found: list[Any] = []
    time, number = 0, 0
    fired = seen = -inf
    while time < 60:
        match random.choice("rrrrrrrrrrsng"):
            case "r":
                time += random.choice([0, 0, 1, 1, 2, 5])
                found += feed(time, random)
                fired, seen = time, time + 1
            case "s" if len(nested.manager):
                window = random.choice(nested.manager.windows)
                nested.suspend(window)
                lives[window.id] = (window, lives[window.id][1], fired)
            case "n":
                slide = random.choice([1, 2, 3, 4, 6, 8])
                window = Window(
                    random.randint(slide, 20), slide, random.randrange(slide), f"new {number}"
                )
                number += 1
                nested.register(window)
                lives[window.id] = (window, seen, float(END))
            case "g":
                nested.regroup(random.choice(["greedy", "minimum"]))
    return lives, found


seeds = st.integers(0, 10**6)


@given(pools, seeds)
def test_aggregates_never_depend_on_history(windows: list[Window], seed: int) -> None:
    records: list[tuple[int, str]] = []
    nested = NestedAggregate(Concat(), windows)

    def feed(time: int, random: Random) -> list[Any]:
        records.append((time, random.choice("abc")))
        return nested.insert(*records[-1])

    lives, found = played(nested, Random(seed), feed)
    found += nested.advance(END)
    assert_aggregates(found, records, lives)


@given(pools, seeds)
def test_distinct_items_never_depend_on_history(windows: list[Window], seed: int) -> None:
    records: list[tuple[int, str]] = []
    nested = NestedDistinct(windows)

    def feed(time: int, random: Random) -> list[Any]:
        records.append((time, random.choice("abcdef")))
        return nested.insert(*records[-1])

    lives, found = played(nested, Random(seed), feed)
    found += nested.advance(END)
    assert_distinct(found, records, lives)


@given(pools, seeds)
@settings(max_examples=30)
def test_joins_never_depend_on_history(windows: list[Window], seed: int) -> None:
    rows: list[tuple[int, str, Any]] = []
    nested = NestedJoin(windows, on=lambda row: row[2])

    def feed(time: int, random: Random) -> list[Any]:
        row = (len(rows), time, random.choice("ab"))
        rows.append((time, random.choice(["left", "right"]), row))
        return nested.insert(rows[-1][1], time, row)

    lives, found = played(nested, Random(seed), feed)
    assert_joined(found, rows, lives)


def test_regrouping_gives_the_old_stairs_up_in_the_end() -> None:
    nested = NestedAggregate(mt.count(), [Window(20, 4), Window(10, 2)])
    for time in range(30):
        nested.insert(time, 1)
    before = len(nested)
    nested.regroup("minimum")
    nested.insert(30, 1)
    assert len(nested) > before
    for time in range(31, 60):
        nested.insert(time, 1)
    assert len(nested) <= before + 1


# What is held ---------------------------------------------------------------------------


@given(pools, streams)
def test_each_record_of_the_widest_window_is_held_once(
    windows: list[Window], steps: list[tuple[int, str]]
) -> None:
    nested = NestedJoin(windows)
    records = timed(steps)
    for time, value in records:
        nested.insert("left", time, value)
    if not records:
        return
    now = records[-1][0]
    held = 0
    for group in nested.manager.groups:
        widest = group.widest
        fired = now - (now - widest.offset - widest.range) % widest.slide
        # Nothing leaves before the widest window has fired for the first time after a record.
        held += sum(1 for time, _ in records if time >= fired - widest.range)
    assert len(nested) == held


def test_granules_grow_coarser_on_higher_stairs() -> None:
    windows = [Window(4, 1), Window(24, 4), Window(120, 12)]
    nested = NestedAggregate(mt.sum("v"), windows)
    for time in range(240):
        nested.insert(time, 1)
    [run] = nested._runs.values()
    assert [len(step) - len(step.buffer) for step in run.stairs.steps] == [4, 5, 8]
    assert len(nested) < 24 + nested.buffered


def test_equal_slides_need_no_buffers() -> None:
    nested = NestedDistinct([Window(4, 2), Window(8, 2), Window(20, 2)])
    for time in range(60):
        nested.insert(time, time)
        assert nested.buffered == 0


def test_phantoms_are_removed_when_they_are_met() -> None:
    nested = NestedDistinct([Window(2, 1, id="two"), Window(9, 3, id="nine")])
    for time, item in [(0, 3), (1, 1), (2, 2), (5, 3)]:
        nested.insert(time, item)
    assert len(nested) == 4  # the 3 of instant 0 is on the upper stair, its successor below
    [report] = nested.advance(6)
    assert report.of("nine") == [3, 2, 1]
    assert len(nested) == 3


def test_nothing_is_lost_to_cancellation() -> None:
    nested = NestedAggregate(mt.sum("v"), [Window(2, 1, id="two"), Window(6, 2, id="six")])
    values = [1e16, 1.0, 1.0, 1.0, inf, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    answers = [a for time, value in enumerate(values) for a in nested.insert(time, value)]
    late = [a for a in answers if a.start >= 5]
    assert late
    assert all(a.value == a.end - a.start for a in late)


def test_wrong_use_is_said() -> None:
    nested = NestedAggregate(mt.sum("v"), [Window(4, 2)])
    nested.insert(5, 1)
    with pytest.raises(QueryError, match="time runs backwards: 4 after 5"):
        nested.insert(4, 1)
    with pytest.raises(AggregateError, match="is not an aggregate"):
        NestedAggregate(42, [Window(4, 2)])  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="side 'up' must be 'left' or 'right'"):
        NestedJoin([Window(4, 2)]).insert("up", 1, "a")


def test_long_silence_costs_nothing() -> None:
    nested = NestedAggregate(mt.count(), [Window(1_000, 1, id="w")])
    nested.insert(0, 1)
    answers = nested.insert(10**15, 1)
    assert len(answers) == 1_000
    assert all(b.end - a.end == 1 for a, b in pairwise(answers))

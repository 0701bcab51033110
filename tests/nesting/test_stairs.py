"""Stairs: aggregates, distinct items and joins equal recomputation, whatever comes and goes."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
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
from muntin.nesting.aggregation import AggregateStair
from muntin.nesting.operator import Nested
from muntin.nesting.stairs import Stairs
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


class Lives(dict[str, tuple[Window, float, float]]):
    """Windows by id, from when on their instances begin at least, and until when they end.

    Of a window that came later, `fired` has the ends before it, and `held` begins of instances
    that its group was sure to hold, though it was not there.
    """

    def __init__(self, windows: Iterable[Window]) -> None:
        super().__init__({w.id: (w, -inf, float(END)) for w in windows})
        self.fired: dict[str, float] = {}
        self.held: dict[str, set[int]] = {}
        self.reached = Reached()


def instances(lives: Lives) -> list[tuple[str, int, int]]:
    """Every instance that must be answered."""
    return [
        (id, start, start + window.range)
        for id, (window, since, until) in lives.items()
        for start in starts(window, -24, END)
        if since <= start or start in lives.held.get(id, ())
        if start + window.range <= until
    ]


def all_along(windows: list[Window]) -> Lives:
    return Lives(windows)


def within(records: list[tuple[int, Any]], start: int, end: int) -> list[Any]:
    return [value for time, value in records if start <= time < end]


def test_figure_4_cores_and_buffers_of_three_stairs() -> None:
    """W0 slides by 2, W1 by 4, W2 by 8: what has left a stair waits until the next one fires."""
    sizes = ((4, 2), (8, 4), (16, 8))
    stairs = Stairs([Window(*size) for size in sizes], lambda w: AggregateStair(w, Concat()), -inf)
    letters = "".join(chr(ord("a") + time) for time in range(26))

    def held(items: Iterable[tuple[int, int, Any]]) -> str:
        return "".join(partial for _, _, partial in items)

    seen = {}
    for time, letter in enumerate(letters):
        stairs.add((time, time, letter))
        stairs.climb(time + 1)
        seen[time + 1] = [(held(step.core), held(step.buffer)) for step in stairs.steps]
    assert seen[24] == [("uvwx", ""), ("qrst", ""), ("ijklmnop", "")]  # all three fire
    assert seen[25] == [("uvwx", "y"), ("qrst", ""), ("ijklmnop", "")]
    assert seen[26] == [("wxyz", ""), ("qrst", "uv"), ("ijklmnop", "")]  # W0 alone
    answer = ""
    for (size, _), (core, _) in zip(sizes, seen[24], strict=True):
        answer = core + answer  # that of the narrower window, and the delta before it
        assert answer == letters[24 - size : 24]


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


Instance = tuple[str, int, int]
"""The id of a window, begin and end."""


def assert_answered(
    got: Mapping[Instance, Counter[Any]], expect: Callable[[int, int], Counter[Any]], lives: Lives
) -> None:
    """What must be answered is, and nothing that was answered besides lacks a record."""
    for instance, answers in got.items():
        id, start, end = instance
        window, since, until = lives[id]
        assert answers == expect(start, end), instance
        assert end <= until, "it was suspended"
        early = start < since
        assert not early or (end > lives.fired[id] and window.starts_at(start)), "it had ended"
        lives.reached["answered from what was held"] += early
    for instance in instances(lives):
        assert got.get(instance, Counter()) == expect(*instance[1:]), instance


def assert_aggregates(found: list[Any], records: list[tuple[int, str]], lives: Lives) -> None:
    got: dict[Instance, Counter[Any]] = {}
    for a in found:
        if a.end <= END:
            got.setdefault((a.window_id, a.start, a.end), Counter())[a.value] += 1

    def expect(start: int, end: int) -> Counter[Any]:
        value = "".join(within(records, start, end))
        return Counter([value] if value else [])

    assert_answered(got, expect, lives)


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
    got: dict[Instance, Counter[Any]] = {}
    for report in reports:
        for id in report.counts:
            instance = (id, report.end - lives[id][0].range, report.end)
            got.setdefault(instance, Counter())[tuple(sorted(report.of(id)))] += 1

    def expect(start: int, end: int) -> Counter[Any]:
        items = tuple(sorted(set(within(records, start, end))))
        return Counter([items] if items else [])

    assert_answered(got, expect, lives)


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
    got: dict[Instance, Counter[Any]] = {}
    for pair in pairs:
        for held in pair.windows:
            window, _, until = lives[held.window_id]
            for end in range(held.first, held.expires + 1, window.slide):
                if end <= until:
                    instance = (held.window_id, end - window.range, end)
                    got.setdefault(instance, Counter())[pair.left, pair.right] += 1

    def expect(start: int, end: int) -> Counter[Any]:
        inside = [(side, row) for time, side, row in rows if start <= time < end]
        lefts = [row for side, row in inside if side == "left"]
        rights = [row for side, row in inside if side == "right"]
        return Counter((x, y) for x in lefts for y in rights if x[2] == y[2])

    assert_answered(got, expect, lives)


# Windows that come and go ---------------------------------------------------------------


def played(nested: Nested[Any, Any], random: Random, feed: Any) -> tuple[Lives, list[Any]]:
    """Records mixed with registrations, suspensions and regroupings."""
    lives = Lives(nested.manager.windows)
    found: list[Any] = []
    time, number = 0, 0
    fired = seen = moved = -inf
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
                moved = seen
            case "n":
                slide = random.choice([1, 2, 3, 4, 6, 8])
                window = Window(
                    random.randint(slide, 20), slide, random.randrange(slide), f"new {number}"
                )
                number += 1
                found += nested.register(window)
                lives[window.id] = (window, seen, float(END))
                lives.fired[window.id] = fired
                lives.held[window.id] = held_for(nested, window, lives, fired, moved)
                lives.reached["instances that a group holds"] += len(lives.held[window.id])
            case "g":
                nested.regroup(random.choice(["greedy", "minimum"]))
                moved = seen
    return lives, found


def held_for(
    nested: Nested[Any, Any], window: Window, lives: Lives, fired: float, moved: float
) -> set[int]:
    """Begins of open instances at which another window of the group has an open one too.

    Of those registered since windows last moved between groups nothing is missing.
    """
    others = [w for w in nested.manager.group_of(window).windows() if w.id != window.id]
    return {
        start
        for start in starts(window, -24, END)
        for other in others
        if start + window.range > fired
        and start + other.range > fired
        and other.starts_at(start)
        and start >= max(lives[other.id][1], moved)
    }


seeds = st.integers(0, 10**6)
KINDS = ("answered from what was held", "instances that a group holds")


def test_aggregates_never_lack_what_came_before() -> None:
    reached = Reached()

    @given(pools, seeds)
    def each(windows: list[Window], seed: int) -> None:
        records: list[tuple[int, str]] = []
        nested = NestedAggregate(Concat(), windows)

        def feed(time: int, random: Random) -> list[Any]:
            records.append((time, random.choice("abc")))
            return nested.insert(*records[-1])

        lives, found = played(nested, Random(seed), feed)
        found += nested.advance(END)
        assert_aggregates(found, records, lives)
        reached.update(lives.reached)

    each()
    reached.at_least(100, *KINDS)


def test_distinct_items_never_lack_what_came_before() -> None:
    reached = Reached()

    @given(pools, seeds)
    def each(windows: list[Window], seed: int) -> None:
        records: list[tuple[int, str]] = []
        nested = NestedDistinct(windows)

        def feed(time: int, random: Random) -> list[Any]:
            records.append((time, random.choice("abcdef")))
            return nested.insert(*records[-1])

        lives, found = played(nested, Random(seed), feed)
        found += nested.advance(END)
        assert_distinct(found, records, lives)
        reached.update(lives.reached)

    each()
    reached.at_least(100, *KINDS)


def test_joins_never_lack_what_came_before() -> None:
    reached = Reached()

    @given(pools, seeds)
    @settings(max_examples=30)
    def each(windows: list[Window], seed: int) -> None:
        rows: list[tuple[int, str, Any]] = []
        nested = NestedJoin(windows, on=lambda row: row[2])

        def feed(time: int, random: Random) -> list[Any]:
            row = (len(rows), time, random.choice("ab"))
            rows.append((time, random.choice(["left", "right"]), row))
            return nested.insert(rows[-1][1], time, row)

        lives, found = played(nested, Random(seed), feed)
        assert_joined(found, rows, lives)
        reached.update(lives.reached)

    each()
    reached.at_least(50, *KINDS)


def paper(range: int, slide: int, id: str) -> Window:
    """A window of the paper's, whose ends are multiples of its slide."""
    return Window(range, slide, -range % slide, id)


def test_a_window_of_figure_7_answers_at_once() -> None:
    """k(21, 3) is embedded between p and y at 100: its next end is 102, and not 123."""
    sums = NestedAggregate(Concat(), [paper(10, 3, "r"), paper(18, 3, "p"), paper(30, 6, "y")])
    letters = [chr(200 + time) for time in range(130)]
    for time in range(100):
        sums.insert(time, letters[time])
    held = len(sums)
    assert sums.register(paper(21, 3, "k")) == []
    assert len(sums) == held, "nothing is held twice"
    answers = [a for time in range(100, 130) for a in sums.insert(time, letters[time])]
    found = [a for a in answers if a.window_id == "k"]
    assert [a.end for a in found] == [*range(102, 130, 3)]
    assert all(a.value == "".join(letters[a.start : a.end]) for a in found)


def test_y_alone_answers_every_second_instance_of_k_from_what_it_holds() -> None:
    """Granules of y(30, 6) are cut every 6: those of k that begin between two cuts are torn."""
    sums, items = _concat([paper(30, 6, "y")]), NestedDistinct([paper(30, 6, "y")])
    for time in range(100):
        sums.insert(time, "x")
        items.insert(time, time)
    sums.register(paper(21, 3, "k"))
    items.register(paper(21, 3, "k"))
    ends = [a.end for a in sums.advance(130) if a.window_id == "k"]
    assert ends == [105, 111, 117]  # and all from 123 on, which hold no record
    assert [r.end for r in items.advance(119) if "k" in r.counts] == [102, 105, 108, 111, 114, 117]


def _concat(windows: list[Window]) -> NestedAggregate:
    return NestedAggregate(Concat(), windows)


def test_a_window_of_no_group_copies_what_serves_it_best() -> None:
    """Instances of W(10, 4) begin at 92 and 96: y is cut at 96, f at neither."""
    sums = _concat([paper(20, 5, "f"), paper(30, 6, "y")])
    for time in range(100):
        sums.insert(time, "x")
    sums.register(Window(10, 4, 0, "w"))
    assert len(sums.manager.groups) == 3
    assert [a[1:] for a in sums.advance(120) if a.window_id == "w"] == [(96, 106, "xxxx")]


def test_registering_a_join_tells_the_pairs_that_met_before() -> None:
    pairs = NestedJoin([Window(12, 2, id="twelve")], on=lambda row: row[0])
    pairs.insert("left", 1, ("x", 1))
    pairs.insert("right", 3, ("x", 3))
    pairs.insert("right", 9, ("x", 9))
    found = pairs.register(Window(10, 2, id="ten"))
    assert [(p.left, p.right, tuple(p.windows[0])) for p in found] == [
        (("x", 1), ("x", 3), ("ten", 10, 10)),
        (("x", 1), ("x", 9), ("ten", 10, 10)),
    ]


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

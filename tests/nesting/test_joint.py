"""A window for each side of a join: ends, pairs and conditions; and several operations."""

from collections import Counter
from math import inf, lcm
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.errors import QueryError, StrategyError, WindowError
from muntin.model.windows import Window
from muntin.nesting import (
    AggregateOf,
    DistinctOf,
    JoinOf,
    JointWindow,
    NestedAggregate,
    NestedDistinct,
    NestedJoin,
    Operations,
)
from muntin_testing.reached import Reached

END = 90
Sides = tuple[Window, Window]


@st.composite
def sides(draw: st.DrawFn) -> Sides:
    """Two windows, of which the ends may meet or not."""
    found = []
    for _ in "lr":
        slide = draw(st.sampled_from([1, 2, 3, 4, 6]))
        found.append(
            Window(slide + draw(st.integers(0, 12)), slide, draw(st.integers(0, slide - 1)))
        )
    return found[0], found[1]


def ends_of(window: Window, until: int) -> set[int]:
    """Every end from -30 on, by counting."""
    return {t for t in range(-30, until) if window.starts_at(t - window.range)}


def test_common_ends_are_those_of_both() -> None:
    reached = Reached()

    @given(sides())
    def each(pair: Sides) -> None:
        common = ends_of(pair[0], 40) & ends_of(pair[1], 40)
        reached["meet" if common else "never meet"] += 1
        if not common:
            with pytest.raises(WindowError, match="never end together"):
                JointWindow.of(pair)
            return
        joint = JointWindow.of(pair)
        assert {t for t in range(-30, 40) if joint.ends.before(t) == t} == common
        assert joint.ends.step == lcm(pair[0].slide, pair[1].slide)

    each()
    reached.at_least(5, "meet", "never meet")


def test_ends_that_hardly_ever_meet_are_refused() -> None:
    pair = (Window(2**40, 2**40 - 1), Window(2**40, 2**40 - 87))
    with pytest.raises(WindowError, match="hardly ever end together"):
        JointWindow.of(pair)


@given(sides(), st.integers(0, 30), st.integers(0, 30))
def test_a_pair_is_held_at_ends_of_intervals_that_hold_both(pair: Sides, lt: int, rt: int) -> None:
    common = ends_of(pair[0], 60) & ends_of(pair[1], 60)
    if not common:
        return
    left, right = pair
    holding = [e for e in sorted(common) if e - left.range <= lt < e and e - right.range <= rt < e]
    held = JointWindow.of(pair).held(lt, rt)
    assert held == ((holding[0], holding[-1]) if holding else None)


def meeting(random: Random, id: str) -> Sides:
    """Two windows that end together, at 0 for one."""
    windows = []
    for _ in "lr":
        slide = random.choice([1, 2, 3, 4, 6])
        length = slide + random.randrange(12)
        windows.append(Window(length, slide, -length % slide, id))
    return windows[0], windows[1]


def larger(left: Any, right: Any) -> bool:
    return bool(left[0] % 3 <= right[0] % 3)


Lives = dict[str, tuple[Sides, float, float]]
"""The windows of both sides, from when on instances are answered in any case, and until when."""


def test_joins_of_two_windows_equal_explicit_intervals_whatever_comes_and_goes() -> None:
    reached = Reached()
    for seed in range(60):
        lives, rows, found = played(seed, reached)
        expected = brute(lives, rows)
        for id, end in {key[:2] for key in (*found, *expected)}:
            pair, since, until = lives[id]
            ours, theirs = (pairs_at(each, id, end) for each in (found, expected))
            if end > until:  # what was promised before a suspension
                continue
            if end - max(w.range for w in pair) >= since:
                assert ours == theirs, (seed, id, end)
            elif ours:  # answered from what was held when it was registered: then whole
                assert ours == theirs, (seed, id, end)
                reached["answered from what was held"] += 1
            reached["pairs"] += len(theirs)
    reached.at_least(40, "registered", "suspended", "answered from what was held")
    reached.at_least(2000, "pairs")


def played(seed: int, reached: Reached) -> tuple[Lives, list[tuple[int, str, Any]], Counter[Any]]:
    """Tuples mixed with pairs of windows that come and go."""
    random = Random(seed)
    lives: Lives = {
        f"w{n}": (meeting(random, f"w{n}"), -inf, inf) for n in range(random.randint(1, 4))
    }
    nested = NestedJoin([p for p, _, _ in lives.values()], lambda row: row[1], where=larger)
    rows: list[tuple[int, str, Any]] = []
    found: Counter[Any] = Counter()

    def count(pairs: list[Any]) -> None:
        for pair in pairs:
            for held in pair.windows:
                step = JointWindow.of(lives[held.window_id][0]).ends.step
                for end in range(held.first, held.expires + 1, step):
                    found[held.window_id, end, pair.left, pair.right] += 1

    time, fired, seen = 0, -inf, -inf
    while time < 60:
        step = random.choice("rrrrrrrrsng")
        if step == "r":
            time += random.choice([0, 1, 1, 2, 4])
            side, row = random.choice(["left", "right"]), (len(rows), random.choice("ab"))
            rows.append((time, side, row))
            count(nested.insert(side, time, row))
            fired, seen = time, time + 1
        elif step == "n":
            id = f"w{len(lives)}"
            lives[id] = (meeting(random, id), seen, inf)
            count(nested.register(lives[id][0]))
            reached["registered"] += 1
        elif step == "s" and len(nested.manager):
            id = random.choice([w.id for w in nested.manager.windows])
            nested.suspend(lives[id][0] if random.random() < 0.5 else id)
            lives[id] = (lives[id][0], lives[id][1], fired)
            reached["suspended"] += 1
        elif step == "g":
            nested.regroup(random.choice(["greedy", "minimum"]))
    return lives, rows, found


def pairs_at(found: Counter[Any], id: str, end: int) -> Counter[Any]:
    return Counter({key: n for key, n in found.items() if key[:2] == (id, end)})


def brute(lives: Lives, rows: list[tuple[int, str, Any]]) -> Counter[Any]:
    """All pairs of all intervals, whenever windows came."""
    found: Counter[Any] = Counter()
    for id, ((left, right), _, _) in lives.items():
        for end in sorted(ends_of(left, END) & ends_of(right, END)):
            lefts = [r for t, s, r in rows if s == "left" and end - left.range <= t < end]
            rights = [r for t, s, r in rows if s == "right" and end - right.range <= t < end]
            found.update(
                (id, end, a, b) for a in lefts for b in rights if a[1] == b[1] and larger(a, b)
            )
    return found


# Several operations -------------------------------------------------------------------------


def paid_more(left: Any, right: Any) -> bool:
    return bool(left["paid"] > 1)


def test_one_manager_answers_as_each_operation_by_itself() -> None:
    """Aggregates, distinct items and joins over two streams, windows coming and going."""
    spent = AggregateOf("clicks", mt.sum("paid"))
    pages = DistinctOf("clicks", ("page",))
    pairs = JoinOf("clicks", "views", ("page",), where=paid_more)
    for seed in range(12):
        random = Random(seed)
        many = Operations()
        alone: dict[Any, Any] = {
            spent: NestedAggregate(mt.sum("paid")),
            pages: NestedDistinct(),
            pairs: NestedJoin(on=lambda row: (row["page"],), where=paid_more),
        }
        found: Counter[str] = Counter()
        expected: Counter[str] = Counter()
        registered: list[tuple[Any, Any]] = []
        time = 0
        for number in range(120):
            for operation, nested in alone.items():
                if random.random() < 0.1 or not any(o is operation for o, _ in registered):
                    window = meeting(random, f"w{number}")
                    given_window: Any = window if operation is pairs else window[0]
                    found.update(f"{o}: {r}" for o, r in many.register(given_window, operation))
                    told = nested.register(given_window)
                    expected.update(f"{operation}: {result}" for result in told)
                    registered.append((operation, given_window))
                elif random.random() < 0.05:
                    place = random.randrange(len(registered))
                    operation, window_out = registered[place]
                    if sum(o is operation for o, _ in registered) > 1:
                        del registered[place]
                        many.suspend(window_out, operation)
                        alone[operation].suspend(window_out)
            time += random.choice([0, 1, 2])
            stream = random.choice(["clicks", "views"])
            row = {"page": random.choice("abc"), "paid": random.randrange(4)}
            found.update(f"{o}: {result}" for o, result in many.insert(stream, time, row))
            for operation, nested in alone.items():
                results = list(nested.advance(time))
                if stream in operation.streams:
                    results += operation.feed(nested, stream, time, row)
                expected.update(f"{operation}: {result}" for result in results)
        assert found == expected, seed
        assert {o: {w.id for w in m.windows} for o, m in many.managers.items()} == {
            o: {w.id for w in n.manager.windows} for o, n in alone.items()
        }


def test_equal_operations_share_a_collection() -> None:
    many = Operations()
    many.register(Window(4, 2), AggregateOf("clicks", mt.sum("paid")))
    many.register(Window(8, 4), AggregateOf("clicks", mt.sum("paid")))
    many.register(Window(8, 4), AggregateOf("views", mt.sum("paid")))
    many.register(Window(8, 4), DistinctOf("clicks", ("page",)))
    assert [len(manager) for manager in many.managers.values()] == [2, 1, 1]
    many.suspend("8 microseconds/4 microseconds", DistinctOf("clicks", ("page",)))
    assert len(many.managers) == 2


def test_an_operation_that_comes_later_begins_with_what_it_has_seen() -> None:
    many, pages = Operations(), DistinctOf("clicks", ("page",))
    many.register(Window(2, 2), AggregateOf("clicks", mt.count()))
    many.insert("clicks", 4, {"page": "a"})
    many.register(Window(1, 1, id="one"), pages)
    many.insert("clicks", 4, {"page": "b"})  # of [4, 5), of which "a" was not seen
    found = many.insert("clicks", 5, {"page": "c"}) + many.advance(7)
    [report] = [result for operation, result in found if operation == pages]
    assert (report.end, report.of("one")) == (6, ["c"])


def test_wrong_use_is_said() -> None:
    many = Operations()
    with pytest.raises(QueryError, match="is not an operation: use AggregateOf"):
        many.register(Window(4, 2), "sum")  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="no window is registered for distinct page of clicks"):
        many.suspend(Window(4, 2), DistinctOf("clicks", ("page",)))
    many.register(Window(4, 2), AggregateOf("clicks", mt.sum("paid")))
    with pytest.raises(QueryError, match="the tuple has no 'paid': did you mean 'payd'"):
        many.insert("clicks", 1, {"payd": 3})
    with pytest.raises(QueryError, match="time runs backwards: 0 after 1"):
        many.insert("clicks", 0, {"paid": 3})
    with pytest.raises(StrategyError, match="unknown grouping 'most'"):
        Operations("most")
    with pytest.raises(WindowError, match="registered already"):
        NestedJoin([Window(4, 2)]).register(Window(4, 2))

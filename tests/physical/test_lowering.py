"""Lowering: its levels, carried out on explicit records, hold for every asked window its records.

An interpreter of a few lines stands in for an engine: it moves rows as a level says and groups.
"""

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import RateCost
from muntin.errors import PlanError
from muntin.model.windows import Window
from muntin.physical import FROM_SOURCE, PhysicalPlan, lower
from muntin.physical.lowering import Suffix
from muntin.physical.operators.expand import Level, levels
from muntin.plan import Node, SharingPlan, close, refine
from muntin.plan.coverage import fewest_pieces, suffix_piece
from muntin.plan.slicing import SLICINGS, shared_pairs, shared_panes
from muntin.plan.tree import slices_node, window_node
from muntin.planner.strategies import STRATEGIES, Problem
from muntin_testing.reached import Reached, built_by, edges_of
from muntin_testing.windows import nested_sets, starts, window_sets

Rows = dict[tuple[int, int], Counter[int]]
"""(node, start) → how often each record reached it."""


def run(plan: PhysicalPlan, records: range) -> Rows:
    rows: Rows = {}
    for t in records:
        rows[FROM_SOURCE, t] = Counter([t])
    for level in levels(plan):
        after: Rows = {}
        for (node, position), partial in rows.items():
            for target in targets(level, node, position):
                after.setdefault(target, Counter()).update(partial)
        rows = after
    return rows


def targets(level: Level, node: int, position: int) -> Iterator[tuple[int, int]]:
    for feed in level.feeds.get(node, ()):
        for start in feed.starts(position):
            yield feed.node, start
    for target in level.slices.get(node, ()):
        yield target.node, target.slices.start_of(position)


def assert_holds_its_records(plan: SharingPlan, records: range) -> None:
    physical = lower(close(plan))
    rows = run(physical, records)
    for number, node in enumerate(physical.nodes):
        found = {start: held for (n, start), held in rows.items() if n == number}
        if node.hidden:
            assert number not in {n for n, _ in rows} or not plan.children(node.id)
            continue
        assert isinstance(node.shape, Window)
        begin, end = records.start, records.stop
        expected = {}
        for start in starts(node.shape, begin - node.shape.range, end):
            held = range(max(start, begin), min(start + node.shape.range, end))
            if held:
                expected[start] = set(held)
        assert {start: set(held) for start, held in found.items()} == expected
        if not plan.idempotent:
            assert all(set(held.values()) == {1} for held in found.values())


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy(name: str) -> None:
    reached = Reached()

    @given(
        asked=st.one_of(window_sets(most=4, longest=16), nested_sets(longest=16)),
        idempotent=st.booleans(),
        slicing=st.sampled_from(sorted(SLICINGS)),
    )
    def each(asked: list[Window], idempotent: bool, slicing: str) -> None:
        problem = Problem(tuple(asked), idempotent, RateCost(rate=5e6), slicing)
        plan = STRATEGIES[name](problem)
        assert_holds_its_records(plan, range(-37, 41))
        reached.update(edges_of(plan))

    each()
    reached.at_least(10, *built_by(name))


@given(window_sets(least=2, most=4, longest=16))
def test_slices_under_slices_beside_windows_under_windows(asked: list[Window]) -> None:
    nodes = [
        slices_node(shared_panes(asked), "panes"),
        slices_node(shared_pairs(asked[1:]), "pairs", "panes"),
        window_node(asked[0]),
        *(window_node(w, "pairs") for w in asked[1:-1]),
        window_node(asked[-1], "panes") if len(asked) > 1 else window_node(asked[-1]),
    ]
    assert_holds_its_records(SharingPlan.build(nodes, idempotent=False), range(-30, 31))


def test_a_chain_of_windows_has_a_level_for_each() -> None:
    small, middle, large = (Window(n, n, id=str(n)) for n in (5, 10, 20))
    nodes = [window_node(small, hidden=True)]
    for child, parent in ((middle, small), (large, middle)):
        pieces = fewest_pieces(child, parent, disjoint=True)
        assert pieces is not None
        nodes.append(Node(child.id, child, parent.id, pieces))
    plan = SharingPlan.build(nodes, idempotent=False)
    assert len(levels(lower(plan))) == lower(plan).depth == 3
    assert_holds_its_records(plan, range(-33, 50))


def test_a_flight_of_stairs_has_a_level_for_each_and_its_deltas_are_handed_on() -> None:
    seed, middle, wide = (Window(n, 2, n % 2, id=str(n)) for n in (4, 7, 12))
    nodes = [slices_node(shared_pairs([seed, middle, wide])), window_node(seed, "slices")]
    for child, parent in ((middle, seed), (wide, middle)):
        piece = suffix_piece(child, parent)
        assert piece is not None
        nodes.append(Node(child.id, child, parent.id, piece))
    plan = SharingPlan.build(nodes, idempotent=False)
    physical = lower(plan)
    second, third, fourth = levels(physical)[1:]
    assert [len(feeds) for feeds in (second.feeds[0], third.feeds[3], fourth.feeds[3])] == [3, 1, 1]
    assert [n.program.foot for n in physical.nodes if isinstance(n.program, Suffix)] == [0, 0]
    assert_holds_its_records(plan, range(-33, 50))


def test_open_slices_are_refined_or_closed_before_lowering() -> None:
    windows = (Window(14, 8, id="long"), Window(10, 8, id="short"))
    plan = STRATEGIES["cutty"](Problem(windows, False, RateCost(rate=5e6)))
    assert close(plan) is not plan
    with pytest.raises(PlanError, match=r"'long' reads an open slice.*: refine or close the plan"):
        lower(plan)
    assert [type(node.program).__name__ for node in lower(refine(plan)).nodes] == [
        *("Cut", "Cut", "Prefix", "Prefix")
    ]
    assert_holds_its_records(plan, range(-30, 31))

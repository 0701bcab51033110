"""subsume: windows nest in groups, each group reads the source once, and wide reuses narrow.

time  O(n log n + n·d) to group (`muntin.nesting`), O(l²) vectorised for l levels of a group

    source ─▶ slices of a group ─▶ seed ─▶ stairs ─▶ windows piggybacked on them (one piece each)

The slices are cut where instances of the group's levels begin or end (`Problem.slicing`; by Cutty,
only where they begin: the granules that move up the stairs, section 4 of the subsumption paper). A
level is, whichever costs least:

    stair     the next narrower level and the slices before it (a suffix edge): as in Figure 6, the
              answer of W₁ is the first part of that of W₃
    pieces    several pieces of a narrower level that make it up
    slices    all that it covers

A flight has at most FLIGHT stairs, then a level reads its slices again: deep trees are slow to
run, however little they read. A group of one window may need no slices at all.

Groups are those of the paper's Algorithm 1, or as few as there can be where that costs less.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from muntin.cost import suffix_cost, total
from muntin.model.windows import Window
from muntin.nesting.chains import fewest
from muntin.nesting.greedy import greedy
from muntin.nesting.groups import Group
from muntin.plan import Node, SharingPlan
from muntin.plan.coverage import SOURCE, Source, every, suffix_piece
from muntin.plan.slicing import Slices, shared_slices
from muntin.plan.tree import slices_node, unused_id, window_node
from muntin.planner.strategies.coverage.wcg import cheapest_parents, covered_node
from muntin.planner.strategies.problem import Problem

FLIGHT = 16
"""Stairs on one another, at most."""


def subsume(problem: Problem) -> SharingPlan:
    """The groups of the subsumption paper as one tree."""
    many = len(problem.windows)
    problem.budget.spend(50 * many)
    groups = greedy(problem.windows)
    plan = _plan(groups, problem)
    matching = 50 * many + many**2 // 2
    if len(groups) == 1 or problem.budget.left < 2 * matching:
        return plan
    problem.budget.spend(matching)
    others = fewest(problem.windows)
    if len(others) == len(groups):
        return plan
    return min(plan, _plan(others, problem), key=lambda each: total(problem.cost, each))


def _plan(groups: Sequence[Group], problem: Problem) -> SharingPlan:
    taken = {window.id for window in problem.windows}
    nodes = [node for group in groups for node in _group_nodes(group, problem, taken)]
    return SharingPlan.build(nodes, problem.idempotent)


def _group_nodes(group: Group, problem: Problem, taken: Collection[str]) -> Iterator[Node]:
    levels = [level.window for level in group.levels]
    slices = shared_slices(levels, problem.slicing)
    root = slices_node(slices, unused_id(f"group of {group.seed.id}", taken))
    if len(levels) == 1 and _better_alone(levels[0], slices, problem):
        yield window_node(levels[0])
    else:
        yield root
        stairs = _Stairs(problem, slices, root.id)
        for window, parent in cheapest_parents(levels, problem).items():
            yield stairs.place(window, parent)
    for level in group.levels:
        for rider in level.piggybacked.values():
            yield covered_node(rider, level.window, disjoint=True, fewest=True)


@dataclass(slots=True)
class _Stairs:
    """The levels of a group as they are placed, narrowest first."""

    problem: Problem
    slices: Slices
    root: str
    height: dict[Window, int] = field(default_factory=dict)
    """The levels on which the next may stand, narrowest first, with the stairs below each."""

    def place(self, window: Window, cover: Source | Window) -> Node:
        """The cheapest way to make a level, of which the coverage graph has found `cover`."""
        problem, edge = self.problem, self.problem.cost.edge
        kind = problem.kind(window)
        node = window_node(window, self.root, kind=kind)
        cost = edge(self.slices, window, node.pieces)
        covered = covered_node(window, cover, not problem.idempotent, problem.cost.fewest)
        if covered.parent is not None and edge(cover, window, covered.pieces) <= cost:
            node, cost = covered, edge(cover, window, covered.pieces)
        narrow = next(reversed(self.height), None)
        if narrow is not None and self.height[narrow] < FLIGHT:
            stair = suffix_piece(window, narrow)
            assert stair is not None, "the levels of a group end together"
            if suffix_cost(problem.cost, self.slices, narrow, window) < cost:
                self.height[window] = self.height[narrow] + 1
                return Node(window.id, window, narrow.id, stair)
        if node.parent == self.root:
            self.height[window] = 0
        return node


def _better_alone(window: Window, slices: Slices, problem: Problem) -> bool:
    edge, pieces = problem.cost.edge, every(window.range)
    reading = every(window.range, problem.kind(window))
    on_slices = edge(SOURCE, slices, every(1)) + edge(slices, window, reading)
    return edge(SOURCE, window, pieces) <= on_slices

"""subsume: windows nest in groups, and each group reads the source once.

time  O(n log n + n·d) to group (`muntin.nesting`), O(l²) vectorised for l levels of a group

    source ─▶ slices of a group ─▶ its levels ─▶ windows piggybacked on them (one piece each)

The slices are cut where instances of the group's levels begin or end (`Problem.slicing`; by Cutty,
only where they begin: the granules that move up the stairs, section 4 of the subsumption paper). A
level reads a narrower one instead where pieces of that one make it up at less cost. A group of one
window may need no slices at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from muntin.model.windows import Window
from muntin.nesting.greedy import greedy
from muntin.nesting.groups import Group
from muntin.plan import Node, SharingPlan
from muntin.plan.coverage import SOURCE, every
from muntin.plan.slicing import Slices, shared_slices
from muntin.plan.tree import slices_node, unused_id, window_node
from muntin.planner.strategies.coverage.wcg import cheapest_parents, covered_node
from muntin.planner.strategies.problem import Problem


def subsume(problem: Problem) -> SharingPlan:
    """The groups of the subsumption paper as one tree."""
    problem.budget.spend(50 * len(problem.windows))
    taken = {window.id for window in problem.windows}
    nodes = [
        node for group in greedy(problem.windows) for node in _group_nodes(group, problem, taken)
    ]
    return SharingPlan.build(nodes, problem.idempotent)


def _group_nodes(group: Group, problem: Problem, taken: Collection[str]) -> Iterator[Node]:
    levels = [level.window for level in group.levels]
    slices = shared_slices(levels, problem.slicing)
    root = slices_node(slices, unused_id(f"group of {group.seed.id}", taken))
    if len(levels) == 1 and _better_alone(levels[0], slices, problem):
        yield window_node(levels[0])
    else:
        yield root
        for window, parent in cheapest_parents(levels, problem).items():
            kind, edge = problem.kind(window), problem.cost.edge
            from_slices = edge(slices, window, every(window.range, kind))
            node = covered_node(window, parent, not problem.idempotent, problem.cost.fewest)
            if node.parent is not None and edge(parent, window, node.pieces) <= from_slices:
                yield node
            else:
                yield window_node(window, root.id, kind=kind)
    for level in group.levels:
        for rider in level.piggybacked.values():
            yield covered_node(rider, level.window, disjoint=True, fewest=True)


def _better_alone(window: Window, slices: Slices, problem: Problem) -> bool:
    edge, pieces = problem.cost.edge, every(window.range)
    reading = every(window.range, problem.kind(window))
    on_slices = edge(SOURCE, slices, every(1)) + edge(slices, window, reading)
    return edge(SOURCE, window, pieces) <= on_slices

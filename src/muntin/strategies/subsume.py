"""subsume: windows nest in groups, and each group reads the source once.

time  O(n log n + n·d) to group (`muntin.nesting`), O(l²) vectorised for l levels of a group

    source ─▶ slices of a group ─▶ its levels ─▶ windows piggybacked on them (one piece each)

The slices are cut where instances of the group's levels begin or end: the granules that move up the
stairs (section 4 of the subsumption paper, Aggregation). A level reads a narrower one instead where
pieces of that one make it up at less cost. A group of one window may need no slices at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from muntin.coverage import SOURCE, every, fewest_pieces
from muntin.data_windows import DataWindow
from muntin.nesting.greedy import greedy
from muntin.nesting.groups import Group, Level
from muntin.plan import Node, SharingPlan
from muntin.plan.tree import reading_all, sliced
from muntin.slicing import shared_pairs
from muntin.strategies.hidden_ids import unused_id
from muntin.strategies.problem import Problem
from muntin.strategies.wcg import cheapest_parents, covered
from muntin.windows import Window


def subsume(problem: Problem) -> SharingPlan:
    """The groups of the subsumption paper as one tree."""
    taken = {window.id for window in problem.windows}
    nodes = [node for group in greedy(problem.windows) for node in _grouped(group, problem, taken)]
    return SharingPlan.build(nodes, problem.idempotent)


def _grouped(group: Group, problem: Problem, taken: Collection[str]) -> Iterator[Node]:
    levels = [level.window for level in group.levels]
    root = sliced(shared_pairs(levels), unused_id(f"group of {group.seed.id}", taken))
    if len(levels) == 1 and _better_alone(levels[0], root, problem):
        yield reading_all(levels[0])
    else:
        yield root
        for window, edge in cheapest_parents(levels, problem, problem.cost.fewest).items():
            from_slices = problem.cost.edge(root.shape, window, every(window.range))
            from_level = problem.cost.edge(edge.parent, window, edge.pieces)
            if isinstance(edge.parent, Window) and from_level <= from_slices:
                yield covered(edge)
            else:
                yield reading_all(window, root.id)
    for level in group.levels:
        yield from _piggybacked(level)


def _better_alone(window: Window, slices: Node, problem: Problem) -> bool:
    pieces, edge = every(window.range), problem.cost.edge
    assert not isinstance(slices.shape, DataWindow), "slices of time"
    on_slices = edge(SOURCE, slices.shape, slices.pieces) + edge(slices.shape, window, pieces)
    return edge(SOURCE, window, pieces) <= on_slices


def _piggybacked(level: Level) -> Iterator[Node]:
    for rider in level.piggybacked.values():
        pieces = fewest_pieces(rider, level.window, disjoint=True)
        assert pieces is not None, f"{rider} is not piggybacked on {level.window}"
        yield Node(rider.id, rider, level.window.id, pieces)

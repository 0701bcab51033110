"""Lowering: a sharing plan as a sequence of levels, each one grouping of rows.

Rows carry the number of their node and the start of their piece. A level hands every row to the
instances and slices of the next level that it feeds, and groups. Windows that are asked for are
handed on unchanged by the levels below them, so that one linear pipeline computes the whole tree:
no node is computed twice, and the pipeline grows with the depth of the tree, not its width. Slices
that the plan reads while they are open are closed first (`plan.closing`): a row is in one piece.
"""

from __future__ import annotations

from dataclasses import dataclass

from muntin.physical.feeds import Feed, feeds_of, stays
from muntin.plan import Node, SharingPlan, closed
from muntin.slicing import Slices
from muntin.windows import Window

FROM_SOURCE = -1
"""The number of the source."""


@dataclass(frozen=True, slots=True)
class SlicesTarget:
    """Slices that every row of a parent falls into, exactly one each."""

    node: int
    slices: Slices


@dataclass(frozen=True, slots=True)
class Level:
    """What the rows of each node (by number) feed on this level."""

    feeds: dict[int, tuple[Feed, ...]]
    slices: dict[int, tuple[SlicesTarget, ...]]


@dataclass(frozen=True, slots=True)
class PhysicalPlan:
    """The numbered nodes of a sharing plan and the levels that compute them."""

    nodes: tuple[Node, ...]
    levels: tuple[Level, ...]


def lower(plan: SharingPlan) -> PhysicalPlan:
    """One level for each level of the tree."""
    plan = closed(plan)
    number: dict[str | None, int] = {None: FROM_SOURCE}
    number.update((node.id, i) for i, node in enumerate(plan.nodes))
    finished: list[Node] = []
    levels: list[Level] = []
    for nodes in plan.levels():
        levels.append(_level(nodes, finished, number))
        finished += [node for node in nodes if not node.hidden]
    return PhysicalPlan(plan.nodes, tuple(levels))


def _level(nodes: list[Node], finished: list[Node], number: dict[str | None, int]) -> Level:
    feeds: dict[int, list[Feed]] = {}
    slices: dict[int, list[SlicesTarget]] = {}
    for node in nodes:
        parent, own = number[node.parent], number[node.id]
        if isinstance(node.shape, Slices):
            slices.setdefault(parent, []).append(SlicesTarget(own, node.shape))
        else:
            assert isinstance(node.shape, Window), "the data decides what feeds other windows"
            feeds.setdefault(parent, []).extend(feeds_of(own, node.shape, node.pieces))
    for node in finished:
        assert isinstance(node.shape, Window), "slices are always hidden"
        feeds.setdefault(number[node.id], []).append(stays(number[node.id], node.shape))
    return Level(
        {parent: tuple(each) for parent, each in feeds.items()},
        {parent: tuple(each) for parent, each in slices.items()},
    )

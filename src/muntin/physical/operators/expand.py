"""expand: each row is exploded into the instances that it feeds, then grouped, level by level.

Rows carry the number of their node and the start of their piece. A level hands every row to the
instances and slices of the next level that it feeds, and groups. Windows that are asked for are
handed on unchanged by the levels below them, so that one linear pipeline computes the whole tree:
no node is computed twice, and the pipeline grows with the depth of the tree, not its width.

The delta of a stair is made where its slices are read, under the stair's own number, and handed on
in the same way until the narrower window is there to be merged with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from muntin.cost import CostModel, ExpandCost
from muntin.cost.spark import Work
from muntin.model.windows import Window
from muntin.physical.lowering import (
    FROM_SOURCE,
    Congruence,
    Cut,
    PhysicalNode,
    PhysicalPlan,
    Suffix,
)
from muntin.physical.operators.base import Rewrite, Works
from muntin.physical.operators.counted import (
    Counted,
    copied_work,
    fewest_pieces,
    first_level,
)
from muntin.physical.question import Question, in_python
from muntin.plan import SharingPlan, close
from muntin.plan.coverage import delta_window
from muntin.plan.feeds import Feed, identity_feed
from muntin.plan.slicing import Slices


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


def levels(physical: PhysicalPlan) -> tuple[Level, ...]:
    """The nodes by their distance from the source, and what is handed on."""
    finished: list[PhysicalNode] = []
    found: list[Level] = []
    nodes: tuple[PhysicalNode, ...] = physical.roots
    while nodes:
        level = _level(nodes, finished)
        _add_deltas(level, physical, len(found) + 1)
        found.append(level)
        finished += [node for node in nodes if not node.hidden]
        nodes = tuple(child for node in nodes for child in physical.children(node.number))
    return tuple(found)


def source_level(physical: PhysicalPlan) -> Level:
    """What the rows of the source feed: the first level, whoever computes the others."""
    level = _level(physical.roots, [])
    _add_deltas(level, physical, 1)
    return level


def _level(nodes: tuple[PhysicalNode, ...], finished: list[PhysicalNode]) -> Level:
    feeds: dict[int, tuple[Feed, ...]] = {}
    slices: dict[int, tuple[SlicesTarget, ...]] = {}
    for node in nodes:
        match node.program:
            case Cut(own):
                target = SlicesTarget(node.number, own)
                slices[node.parent] = (*slices.get(node.parent, ()), target)
            case Congruence() as congruence:
                feeds[node.parent] = (*feeds.get(node.parent, ()), *congruence.feeds)
            case Suffix(piece):
                feeds[node.parent] = (*feeds.get(node.parent, ()), *piece.feeds)
            case _:
                raise AssertionError("the data decides what feeds other windows")
    for node in finished:
        assert isinstance(node.shape, Window), "slices are always hidden"
        feeds[node.number] = (*feeds.get(node.number, ()), identity_feed(node.number, node.shape))
    return Level(feeds, slices)


def _add_deltas(level: Level, physical: PhysicalPlan, depth: int) -> None:
    """The deltas that are made on the level of this depth, or handed on there."""
    for node in physical.nodes:
        if not isinstance(node.program, Suffix):
            continue
        assert isinstance(node.shape, Window), "stairs are windows"
        made = physical.depths[node.program.foot] + 1
        if depth == made:
            fed, feeds = node.program.foot, node.program.delta.feeds
        elif made < depth <= physical.depths[node.number]:
            fed, feeds = node.number, (identity_feed(node.number, node.shape),)
        else:
            continue
        level.feeds[fed] = (*level.feeds.get(fed, ()), *feeds)


class Expand(Counted):
    """Pure Spark SQL: right for little overlap and few rows."""

    name = "expand"
    card = "each piece is exploded into the instances that it feeds and grouped, level by level"

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """Spark merges by SQL, and what is written in Python has none."""
        own = in_python(question.query)
        return f"{own.name} is written in Python, which only the kernel runs" if own else None

    def rewrites(self, question: Question) -> tuple[Rewrite, ...]:
        """A row is in one piece: open slices are closed."""
        return (close,)

    def surrogate(self, question: Question) -> CostModel:
        """Σ r/s, in seconds."""
        q = question
        return ExpandCost(q.statistics, q.constants, q.partials, q.width)

    def bounds(self, question: Question) -> tuple[Work, ...]:
        """Rows are grouped into pieces and these into instances, or copied into every instance."""
        known, windows, width = question.statistics, question.query.windows, question.width
        results, pieces = sum(map(known.held, windows)) * width, fewest_pieces(question)
        own = (results + pieces * width, results) if self.hands_on else (results, 0.0)
        grouped, exploded = own  # what is not handed on may be the first level itself
        level = Work(1, 2, 1, read=known.rows, grouped=grouped, entered=pieces, exploded=exploded)
        return level, copied_work(question)

    hands_on: ClassVar[bool] = True
    """Whether finished windows travel with the rows of the levels below them."""

    def work(self, physical: PhysicalPlan, question: Question) -> Works:
        """The first level groups the source; each level explodes partials and groups again.

        Every level below a finished window hands it on: it is entered, exploded and grouped there.
        """
        held, width = question.statistics.held, question.width
        works = first_level(physical, question)
        below = {n.number: physical.depth - physical.depths[n.number] for n in physical.nodes}
        for node in physical.nodes:
            rows = held(node.shape)
            own = works.get(node.number)
            if own is None:
                entered = held(physical.nodes[node.parent].shape)
                exploded = count_fed(physical, node, question) * width
                own = Work(0, entered=entered, exploded=exploded, grouped=rows * width)
                if isinstance(node.program, Suffix):
                    own = self._add_delta(own, node, physical, question)
            handed = below[node.number] if self.hands_on and not node.hidden else 0
            works[node.number] = own if not handed else _hand_on(own, rows * handed, width)
        more = physical.depth - 1
        works[FROM_SOURCE] = replace(works[FROM_SOURCE], stage=1 + more, level=more)
        return works

    def _add_delta(
        self, own: Work, node: PhysicalNode, physical: PhysicalPlan, question: Question
    ) -> Work:
        """The work of a stair with that of its delta, and of the levels that hand the delta on."""
        assert isinstance(node.program, Suffix), "only stairs have a delta"
        window, narrow = node.shape, physical.nodes[node.parent].shape
        assert isinstance(window, Window), "stairs are windows"
        assert isinstance(narrow, Window), "stairs are windows"
        delta, share = delta_window(window, narrow)
        held, width = question.statistics.held, question.width
        entered = held(physical.nodes[node.program.foot].shape)
        exploded = entered * node.program.length / window.slide * width
        made = replace(own, entered=own.entered + entered, exploded=own.exploded + exploded)
        if not self.hands_on:
            return made
        levels = physical.depths[node.number] - physical.depths[node.program.foot] - 1
        return _hand_on(made, share * held(delta) * levels, width)


def _hand_on(work: Work, rows: float, width: int) -> Work:
    """The same, and rows that the levels below enter, explode and group."""
    return replace(
        work,
        entered=work.entered + rows,
        exploded=work.exploded + rows * width,
        grouped=work.grouped + rows * width,
    )


def count_fed(physical: PhysicalPlan, node: PhysicalNode, question: Question) -> float:
    """How many pieces are exploded: the parent's rows times the instances that each feeds."""
    parent = physical.nodes[node.parent].shape
    rows = question.statistics.held(parent)
    if not isinstance(node.shape, Window):
        return rows
    if isinstance(parent, Window):
        pieces = physical.plan.nodes[node.number].pieces.count
        return rows * pieces * parent.slide / node.shape.slide
    return rows * node.shape.overlap


EXPAND = Expand()

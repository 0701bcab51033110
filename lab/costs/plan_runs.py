"""Run a woven plan in process: partials by folding, finals by a technique.

One record is one unit of the windows' numbers (λ = 1). A tree folds the records of each slice into
a partial, one combine a record; a tree under finer slices (TriWeave) folds those. At an edge the
technique takes the partial in, and answers the windows that end there. After the longest window is
full, whole composite slides are run, so that every window is met as often as it occurs.

`count_operations` runs with an aggregate that counts its operations, `time_trees` with a plain one
by the thread's own clock. Section 5.3 of the multi-query paper.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain, cycle, islice, pairwise, repeat
from math import lcm
from time import thread_time

from lab.multi_query.omega import aggregate_of, edges_of, empty_window, questions
from lab.multi_query.techniques import operations_of
from muntin.cost.omega import Load
from muntin.incremental import Counting, Technique
from muntin.incremental.protocol import Monoid
from muntin.model.windows import Window
from muntin.plan import SharingPlan
from muntin.plan.slicing import Slices


@dataclass(frozen=True, slots=True)
class TreeRun:
    """One tree: how many pieces each slice of a composite slide folds, and the ranges in partials
    that are asked for at each edge."""

    sizes: tuple[int, ...]
    asked: tuple[tuple[int, ...], ...]
    windows: tuple[Window, ...]

    def answer(self, window: Technique, partials: Iterator[int]) -> None:
        """Slide over the partials and answer at every edge."""
        for value, asked in zip(partials, cycle(self.asked), strict=False):
            window.slide(value)
            if asked:
                window.query_all(asked)


@dataclass(frozen=True, slots=True)
class PlanRun:
    """A plan, ready to run over records: the finest slices of TriWeave, and the trees."""

    period: int
    finest: tuple[int, ...] | None
    trees: tuple[TreeRun, ...]

    def pieces(self, values: Sequence[int], monoid: Monoid) -> Sequence[int]:
        """What the trees fold: the values, or finest slices in which each is met once, about."""
        if self.finest is None:
            return values
        return list(fold(self.finest, cycle(values), monoid, -(-len(values) // self.period)))


def fold(
    sizes: tuple[int, ...], pieces: Iterator[int], monoid: Monoid, turns: int
) -> Iterator[int]:
    """The slices of so many composite slides, as plain values."""
    lift, combine, lower = monoid.lift, monoid.combine, monoid.lower
    for size in chain.from_iterable(repeat(sizes, turns)):
        yield lower(reduce(combine, map(lift, islice(pieces, size)), monoid.identity))


def prepare(plan: SharingPlan, period: int) -> PlanRun:
    """The trees of a woven plan over a period that all of its slides divide."""
    (root, *others) = plan.children(None)
    below = [node.shape for node in plan.children(root.id)]
    three_levels = not others and any(isinstance(shape, Slices) for shape in below)
    assert isinstance(root.shape, Slices), "a woven plan has slices at its top"
    records = list(range(period))
    finest = edges_of(root.shape, period) if three_levels else records
    trees = []
    for node in plan.children(root.id if three_levels else None):
        assert isinstance(node.shape, Slices), "windows are made of slices"
        windows = tuple(n.shape for n in plan.children(node.id) if isinstance(n.shape, Window))
        first, *rest = questions(Load(windows, node.shape))
        asked = (*rest, first)  # the last slice ends where the composite slide does
        length = lcm(*(c.step for c in node.shape.cuts), *(w.slide for w in windows))
        sizes = _sizes(edges_of(node.shape, period), finest, period)
        trees.append(TreeRun(sizes, asked * (period // length), windows))
    return PlanRun(period, _sizes(finest, records, period) if three_levels else None, tuple(trees))


def _sizes(edges: list[int], pieces: list[int], period: int) -> tuple[int, ...]:
    """How many pieces begin in each slice."""
    spans = pairwise([*edges, period])
    return tuple(sum(begin <= piece < end for piece in pieces) for begin, end in spans)


def count_operations(run: PlanRun, technique: str, values: Sequence[int], turns: int) -> float:
    """Operations of all aggregations over so many composite slides, for one record."""
    pieces = run.pieces(values, aggregate_of(technique).function)
    operations = turns * run.period if run.finest else 0
    for tree in run.trees:
        counting = Counting(aggregate_of(technique))
        window, rest = _fill(tree, technique, counting, pieces)
        before = operations_of(window, counting)
        tree.answer(window, fold(tree.sizes, rest, counting, turns))
        operations += operations_of(window, counting) - before
    return operations / (turns * run.period)


def time_trees(
    run: PlanRun, technique: str, values: Sequence[int], turns: int, rounds: int
) -> list[float]:
    """Seconds of every tree over so many composite slides; the finest slices come first.

    The best of some rounds, one after the other on the same full windows.
    """
    monoid = aggregate_of(technique).function
    pieces, seconds = run.pieces(values, monoid), []
    if finest := run.finest:
        slices = (fold(finest, cycle(values), monoid, turns) for _ in range(rounds))
        seconds.append(min(_time(partial(deque[int], each, 0)) for each in slices))
    for tree in run.trees:
        window, rest = _fill(tree, technique, monoid, pieces)
        slices = (fold(tree.sizes, rest, monoid, turns) for _ in range(rounds))
        seconds.append(min(_time(partial(tree.answer, window, each)) for each in slices))
    return seconds


def _time(work: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    try:
        begin = thread_time()
        work()
        return thread_time() - begin
    finally:
        gc.enable()


def _fill(
    tree: TreeRun, technique: str, monoid: Monoid, pieces: Sequence[int]
) -> tuple[Technique, Iterator[int]]:
    """The technique when its longest window is full and all were answered; the pieces to come."""
    window, rest = empty_window(technique, monoid, tree.asked), cycle(pieces)
    for value in fold(tree.sizes, rest, monoid, -(-window.ranges[0] // len(tree.asked))):
        window.slide(value)
    tree.answer(window, fold(tree.sizes, rest, monoid, 1))
    return window, rest

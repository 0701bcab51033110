"""Evaluate a whole tree over sorted pieces: every node from the pieces of its parent.

Three ways to make a node, by what it is and what it is made of:

    cut     slices of finer slices: each piece falls into one, neighbours are merged
    scan    a window of disjoint pieces (slices, a tumbling window): two scans of the pieces and one
            combine a result, however much it overlaps itself (`kernels.evaluate`)
    gather  a window of a window that overlaps itself: the same along its chains
            (`kernels.chains`); a few pieces a result are read one by one

What is computed of a node are pieces again, for the nodes below it. Where only some instances are
wanted, as in a step of a stream, each node is computed only as far as they reach (`span_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from muntin.kernels.chains import Chains
from muntin.kernels.grouping import Grouping
from muntin.kernels.instances import Instances, instances
from muntin.kernels.monoids import Array, Monoid
from muntin.kernels.pieces import Keep, Pieces, Results, as_pieces
from muntin.kernels.scans import Halves, Scans, Segments, Unscanned
from muntin.model.windows import Window
from muntin.plan.feeds import Feed
from muntin.plan.slicing import Slices

FEW = 3
"""Up to this many instances of a group are reduced one by one."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A node to compute from the pieces of its parent, and the nodes computed from its own.

    `feeds` say which pieces of a parent that overlaps itself make an instance; without them all
    that start within it do.
    """

    node: int
    shape: Window | Slices
    asked: bool
    branches: tuple[Branch, ...] = ()
    feeds: tuple[Feed, ...] = ()

    @property
    def widest(self) -> int:
        """The longest range in this branch: all pieces of an instance start within it."""
        own = self.shape.range if isinstance(self.shape, Window) else 0
        return max(own, *(b.widest for b in self.branches), 0)

    @property
    def windows(self) -> dict[int, Window]:
        """The windows asked for in this branch, by number."""
        own = {self.node: self.shape} if self.asked and isinstance(self.shape, Window) else {}
        for branch in self.branches:
            own |= branch.windows
        return own


Between = Callable[[Window], tuple[int, int]]
"""The first and the last begin of a window's wanted instances; the last is before the first where
none is wanted."""

Read = Callable[[int, Array, Array], None]
"""Told of a node, the starts of some of its instances, and how many pieces of its parent each of
them was made of: what tests hold explain() to."""


def evaluate_tree(
    branches: Sequence[Branch],
    pieces: Pieces,
    monoids: tuple[Monoid, ...],
    keep: Keep,
    between: Between | None = None,
    read: Read | None = None,
) -> Iterator[Results]:
    """The instances of every window asked for that are to be kept, in portions.

    Where they are known to lie between two begins, only the pieces that they need are looked at.
    """
    for branch in branches:
        span = None if between is None else span_of(branch, between)
        own = pieces if span is None else pieces.within(*span)
        if not len(own.start):
            continue
        making = _Making(branch, own, monoids, None if branch.branches else keep, span, read)
        below: list[Results] = []
        for results in making.results():
            if branch.branches:
                below.append(results)
            if branch.asked:
                yield _kept(results, branch, keep) if branch.branches else results
        if below:
            inner = as_pieces(below)
            yield from evaluate_tree(branch.branches, inner, monoids, keep, between, read)


def span_of(branch: Branch, between: Between) -> tuple[int, int]:
    """From where to where pieces are needed for what is wanted of a branch: nowhere is (0, 0).

    All that an instance is made of, however deep the tree, lies within it.
    """
    spans = [span_of(each, between) for each in branch.branches]
    if branch.asked and isinstance(branch.shape, Window):
        first, last = between(branch.shape)
        spans.append((first, last + branch.shape.range if first <= last else first))
    needed = [span for span in spans if span[0] < span[1]]
    return (min(low for low, _ in needed), max(high for _, high in needed)) if needed else (0, 0)


def _kept(results: Results, branch: Branch, keep: Keep) -> Results:
    assert isinstance(branch.shape, Window), "slices are never asked for"
    return results.where(keep(results.group, results.start, branch.shape))


@dataclass(frozen=True, slots=True)
class _Making:
    """One node made of pieces: which of its instances, or all of them, and who is told."""

    branch: Branch
    pieces: Pieces
    monoids: tuple[Monoid, ...]
    keep: Keep | None
    span: tuple[int, int] | None
    read: Read | None

    def results(self) -> Iterator[Results]:
        """The node's instances or slices in portions."""
        shape, feeds = self.branch.shape, self.branch.feeds
        if isinstance(shape, Slices):
            yield self._cut(shape)
        elif not feeds:
            yield from self._scanned(shape)
        else:
            parts = [part for feed in feeds for part in self._gathered(shape, feed)]
            if len(feeds) == 1:
                yield from parts
            elif parts:
                yield self._merged(as_pieces(parts))

    def _cut(self, slices: Slices) -> Results:
        pieces = self.pieces
        begun = [pieces.start - (pieces.start - cut.phase) % cut.step for cut in slices.cuts]
        start = np.asarray(np.maximum.reduce(begun))
        made = self._merged(Pieces(pieces.group, start, pieces.origin, pieces.columns))
        if self.read is not None:
            ends = np.flatnonzero(
                (start[1:] != start[:-1]) | (pieces.group[1:] != pieces.group[:-1])
            )
            self._tell(made.start, np.diff([-1, *ends, len(start) - 1]))
        return made

    def _merged(self, pieces: Pieces) -> Results:
        """Pieces of the same group and start as one, older ones first."""
        order = np.arange(len(pieces.start))
        grouping = Grouping.sorted(order, [pieces.group, pieces.start])
        columns = tuple(
            grouping.merged(arrays, monoid)
            for arrays, monoid in zip(pieces.columns, self.monoids, strict=True)
        )
        rows = grouping.rows
        kept = pieces.group[rows], pieces.start[rows], pieces.origin[rows]
        return Results(self.branch.node, *kept, columns)

    def _scanned(self, window: Window) -> Iterator[Results]:
        limits, pieces, few = self._limits(window), self.pieces, False
        if limits is not None:
            pieces = pieces.within(limits[0], limits[1] + window.range)
            few = (limits[1] - limits[0]) // window.slide < FEW
            if limits[0] > limits[1] or not len(pieces.start):
                return
        scans = self._scans(pieces, pieces.group, window, few)
        for found in instances(pieces.group, pieces.start, window, between=limits):
            yield self._answered(found, pieces, scans, window, 0)

    def _gathered(self, window: Window, feed: Feed) -> Iterator[Results]:
        chains = Chains.of(self.pieces, feed, self._limits(window))
        if not len(chains.chain):
            return
        few = chains.fed <= 2 * len(chains.chain) + chains.fed / feed.count
        scans = self._scans(chains.pieces, chains.chain, chains.block, few)
        for found in chains.instances():
            yield self._answered(found, chains.pieces, scans, chains.block, feed.offset)

    def _limits(self, window: Window) -> tuple[int, int] | None:
        """The first and the last begin of the instances that lie in the span."""
        if self.span is None:
            return None
        low, high = self.span
        first, last = low + (window.offset - low) % window.slide, high - window.range
        return first, last - (last - window.offset) % window.slide

    def _scans(
        self, pieces: Pieces, group: Array, block: Window, few: bool
    ) -> Sequence[Scans | Unscanned]:
        columns = zip(pieces.columns, self.monoids, strict=True)
        if few:
            return [Unscanned(column, monoid) for column, monoid in columns]
        segments = Segments.of(group, pieces.start, block)
        return [segments.scan(column, monoid) for column, monoid in columns]

    def _answered(
        self,
        found: Instances,
        pieces: Pieces,
        scans: Sequence[Scans | Unscanned],
        block: Window,
        offset: int,
    ) -> Results:
        """The partials of instances that start `offset` before their first piece may."""
        if self.keep is not None:
            assert isinstance(self.branch.shape, Window), "slices are never asked for"
            whose = pieces.group[found.first]
            found = found.where(self.keep(whose, found.start - offset, self.branch.shape))
        self._tell(found.start - offset, found.last - found.first + 1)
        halves = Halves.of(found, pieces.start, block)
        columns = tuple(scan.at(found, halves) for scan in scans)
        whose, origin = pieces.group[found.first], pieces.origin[found.first]
        return Results(self.branch.node, whose, found.start - offset, origin, columns)

    def _tell(self, start: Array, pieces: Array) -> None:
        if self.read is not None:
            self.read(self.branch.node, start, pieces)

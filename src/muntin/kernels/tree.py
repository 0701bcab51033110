"""Evaluate a whole tree over sorted pieces: every node from the pieces of its parent.

Four ways to make a node, by what it is and what it is made of:

    cut     slices of finer slices: each piece falls into one, neighbours are merged
    scan    a window of disjoint pieces (slices, a tumbling window): two scans of the pieces and one
            combine a result, however much it overlaps itself; on a grid where most of its cells
            hold something (`kernels.grid`), else by index (`kernels.scans`). Neighbours that hold
            the same can be made once, as a run: it pays where few pieces reach many instances
    open    a window of slices that ends within one: its whole slides are scanned, and the running
            partial of the slice that is open where it ends is added (`kernels.opened`)
    gather  a window of a window that overlaps itself: the same along its chains
            (`kernels.chains`); a few pieces a result are read one by one
    stair   a window of a narrower one that ends with it: its delta is scanned from the pieces that
            the stairs stand on (`foot`), and merged with the narrower instance

What is computed of a node are pieces again, for the nodes below it. Where only some instances are
wanted, as in a step of a stream, pieces are looked at only as far as they reach (`span_of`), and of
each node only those instances are made that are wanted or needed for others (`begins_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from muntin.kernels.chains import Chains
from muntin.kernels.grid import Grid, grids
from muntin.kernels.grouping import Grouping
from muntin.kernels.instances import Instances, instances, runs
from muntin.kernels.monoids import Array, Monoid
from muntin.kernels.opened import Join, OpenSlices
from muntin.kernels.pieces import Bounds, Keep, Pieces, Results, as_pieces, bound_of
from muntin.kernels.scans import Scans, Unscanned
from muntin.model.windows import Window
from muntin.plan.feeds import Feed
from muntin.plan.slicing import Slices

FEW = 3
"""Up to this many instances of a group are reduced one by one."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A node to compute from the pieces of its parent, and the nodes computed from its own.

    `feeds` say which pieces of a parent that overlaps itself make an instance; without them all
    that start within it do. One that `is_open` ends within a piece of its parent, of which it reads
    what lies within it; that parent is made of finer pieces. A stair has a `delta`: how long it
    reaches back beyond its parent.
    """

    node: int
    shape: Window | Slices
    asked: bool
    branches: tuple[Branch, ...] = ()
    feeds: tuple[Feed, ...] = ()
    is_open: bool = False
    delta: int = 0

    @property
    def widest(self) -> int:
        """The longest range in this branch: all pieces of an instance start within it."""
        own = self.shape.range if isinstance(self.shape, Window) else 0
        return max(own, *(b.widest for b in self.branches), 0)

    @property
    def is_flight(self) -> bool:
        """Whether it is a window of slices, with stairs on it and windows of one piece, if any."""
        above = all(b.delta or [f.count for f in b.feeds] == [1] for b in self.branches)
        return isinstance(self.shape, Window) and above and all(b.is_flight for b in self.branches)

    @property
    def windows(self) -> dict[int, Window]:
        """The windows asked for in this branch, by number."""
        own = {self.node: self.shape} if self.asked and isinstance(self.shape, Window) else {}
        for branch in self.branches:
            own |= branch.windows
        return own


Between = Callable[[Window], Bounds]
"""The first and the last begin of a window's wanted instances, of all groups or of each; the last
is before the first where none is wanted."""

Read = Callable[[int, Array, Array], None]
"""Told of a node, the starts of some of its instances, and how many pieces of its parent each of
them was made of: what tests hold explain() to."""

_NEVER, _EVER = 2**62, -(2**62)
"""Later and earlier than all instants, with room for a range."""


def evaluate_tree(
    branches: Sequence[Branch],
    pieces: Pieces,
    monoids: tuple[Monoid, ...],
    between: Between | None = None,
    keep: Keep | None = None,
    read: Read | None = None,
    opened: OpenSlices | None = None,
    foot: Pieces | None = None,
    in_runs: Collection[int] = (),
) -> Iterator[Results]:
    """The instances of every window asked for that are wanted, in portions: all, unless told.

    Those of some nodes may come as runs (`Results.times`), if nothing is made of them.

    Where they lie between two begins, only the pieces that they need are looked at; `keep` then
    tells which of these instances are wanted. `opened` has what the pieces are made of, where some
    of these nodes end within one; `foot` are the pieces that stairs stand on.
    """
    for branch in branches:
        span = None if between is None else span_of(branch, between)
        own = pieces if span is None else pieces.within(*span)
        under = own if foot is None or not branch.delta else foot
        if under is not own and span is not None:
            under = under.within(*span)
        if not len(own.start) and not len(under.start):
            continue
        below: list[Results] = []
        limits = None if between is None else begins_of(branch, between)
        repeats = branch.node in in_runs and not branch.branches and keep is None
        making = _Making(branch, own, under, monoids, limits, read, opened, repeats)
        for results in making.results():
            if branch.branches:
                below.append(results)
            if branch.asked:
                yield _wanted(results, branch, between, keep)
        if branch.branches:  # even if there is nothing: a stair may have records in its delta alone
            inner = as_pieces(below) if below else own.between(slice(0, 0))
            stand, finer = inner if isinstance(branch.shape, Slices) else under, making.opens
            yield from evaluate_tree(
                branch.branches, inner, monoids, between, keep, read, finer, stand, in_runs
            )


def span_of(branch: Branch, between: Between) -> Bounds:
    """From where to where pieces are needed for what is wanted of a branch; nowhere is empty.

    All that an instance is made of, however deep the tree, lies within it.
    """
    spans = [span_of(each, between) for each in branch.branches]
    if branch.asked and isinstance(branch.shape, Window):
        first, last = between(branch.shape)
        none = np.less(last, first)
        end = np.add(last, branch.shape.range)
        spans.append((np.where(none, _NEVER, first), np.where(none, _EVER, end)))
    lows, highs = zip(*spans, strict=True)
    return reduce(np.minimum, lows), reduce(np.maximum, highs)


def begins_of(branch: Branch, between: Between) -> Bounds:
    """The first and the last begin of the instances of a window that are needed; none if crossed.

    These are the wanted ones, those that stairs above end with, and all that lie within others.
    """
    window = branch.shape
    if not isinstance(window, Window):
        return _NEVER, _EVER  # slices are made wherever there are pieces
    needed: list[Bounds] = []
    if branch.asked:
        low, high = between(window)
        first = np.add(low, np.mod(np.subtract(window.offset, low), window.slide))
        last = np.subtract(high, np.mod(np.subtract(high, window.offset), window.slide))
        needed.append((first, last))
    for each in branch.branches:
        low, high = begins_of(each, between)
        if each.delta:
            needed.append((np.add(low, each.delta), np.add(high, each.delta)))
        else:
            assert isinstance(each.shape, Window), "slices are never made of windows"
            needed.append((low, np.add(high, each.shape.range - window.range)))
    crossed = [np.less(last, first) for first, last in needed]
    lows = (np.where(none, _NEVER, low) for none, (low, _) in zip(crossed, needed, strict=True))
    highs = (np.where(none, _EVER, high) for none, (_, high) in zip(crossed, needed, strict=True))
    return reduce(np.minimum, lows), reduce(np.maximum, highs)


def _wanted(
    results: Results, branch: Branch, between: Between | None, keep: Keep | None
) -> Results:
    """What is asked for among instances that were made, some of them for other nodes."""
    assert isinstance(branch.shape, Window), "slices are never asked for"
    wanted: Array | None = None
    if between is not None and branch.branches:
        low, high = (bound_of(x, results.group) for x in between(branch.shape))
        wanted = (results.start >= low) & (results.start <= high)
    if keep is not None:
        kept = keep(results.group, results.start, branch.shape)
        wanted = kept if wanted is None else wanted & kept
    return results if wanted is None or wanted.all() else results.where(wanted)


@dataclass(frozen=True)
class _Making:
    """One node made of pieces: its instances that begin within limits, and who is told."""

    branch: Branch
    pieces: Pieces
    foot: Pieces
    monoids: tuple[Monoid, ...]
    limits: Bounds | None
    read: Read | None
    opened: OpenSlices | None
    in_runs: bool

    @cached_property
    def opens(self) -> OpenSlices | None:
        """These slices with what they are made of, if a node below reads one that is open."""
        if not any(below.is_open for below in self.branch.branches):
            return None
        assert isinstance(self.branch.shape, Slices), "only slices are read open"
        return OpenSlices.cut(self.pieces, self._begun(self.branch.shape), self.monoids)

    def results(self) -> Iterator[Results]:
        """The node's instances or slices in portions."""
        shape, feeds = self.branch.shape, self.branch.feeds
        if isinstance(shape, Slices):
            yield self._cut(shape)
        elif self.branch.is_open:
            yield from self._opened(shape)
        elif self.branch.delta:
            yield from self._stair(shape)
        elif not feeds:
            yield from self._scanned(shape, self.pieces, self.in_runs)
        else:
            parts = [part for feed in feeds for part in self._gathered(shape, feed)]
            if len(feeds) == 1:
                yield from parts
            elif parts:
                yield self._merged(as_pieces(parts))

    def _cut(self, slices: Slices) -> Results:
        if self.opens is not None:
            own = self.opens.slices
            self._tell(own.start, self.opens.sizes)
            return Results(self.branch.node, own.group, own.start, own.origin, own.columns)
        pieces, start = self.pieces, self._begun(slices)
        made = self._merged(Pieces(pieces.group, start, pieces.origin, pieces.columns))
        if self.read is not None:
            ends = np.flatnonzero(
                (start[1:] != start[:-1]) | (pieces.group[1:] != pieces.group[:-1])
            )
            self._tell(made.start, np.diff([-1, *ends, len(start) - 1]))
        return made

    def _begun(self, slices: Slices) -> Array:
        """Where the slice of every piece begins."""
        start = self.pieces.start
        begun = [start - (start - cut.phase) % cut.step for cut in slices.cuts]
        return np.asarray(np.maximum.reduce(begun))

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

    def _opened(self, window: Window) -> Iterator[Results]:
        """Whole slides, then the rest of each instance; some instances have only that."""
        assert self.opened is not None, "whoever cuts the slices keeps what they are made of"
        limits, whole = self.limits, window.range - window.range % window.slide
        rest = self.opened.rest(window).between(limits)
        self._tell(rest.start, rest.slices)
        join = Join(rest, window, self.monoids)
        for results in self._scanned(Window(whole, window.slide, window.offset), self.pieces):
            yield join.with_rest(results)
        yield join.left(self.branch.node)

    def _stair(self, window: Window) -> Iterator[Results]:
        """Instances of the narrower window, each with the delta before it; either may be empty."""
        delta, pieces = self.branch.delta, self.foot
        read = Window(max(delta, window.slide), window.slide, window.offset)
        if delta < window.slide:  # of every slide only what is in a delta
            inside = (pieces.start - window.offset) % window.slide < delta
            pieces = pieces.take(np.flatnonzero(inside))
        parts = list(self._scanned(read, pieces)) if len(pieces.start) else []
        narrow = self._ending(window)
        if not len(narrow.start):
            yield from parts
        elif not parts:
            yield narrow
        else:  # the delta first: it is the older one
            yield self._merged(as_pieces([*parts, narrow]))

    def _ending(self, window: Window) -> Results:
        """The instances of the parent that end where one of the window does, under its start."""
        pieces = self.pieces
        start = pieces.start - self.branch.delta
        ends = (start - window.offset) % window.slide == 0
        if self.limits is not None:
            low, high = (bound_of(limit, pieces.group) for limit in self.limits)
            ends &= (start >= low) & (start <= high)
        kept = pieces.take(np.flatnonzero(ends))
        self._tell(start[ends], np.ones(len(kept.start), dtype=np.int64))
        return Results(self.branch.node, kept.group, start[ends], kept.origin, kept.columns)

    def _scanned(self, window: Window, pieces: Pieces, in_runs: bool = False) -> Iterator[Results]:
        limits = self.limits
        if limits is not None:
            first, last = limits
            pieces = pieces.within(first, np.add(last, window.range))
            if not len(pieces.start):
                return
        if in_runs:
            yield self._in_runs(runs(pieces.group, pieces.start, window, limits), window, pieces)
            return
        few = limits is not None and bool(np.all((last - first) // window.slide < FEW))
        found = None if few else grids(pieces, window, limits)
        if found is not None:
            for grid in found:
                yield self._on_grid(grid)
            return
        scans = self._scans(pieces, pieces.group, window, few)
        for some in instances(pieces.group, pieces.start, window, between=limits):
            yield self._answered(some, pieces, scans, window.slide)

    def _in_runs(self, found: Instances, window: Window, pieces: Pieces) -> Results:
        few = int((found.last - found.first).sum()) <= FEW * len(found.start)
        scans = self._scans(pieces, pieces.group, window, few)
        return self._answered(found, pieces, scans, window.slide)

    def _on_grid(self, grid: Grid) -> Results:
        group, start, origin = grid.instances()
        if self.read is not None:
            self._tell(start, grid.held())
        columns = zip(grid.pieces.columns, self.monoids, strict=True)
        partials = tuple(grid.evaluate(arrays, monoid) for arrays, monoid in columns)
        return Results(self.branch.node, group, start, origin, partials)

    def _gathered(self, window: Window, feed: Feed) -> Iterator[Results]:
        chains = Chains.of(self.pieces, feed, self.limits)
        if not len(chains.chain):
            return
        few = chains.fed <= 2 * len(chains.chain) + chains.fed / feed.count
        scans = self._scans(chains.pieces, chains.chain, chains.block, few)
        for found in chains.instances():
            yield self._answered(found, chains.pieces, scans, chains.step, feed.offset)

    def _scans(self, pieces: Pieces, group: Array, block: Window, few: bool) -> Scans | Unscanned:
        if few:
            return Unscanned(pieces.columns, self.monoids)
        return Scans.of(group, pieces.start, block, pieces.columns, self.monoids)

    def _answered(
        self,
        found: Instances,
        pieces: Pieces,
        scans: Scans | Unscanned,
        slide: int,
        offset: int = 0,
    ) -> Results:
        """The partials of instances that start `offset` before their first piece may."""
        self._tell_of(found, offset, slide)
        columns = scans.at(found)
        whose, origin = pieces.group[found.first], pieces.origin[found.first]
        return Results(self.branch.node, whose, found.start - offset, origin, columns, found.times)

    def _tell_of(self, found: Instances, offset: int, slide: int) -> None:
        """Every instance, those of a run too."""
        if self.read is None:
            return
        start, pieces = found.start - offset, found.last - found.first + 1
        if found.times is not None:
            turn = np.arange(int(found.times.sum()))
            turn -= np.repeat(np.cumsum(found.times) - found.times, found.times)
            start = np.repeat(start, found.times) + turn * slide
            pieces = np.repeat(pieces, found.times)
        self.read(self.branch.node, start, pieces)

    def _tell(self, start: Array, pieces: Array) -> None:
        if self.read is not None:
            self.read(self.branch.node, start, pieces)

"""Slices that are read while they are open: the running partial of each, where instances end.

order  fragments sorted by group and start      needs  a monoid, which need not commute
time   one scan of the fragments for all windows, then one combine a result

Slices are cut only where instances begin (Cutty, section 5), so an instance of W(r, s) ends within
a slice whenever s does not divide r. With ρ = r mod s it is

    begin                           begin + r - ρ              end
      │ whole slides: W(r - ρ, s) ──── │ slices of others ─ │ open │ ·····
                                       ╰──────── the rest ─────────╯

Whole slides are slices that begin and end at cuts, so they are evaluated as any window of slices.
The rest is what the last slide holds up to the end: the slices that others begin there, and the
running partial of the one that is open. Fragments are what slices are made of, cut at the ends too.

Invariant: element i of `running` combines the fragments of one slice up to the i-th, so the last
of a slice is the slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from muntin.kernels.monoids import Array, Arrays, Monoid
from muntin.kernels.pieces import Bounds, Pieces, Results, bound_of
from muntin.kernels.scans import Segments
from muntin.model.windows import Window

LONG = 64
"""Runs of more elements are scanned as rows of padded blocks."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What the last slides of instances hold of them, sorted by group and start of the instance."""

    group: Array
    start: Array
    origin: Array
    columns: tuple[Arrays, ...]
    slices: Array
    """How many slices each is made of, the open one included."""

    def where(self, kept: Array) -> Rest:
        """Only those that are marked."""
        if kept.all():
            return self
        columns = tuple(tuple(a[kept] for a in arrays) for arrays in self.columns)
        own = self.group[kept], self.start[kept], self.origin[kept]
        return Rest(*own, columns, self.slices[kept])

    def between(self, limits: Bounds | None) -> Rest:
        """Those of instances that begin between two instants, of all groups or of each."""
        if limits is None:
            return self
        low, high = (bound_of(limit, self.group) for limit in limits)
        return self.where((self.start >= low) & (self.start <= high))


@dataclass(frozen=True, slots=True)
class _Slides:
    """Fragments and slices by the slides of a window: the same for all windows of that slide."""

    begin: Array
    """Of each fragment, where its slide begins."""
    into: Array
    """How far into its slide it begins."""
    goes_on: Array
    """Whether the next fragment is of the same slide and group."""
    turn: Array
    """Of each slice, how many are before it in its slide."""
    earlier: tuple[Arrays, ...] | None
    """What its slide holds up to each slice; None where each slide is one."""


@dataclass(frozen=True, slots=True)
class OpenSlices:
    """Fragments, what their slices hold up to each, and the slices."""

    fragments: Pieces
    running: tuple[Arrays, ...]
    of: Array
    """The slice of each fragment, by position."""
    slices: Pieces
    sizes: Array
    """The fragments of each slice."""
    monoids: tuple[Monoid, ...]
    _known: dict[tuple[int, int], _Slides] = field(default_factory=dict)

    @staticmethod
    def cut(fragments: Pieces, begun: Array, monoids: tuple[Monoid, ...]) -> OpenSlices:
        """Slices of fragments, given where the slice of each begins."""
        first = _runs(fragments.group, begun)
        sizes = np.diff(first, append=len(begun))
        last = first + sizes - 1
        running = _prefixes(fragments.columns, first, sizes, monoids)
        whole = tuple(tuple(a[last] for a in arrays) for arrays in running)
        slices = Pieces(fragments.group[first], begun[first], fragments.origin[first], whole)
        of = np.repeat(np.arange(len(first)), sizes)
        return OpenSlices(fragments, running, of, slices, sizes, monoids)

    def rest(self, window: Window) -> Rest:
        """The rest of every instance that has any.

        >>> from muntin.kernels.monoids import Ufuncs
        >>> start, columns = np.array([0, 6, 8, 14]), ((np.array([1, 10, 100, 1000]),),)
        >>> fragments = Pieces(np.zeros(4, int), start, np.arange(4), columns)
        >>> opened = OpenSlices.cut(fragments, start // 8 * 8, (Ufuncs((np.add,), (0,)),))
        >>> rest = opened.rest(Window(14, 8))
        >>> rest.start.tolist(), rest.columns[0][0].tolist()
        ([-8, 0], [1, 100])
        """
        key = window.slide, window.offset
        if key not in self._known:
            self._known[key] = self._by_slide(window)
        slides, left = self._known[key], window.range % window.slide
        inside = slides.into < left
        inside[:-1] &= ~(inside[1:] & slides.goes_on)
        newest = np.flatnonzero(inside)
        turn = slides.turn[self.of[newest]]
        columns = tuple(tuple(a[newest] for a in arrays) for arrays in self.running)
        if slides.earlier is not None:
            columns = self._with_earlier(columns, newest, turn, slides.earlier)
        begin = slides.begin[newest] - (window.range - left)
        group, origin = self.fragments.group[newest], self.fragments.origin[newest]
        return Rest(group, begin, origin, columns, turn + 1)

    def _by_slide(self, window: Window) -> _Slides:
        group, start = self.fragments.group, self.fragments.start
        into = (start - window.offset) % window.slide
        begin = start - into
        goes_on = (begin[1:] == begin[:-1]) & (group[1:] == group[:-1])
        own = self.slices.start - (self.slices.start - window.offset) % window.slide
        first = _runs(self.slices.group, own)
        sizes = np.diff(first, append=len(own))
        turn = np.arange(len(own)) - np.repeat(first, sizes)
        earlier = None
        if len(first) < len(own):
            earlier = _prefixes(self.slices.columns, first, sizes, self.monoids)
        return _Slides(begin, into, goes_on, turn, earlier)

    def _with_earlier(
        self,
        columns: tuple[Arrays, ...],
        newest: Array,
        turn: Array,
        earlier: tuple[Arrays, ...],
    ) -> tuple[Arrays, ...]:
        """Running partials at these fragments, combined with earlier slices of their slide."""
        later = np.flatnonzero(turn)
        before = self.of[newest[later]] - 1
        return tuple(
            _put(
                arrays,
                later,
                monoid.combine(tuple(a[before] for a in older), tuple(a[later] for a in arrays)),
            )
            for arrays, older, monoid in zip(columns, earlier, self.monoids, strict=True)
        )


class Join:
    """Whole slides of instances with the rest of them, portion by portion; then what is left."""

    def __init__(self, rest: Rest, window: Window, monoids: tuple[Monoid, ...]) -> None:
        self._rest, self._window, self._monoids = rest, window, monoids
        self._met = np.zeros(len(rest.start), dtype=np.bool_)

    def with_rest(self, whole: Results) -> Results:
        """The instances of a portion, which is sorted by group and start."""
        if not len(whole.start):
            return whole
        mine, theirs = self._codes(whole)
        low, high = np.searchsorted(theirs, (mine[0], mine[-1] + 1))
        place = np.searchsorted(mine, theirs[low:high])
        hit = mine[place] == theirs[low:high]
        own, place = low + np.flatnonzero(hit), place[hit]
        self._met[own] = True
        columns = []
        for arrays, rest, monoid in zip(
            whole.columns, self._rest.columns, self._monoids, strict=True
        ):
            older, newer = tuple(a[place] for a in arrays), tuple(a[own] for a in rest)
            both = monoid.combine(older, newer)
            columns.append(both if len(place) == len(mine) else _put(arrays, place, both))
        return Results(whole.node, whole.group, whole.start, whole.origin, tuple(columns))

    def left(self, node: int) -> Results:
        """The instances without whole slides."""
        rest = self._rest.where(~self._met)
        return Results(node, rest.group, rest.start, rest.origin, rest.columns)

    def _codes(self, whole: Results) -> tuple[Array, Array]:
        """A number for each instance, the same in both; in their order."""
        start = np.concatenate((whole.start, self._rest.start)) // self._window.slide
        group = np.concatenate((whole.group, self._rest.group))
        low, high = int(start.min()), int(start.max())
        turns = high - low + 1
        if (int(group.max()) + 1) * turns >= 2**62:
            known, start = np.unique(start, return_inverse=True)
            low, turns = 0, len(known)
        code = group.astype(np.int64) * turns + (start - low)
        return code[: len(whole.start)], code[len(whole.start) :]


def _runs(group: Array, start: Array) -> Array:
    """The first of every run of equal groups and starts."""
    changes = (group[1:] != group[:-1]) | (start[1:] != start[:-1])
    return np.concatenate(([0], np.flatnonzero(changes) + 1))


def _prefixes(
    columns: tuple[Arrays, ...], first: Array, sizes: Array, monoids: tuple[Monoid, ...]
) -> tuple[Arrays, ...]:
    """What every run, so long and from there, holds up to each of its elements.

    Most runs are short: all their second elements are combined at once, then all third ones.
    """
    longest = int(sizes.max(initial=1))
    if longest > LONG:
        segments = Segments.runs(first, sizes)
        pairs = zip(columns, monoids, strict=True)
        return tuple(segments.prefixes(arrays, monoid) for arrays, monoid in pairs)
    turns = [first[sizes > turn] + turn for turn in range(1, longest)]
    return tuple(
        _climb(arrays, turns, monoid) for arrays, monoid in zip(columns, monoids, strict=True)
    )


def _climb(arrays: Arrays, turns: Sequence[Array], monoid: Monoid) -> Arrays:
    """Combine each element with what was combined up to the one before it, turn by turn."""
    done = tuple(a.copy() for a in arrays)
    for place in turns:
        older, newer = tuple(a[place - 1] for a in done), tuple(a[place] for a in done)
        for target, value in zip(done, monoid.combine(older, newer), strict=True):
            target[place] = value
    return done


def _put(arrays: Arrays, place: Array, values: Arrays) -> Arrays:
    copies = tuple(a.copy() for a in arrays)
    for target, value in zip(copies, values, strict=True):
        target[place] = value
    return copies

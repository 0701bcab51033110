"""Evaluate windows over sorted slices: every result is a suffix combined with a prefix.

order  slices sorted by group and start      needs  a monoid, which need not commute
time   two scans of the slices and one combine a result, whatever the overlap

Time is cut into blocks of the window's range. An instance [c, c + r) spans at most two blocks: the
end of one and the beginning of the next (van Herk's idea, in time instead of in positions, so that
slices may be missing and may have any length). Scans run within a block of a group: segments of
like length are laid out as the rows of a padded block and scanned together.

Where each group has only a few instances, as in a step of a stream, reducing each of them by itself
reads fewer slices than two scans do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from muntin.kernels.grouping import Grouping
from muntin.kernels.instances import Instances
from muntin.kernels.monoids import Array, Arrays, Monoid
from muntin.model.windows import Window

Columns = tuple[Arrays, ...]
Monoids = tuple[Monoid, ...]


@dataclass(frozen=True, slots=True)
class Scans:
    """Slices scanned for blocks of a window: ready to answer for any of its instances."""

    start: Array
    block: Window
    prefixes: Columns
    suffixes: Columns
    monoids: Monoids

    @staticmethod
    def of(group: Array, start: Array, block: Window, columns: Columns, monoids: Monoids) -> Scans:
        """Scan every column of slices in both directions."""
        segments = Segments.of(group, start, block)
        pairs = list(zip(columns, monoids, strict=True))
        prefixes = tuple(segments.prefixes(arrays, monoid) for arrays, monoid in pairs)
        suffixes = tuple(segments.suffixes(arrays, monoid) for arrays, monoid in pairs)
        return Scans(start, block, prefixes, suffixes, monoids)

    def at(self, found: Instances) -> Columns:
        """The partials of these instances: the end of one block with the beginning of the next."""
        border = found.start + (self.block.offset - found.start) % self.block.range
        no_left = np.flatnonzero(self.start[found.first] >= border)
        no_right = np.flatnonzero(self.start[found.last] < border)
        answers = []
        for older, newer, monoid in zip(self.suffixes, self.prefixes, self.monoids, strict=True):
            left = _or_identity(older, found.first, no_left, monoid)
            right = _or_identity(newer, found.last, no_right, monoid)
            answers.append(monoid.combine(left, right))
        return tuple(answers)


@dataclass(frozen=True, slots=True)
class Unscanned:
    """Slices as they are: an instance is reduced by itself."""

    columns: Columns
    monoids: Monoids

    def at(self, found: Instances) -> Columns:
        """The partials of these instances, whose slices are read one after the other."""
        alone = tuple(tuple(a[found.first] for a in arrays) for arrays in self.columns)
        several = np.flatnonzero(found.last > found.first)
        if not len(several):
            return alone
        first = found.first[several]
        length = found.last[several] - first + 1
        ends = np.cumsum(length)
        begins = ends - length
        together = Grouping(np.arange(int(ends[-1])) + np.repeat(first - begins, length), begins)
        for targets, arrays, monoid in zip(alone, self.columns, self.monoids, strict=True):
            for target, merged in zip(targets, together.merged(arrays, monoid), strict=True):
                target[several] = merged
        return alone


def _or_identity(scanned: Arrays, index: Array, missing: Array, monoid: Monoid) -> Arrays:
    values = tuple(a[index] for a in scanned)
    for array, nothing in zip(values, monoid.identity, strict=True):
        array[missing] = nothing
    return values


@dataclass(frozen=True, slots=True)
class Segments:
    """Runs of slices in the same group and block of time, laid out as rows of padded blocks.

    Runs of like length share a block: `where` lists its slices, `inside` marks their places. The
    padding is the identity, so that it does not matter on which side of a row it stands.
    """

    blocks: tuple[tuple[Array, Array], ...]

    @staticmethod
    def of(group: Array, start: Array, window: Window) -> Segments:
        """Lay out the slices for scans of this window."""
        block = (start - window.offset) // window.range
        changes = (group[1:] != group[:-1]) | (block[1:] != block[:-1])
        first = np.concatenate(([0], np.flatnonzero(changes) + 1))
        length = np.diff(first, append=len(group))
        return Segments.runs(first, length)

    @staticmethod
    def runs(first: Array, length: Array) -> Segments:
        """Lay out runs of neighbours, so long and from there."""
        like = np.frexp(length.astype(np.float64) - 0.5)[1]
        return Segments(
            tuple(_laid_out(first[like == k], length[like == k]) for k in np.unique(like))
        )

    def prefixes(self, partials: Arrays, monoid: Monoid) -> Arrays:
        """Of every slice, what its run holds up to it."""
        return self._scan(partials, monoid.identity, monoid.prefixes)

    def suffixes(self, partials: Arrays, monoid: Monoid) -> Arrays:
        """Of every slice, what its run holds from it on."""
        return self._scan(partials, monoid.identity, monoid.suffixes)

    def _scan(
        self, partials: Arrays, identity: tuple[object, ...], scan: Callable[[Arrays], Arrays]
    ) -> Arrays:
        done = tuple(np.empty_like(a) for a in partials)
        for where, inside in self.blocks:
            block = tuple(
                _padded(a, where, inside, nothing)
                for a, nothing in zip(partials, identity, strict=True)
            )
            for target, scanned in zip(done, scan(block), strict=True):
                target[where] = scanned[inside]
        return done


def _laid_out(first: Array, length: Array) -> tuple[Array, Array]:
    column = np.arange(int(length.max()))
    inside = column < length[:, None]
    return (first[:, None] + column)[inside], inside


def _padded(values: Array, where: Array, inside: Array, nothing: object) -> Array:
    block: Array = np.full(inside.shape, nothing, dtype=values.dtype)
    block[inside] = values[where]
    return block

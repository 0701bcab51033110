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


@dataclass(frozen=True, slots=True)
class Scans:
    """Slices scanned for one window: ready to answer for any of its instances."""

    prefixes: Arrays
    suffixes: Arrays
    monoid: Monoid

    def at(self, found: Instances, halves: Halves) -> Arrays:
        """The partials of these instances: the end of one block with the beginning of the next."""
        left = _or_identity(self.suffixes, found.first, halves.no_left, self.monoid)
        right = _or_identity(self.prefixes, found.last, halves.no_right, self.monoid)
        return self.monoid.combine(left, right)


@dataclass(frozen=True, slots=True)
class Unscanned:
    """Slices as they are: an instance is reduced by itself."""

    partials: Arrays
    monoid: Monoid

    def at(self, found: Instances, halves: Halves) -> Arrays:
        """The partials of these instances, whose slices are read one after the other."""
        length = found.last - found.first + 1
        ends = np.cumsum(length)
        begins = ends - length
        order = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(
            found.first - begins, length
        )
        return Grouping(order, begins).merged(self.partials, self.monoid)


def _or_identity(scanned: Arrays, index: Array, missing: Array, monoid: Monoid) -> Arrays:
    values = tuple(a[index] for a in scanned)
    for array, nothing in zip(values, monoid.identity, strict=True):
        array[missing] = nothing
    return values


@dataclass(frozen=True, slots=True)
class Halves:
    """Which instances have no slice before the border of their two blocks, or none after it."""

    no_left: Array
    no_right: Array

    @staticmethod
    def of(found: Instances, start: Array, window: Window) -> Halves:
        """Where the border of each instance falls among its slices."""
        border = found.start + (window.offset - found.start) % window.range
        no_left, no_right = start[found.first] >= border, start[found.last] < border
        return Halves(np.flatnonzero(no_left), np.flatnonzero(no_right))


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

    def scan(self, partials: Arrays, monoid: Monoid) -> Scans:
        """Scan every run by itself, in both directions."""
        prefixes = self._scan(partials, monoid.identity, monoid.prefixes)
        suffixes = self._scan(partials, monoid.identity, monoid.suffixes)
        return Scans(prefixes, suffixes, monoid)

    def prefixes(self, partials: Arrays, monoid: Monoid) -> Arrays:
        """Of every slice, what its run holds up to it."""
        return self._scan(partials, monoid.identity, monoid.prefixes)

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

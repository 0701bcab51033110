"""Evaluate windows over sorted slices: every result is a suffix combined with a prefix.

order  slices sorted by group and start      needs  a monoid, which need not commute
time   two scans of the slices and one combine a result, whatever the overlap

Time is cut into blocks of the window's range. An instance [c, c + r) spans at most two blocks: the
end of one and the beginning of the next (van Herk's idea, in time instead of in positions, so that
slices may be missing and may have any length). Scans run within a block of a group: segments of
like length are laid out as the rows of a padded block and scanned together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muntin.kernels.instances import Instances
from muntin.kernels.monoids import Array, Arrays, Monoid
from muntin.windows import Window


@dataclass(frozen=True, slots=True)
class Scans:
    """Slices scanned for one window: ready to answer for any of its instances."""

    window: Window
    start: Array
    prefixes: Arrays
    suffixes: Arrays
    monoid: Monoid

    @staticmethod
    def of(group: Array, start: Array, partials: Arrays, window: Window, monoid: Monoid) -> Scans:
        """Scan the slices of each block of time in both directions."""
        segments = Segments.of(group, (start - window.offset) // window.range)
        prefixes = segments.scan(partials, monoid, forward=True)
        suffixes = segments.scan(partials, monoid, forward=False)
        return Scans(window, start, prefixes, suffixes, monoid)

    def at(self, found: Instances) -> Arrays:
        """The partials of these instances: the end of one block with the beginning of the next."""
        border = found.start + (self.window.offset - found.start) % self.window.range
        in_left, in_right = self.start[found.first] < border, self.start[found.last] >= border
        left = _or_identity(self.suffixes, found.first, in_left, self.monoid)
        right = _or_identity(self.prefixes, found.last, in_right, self.monoid)
        return self.monoid.combine(left, right)


def _or_identity(scanned: Arrays, index: Array, there: Array, monoid: Monoid) -> Arrays:
    values = tuple(a[index] for a in scanned)
    for array, nothing in zip(values, monoid.identity, strict=True):
        array[~there] = nothing
    return values


@dataclass(frozen=True, slots=True)
class Segments:
    """Runs of slices that lie in the same group and the same block of time."""

    first: Array
    length: Array

    @staticmethod
    def of(group: Array, block: Array) -> Segments:
        """The runs of equal (group, block)."""
        changes = (group[1:] != group[:-1]) | (block[1:] != block[:-1])
        first = np.concatenate(([0], np.flatnonzero(changes) + 1))
        return Segments(first, np.diff(np.concatenate((first, [len(group)]))))

    def scan(self, partials: Arrays, monoid: Monoid, forward: bool) -> Arrays:
        """Scan each run by itself: runs of like length together, padded to their longest.

        Padding stands where the scan ends, so that it never reaches a value.
        """
        out = tuple(np.empty_like(a) for a in partials)
        scan = monoid.prefixes if forward else monoid.suffixes
        size_class = np.ceil(np.log2(self.length)).astype(np.int64)
        for size in np.unique(size_class):
            chosen = size_class == size
            first, length = self.first[chosen], self.length[chosen]
            width = int(length.max())
            column = np.arange(width)
            shift = (np.zeros_like(length) if forward else width - length)[:, None]
            inside = column < length[:, None] if forward else column >= shift
            where = (first[:, None] + column - shift)[inside]
            block = tuple(
                _padded(a, where, inside, nothing)
                for a, nothing in zip(partials, monoid.identity, strict=True)
            )
            for target, scanned in zip(out, scan(block), strict=True):
                target[where] = scanned[inside]
        return out


def _padded(values: Array, where: Array, inside: Array, nothing: object) -> Array:
    block: Array = np.full(inside.shape, nothing, dtype=values.dtype)
    block[inside] = values[where]
    return block

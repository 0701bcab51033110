"""Windows made of windows that overlap themselves: which pieces follow each other in an instance.

order  pieces of the parent sorted by group and start      needs  a monoid, which need not commute
time   two scans of the pieces and one combine a result, or the pieces of each result if fewer

An instance of a day from instances of 1 hour/5 minutes takes 24 of these, an hour apart. Instances
an hour apart are a chain; there are twelve of them, one for each place of a start within the hour.
Within its chain an instance of the day is a run of 24 neighbours: what a tumbling parent's pieces
are for any window. So a chain is evaluated as slices are (`kernels.evaluate`), with the chain in
the place of the group.

Which instances a piece at p feeds is a congruence (`plan.feeds`): the newest begins at p - turn ·
stride, the others follow in steps of turns · stride, as many as fit in the progression. Begins are
those of the first piece, which is the child's own start but for the offset of the progression.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from muntin.kernels.instances import Instances, reached
from muntin.kernels.monoids import Array
from muntin.kernels.pieces import Bounds, Pieces, bound_of
from muntin.model.windows import Window
from muntin.plan.feeds import Feed


@dataclass(frozen=True, slots=True)
class Chains:
    """The pieces that feed a child, in the order of their chains."""

    pieces: Pieces
    chain: Array
    oldest: Array
    newest: Array
    step: int
    block: Window
    """A block of time as long as a run of pieces: what is scanned together."""

    @staticmethod
    def of(pieces: Pieces, feed: Feed, limits: Bounds | None = None) -> Chains:
        """The chains of one progression; of instances that start between limits, if given."""
        shift = pieces.start - feed.offset - feed.origin
        turn = shift // feed.gcd % feed.turns * feed.inverse % feed.turns
        fits = (shift % feed.gcd == 0) & (turn < feed.count)
        step = feed.turns * feed.stride
        newest = pieces.start - turn * feed.stride
        oldest = newest - (feed.count - 1 - turn) // feed.turns * step
        if limits is not None:
            low, high = (bound_of(limit, pieces.group) + feed.offset for limit in limits)
            oldest = oldest + np.maximum(-((oldest - low) // step), 0) * step
            newest = newest - np.maximum(-((high - newest) // step), 0) * step
            fits &= oldest <= newest
        rows = np.flatnonzero(fits)
        place = pieces.start[rows] % feed.stride
        order = rows[np.lexsort((pieces.start[rows], place, pieces.group[rows]))]
        ordered = pieces.take(order)
        chain = _numbered(ordered.group, ordered.start % feed.stride)
        length = feed.count * feed.stride
        block = Window(length, length, id="block")
        return Chains(ordered, chain, oldest[order], newest[order], step, block)

    @property
    def fed(self) -> int:
        """How often a piece is part of an instance."""
        return int(((self.newest - self.oldest) // self.step + 1).sum())

    def instances(self) -> Iterator[Instances]:
        """Every instance once with its first and last piece, chain by chain, in portions."""
        yield from reached(self.chain, self.oldest, self.newest, self.step)


def _numbered(*columns: Array) -> Array:
    """Numbers for runs of equal rows."""
    changes = np.zeros(max(len(columns[0]) - 1, 0), dtype=np.bool_)
    for column in columns:
        changes |= column[1:] != column[:-1]
    begin = [0] if len(columns[0]) else []
    return np.concatenate((begin, np.cumsum(changes))).astype(np.int64)

"""Which events the frame of each row holds: a run of positions among the sorted events.

order  events and rows sorted by group and time      time  one search a row and frame

Group and time make one number that sorts as both do, so that all rows of all groups are searched
for at once. Instants are whole, so "at most x" is "less than x + 1", and every bound is one search;
frames that end alike share it, and where the rows are the events, their own places answer it. What
is searched for is in order too: the places of some of it bound those of the rest, so that a search
stays within a few events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from muntin.kernels.monoids import Array
from muntin.model.choices import Closed
from muntin.model.frames import Trailing

CARRIED = -(2**61)
"""The instant of what stands for all older events of a group: before every frame with a bound."""

_WORD = 2**62
_STRIDE = 2048
"""So many searches are bounded by their neighbours together."""


@dataclass(frozen=True, slots=True)
class Line:
    """Events or rows in order: the group and the instant of each."""

    group: Array
    time: Array

    def __len__(self) -> int:
        return len(self.group)


Bounds = tuple[Array, Array]
"""Of each row the first event of its frame, and the one after the last."""


def find_frames(
    events: Line, rows: Line, frames: Sequence[Trailing], closed: Closed
) -> list[Bounds]:
    """The events low … high − 1 of every row's frame.

    >>> line = Line(np.array([0, 0, 0, 1]), np.array([10, 20, 30, 30]))
    >>> from muntin.model.frames import trailing
    >>> [(low, high)] = find_frames(line, line, [trailing("15us")], "left")
    >>> (high - low).tolist()
    [0, 1, 1, 0]
    """
    search = _Search.of(events, max(_largest(events), _largest(rows)))
    found: list[Bounds] = []
    ends: dict[int, Array] = {}
    for frame in frames:
        until = rows.time - frame.delay if frame.delay else rows.time
        if frame.delay not in ends:
            inclusive = closed in ("right", "both")
            if rows is events and not frame.delay:
                ends[0] = search.ends(inclusive)
            else:
                ends[frame.delay] = search.before(rows.group, until + 1 if inclusive else until)
        high = ends[frame.delay]
        if frame.length is not None:
            oldest = until - frame.length
            if frame.grain:
                oldest -= oldest % frame.grain
            inclusive = closed in ("left", "both")
            low = search.before(rows.group, oldest if inclusive else oldest + 1)
        elif frame.rows is not None:
            low = np.maximum(high - frame.rows, search.before(rows.group, CARRIED))
        else:
            low = search.starts(rows.group)
        found.append((low, high))
    return found


def _largest(line: Line) -> int:
    return int(line.group[-1]) if len(line) else 0


@dataclass(frozen=True, slots=True)
class _Search:
    """Sorted events as one number each: what is carried, then the instants of a group in order."""

    codes: Array
    origin: int
    width: int
    instants: Array | None
    """The distinct instants, where group and time do not fit into one number as they are."""

    @staticmethod
    def of(events: Line, last_group: int) -> _Search:
        own = events.time[events.time > CARRIED]
        origin, newest = (int(own.min()), int(own.max())) if len(own) else (0, 0)
        width, instants, time = newest - origin + 3, None, events.time
        if width * (last_group + 2) >= _WORD:
            instants = np.unique(own)
            ranks = np.searchsorted(instants, events.time)
            time = np.where(events.time > CARRIED, ranks, -1)
            origin, width = 0, len(instants) + 2
        place = np.clip(time - (origin - 1), 0, None)
        return _Search(events.group * width + place, origin, width, instants)

    def before(self, group: Array, time: Array | int) -> Array:
        """How many events stand before this instant of this group; what is carried always does."""
        if self.instants is not None:
            time = np.searchsorted(self.instants, time)
        place = np.maximum(np.minimum(time - (self.origin - 1), self.width - 1), 1)
        return _places(self.codes, group * self.width + place)

    def ends(self, inclusive: bool) -> Array:
        """How many events stand before each event's own instant, or up to its end."""
        codes = self.codes
        first = np.concatenate(([0], np.flatnonzero(codes[1:] != codes[:-1]) + 1))
        size = np.diff(first, append=len(codes))
        return np.repeat(first + size if inclusive else first, size)

    def starts(self, group: Array) -> Array:
        """How many events stand before this group."""
        return _places(self.codes, group * self.width)


def _places(codes: Array, wanted: Array) -> Array:
    """How many of the codes are less than each of these; both are in order.

    >>> _places(np.array([3, 5, 5, 9]), np.array([3, 5, 6, 10])).tolist()
    [0, 1, 3, 4]
    """
    if len(wanted) <= _STRIDE:
        return np.asarray(np.searchsorted(codes, wanted))
    found = np.empty(len(wanted), dtype=np.int64)
    bounds = np.searchsorted(codes, np.append(wanted[::_STRIDE], wanted[-1])).tolist()
    for turn, (low, high) in enumerate(pairwise(bounds)):
        own = slice(turn * _STRIDE, (turn + 1) * _STRIDE)
        np.add(np.searchsorted(codes[low:high], wanted[own]), low, out=found[own])
    return found

"""From sorted slices to the instances of a window that are not empty.

Slices are sorted by group (a key) and start. Slice p lies in the instances from F(p), the oldest
that still reaches it, to L(p), the newest that has begun; an instance exists where some slice
lies in it. The oldest slice of an instance is the first to reach it, and the newest the last:

    slice i is the oldest of the instances in (L(p_{i-1}), L(p_i)]  that contain it
    slice i is the newest of the instances in [F(p_i), F(p_{i+1}))  that contain it

Both sequences list every instance once and in order, so two `repeat`s find all instances together
with their first and last slices: no search, whatever the overlap. Few slices may reach very many
instances (a day sliding by a minute: 1,440 each), so these come in portions of bounded size. Where
only the instances that begin in some interval are wanted, both sequences are clipped to it.

Neighbours with the same oldest and the same newest slice hold the same: they are a run. Where few
slices reach many instances, runs are far fewer, at most two for each slice, and found without
laying out instances: they end where an owner of either sequence does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from muntin.kernels.monoids import Array
from muntin.kernels.pieces import Bounds, bound_of
from muntin.model.windows import Window

PORTION = 1_000_000
"""At most about this many instances are laid out at a time."""
LONGEST = 100_000
"""So many neighbours are a run at most, since whoever repeats it lays them out together."""


@dataclass(frozen=True, slots=True)
class Instances:
    """Instances in order: where each starts, and its first and last slice by position.

    Of runs, each stands for so many neighbours, of which it is the first: `times`.
    """

    start: Array
    first: Array
    last: Array
    times: Array | None = None


def instances(
    group: Array,
    start: Array,
    window: Window,
    portion: int = PORTION,
    between: Bounds | None = None,
) -> Iterator[Instances]:
    """All instances that some slice lies in, in portions.

    `between` are the first and the last begin that are wanted, of all groups or of each, both
    begins of instances; every slice must then lie in a wanted instance.

    >>> [found] = instances(np.array([0, 0]), np.array([0, 7]), Window(6, 2))
    >>> found.start.tolist(), found.first.tolist(), found.last.tolist()
    ([-4, -2, 0, 2, 4, 6], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1])
    """
    oldest, newest = _reach(group, start, window, between)
    yield from reached(group, oldest, newest, window.slide, portion)


def reached(
    group: Array, oldest: Array, newest: Array, slide: int, portion: int = PORTION
) -> Iterator[Instances]:
    """The instances from the oldest to the newest of each slice, every one once, in portions."""
    before, begun, ended = _listed(group, oldest, newest, slide)
    earlier = np.concatenate(([0], begun[:-1]))
    for low in range(0, int(begun[-1]) if len(begun) else 0, portion):
        high = min(low + portion, int(begun[-1]))
        first, last = _owners(begun, low, high), _owners(ended, low, high)
        turn = np.arange(low + 1, high + 1) - earlier[first]
        yield Instances(before[first] + turn * slide, first, last)


def runs(
    group: Array,
    start: Array,
    window: Window,
    between: Bounds | None = None,
    longest: int = LONGEST,
) -> Instances:
    """The same instances as runs of neighbours that hold the same slices, none longer than told.

    >>> found = runs(np.array([0, 0]), np.array([0, 7]), Window(6, 2))
    >>> found.start.tolist(), found.times.tolist(), found.last.tolist()
    ([-4, 2], [3, 3], [0, 1])
    """
    slide = window.slide
    oldest, newest = _reach(group, start, window, between)
    before, begun, ended = _listed(group, oldest, newest, slide)
    cuts = np.arange(longest, begun[-1] if len(begun) else 0, longest)
    ends = np.sort(np.concatenate((begun, ended, cuts)), kind="stable")  # merges what is sorted
    ends = ends[np.flatnonzero(np.diff(ends, prepend=0))]
    at = np.concatenate(([0], ends[:-1])) if len(ends) else ends
    first, last = (np.searchsorted(counted, at, side="right") for counted in (begun, ended))
    turn = at + 1 - np.concatenate(([0], begun[:-1]))[first]
    return Instances(before[first] + turn * slide, first, last, ends - at)


def _reach(
    group: Array, start: Array, window: Window, between: Bounds | None
) -> tuple[Array, Array]:
    """The oldest and the newest wanted instance of every slice."""
    newest = start - (start - window.offset) % window.slide
    oldest = newest - (window.range - 1 - (start - newest)) // window.slide * window.slide
    if between is None:
        return oldest, newest
    low, high = (bound_of(bound, group) for bound in between)
    return np.maximum(oldest, low), np.minimum(newest, high)


def _listed(group: Array, oldest: Array, newest: Array, slide: int) -> tuple[Array, Array, Array]:
    """Behind which instance each slice is the oldest; running counts of those it is the oldest of,
    and of those it is the newest of."""
    same = group[1:] == group[:-1]
    before, after = oldest - slide, newest + slide
    before[1:] = np.where(same, np.maximum(before[1:], newest[:-1]), before[1:])
    after[:-1] = np.where(same, np.minimum(after[:-1], oldest[1:]), after[:-1])
    return before, np.cumsum((newest - before) // slide), np.cumsum((after - oldest) // slide)


def _owners(counted: Array, low: int, high: int) -> Array:
    """To which slice instances low … high - 1 belong, given running counts."""
    own = np.clip(counted, low, high)
    return np.repeat(np.arange(len(counted)), np.diff(own, prepend=low))

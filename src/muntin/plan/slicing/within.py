"""How many slices an instance of a window is made of, on average over its instances.

time  O(cuts in a common period); r·E where that period is long

With E edges in a unit of time, r·E is the mean over intervals that begin anywhere (`mean_slices`):
what the papers' costs count. A window that ends within an open slice reads that slice too: ⌈r·E⌉,
which is exactly Cutty's ⌈r/s⌉ where the slices are its own, and an estimate where they are shared.
But instances begin at cuts: W(14, 8) on its pairs is made of 6 + 2 + 6, three slices, where r·E
says 3.5. `slices_within` counts these.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, lcm

import numpy as np

from muntin.model.windows import Window
from muntin.plan.coverage import EdgeKind
from muntin.plan.slicing.cuts import Slices
from muntin.plan.slicing.edges import edge_rate

MOST = 10_000
"""Cuts of a period that are written out."""


def _common_period(slide: int, slices: Slices) -> int | None:
    """After how long cuts and begins repeat; None where that has no end in sight."""
    period = slide
    for cut in slices.cuts:
        period = lcm(period, cut.step)
        if period // cut.step > MOST or period >= 2**62:
            return None
    return period


def slices_within(window: Window, slices: Slices, length: int | None = None) -> float:
    """The slices of an instance that is made of whole ones, or of its first `length`.

    >>> from muntin.plan.slicing import pairs
    >>> window = Window(14, 8)
    >>> slices_within(window, pairs(window))
    3.0
    >>> slices_within(window, pairs(window), 6)
    1.0
    """
    length = window.range if length is None else length
    period = _common_period(window.slide, slices)
    if period is None or sum(period // cut.step for cut in slices.cuts) > MOST:
        return length * float(edge_rate(slices))
    cuts = np.unique(np.concatenate([np.arange(c.phase, period, c.step) for c in slices.cuts]))
    newest = (cuts - window.offset) // window.slide
    oldest = (cuts - length - window.offset) // window.slide
    return int((newest - oldest).sum()) * window.slide / period


def mean_slices(window: Window, slices: Slices, kind: EdgeKind) -> Fraction:
    """Slices an instance.

    >>> from muntin.plan.slicing import cutty, pairs
    >>> w = Window(14, 8)
    >>> [str(mean_slices(w, cut(w), kind)) for cut, kind in zip((pairs, cutty), EdgeKind)]
    ['7/2', '2']
    """
    return mean_slices_at(edge_rate(slices), window, kind)


def mean_slices_at(edges: Fraction, window: Window, kind: EdgeKind) -> Fraction:
    """Slices an instance, with so many edges in a unit of time."""
    mean = window.range * edges
    return Fraction(ceil(mean)) if kind is EdgeKind.PREFIX else mean

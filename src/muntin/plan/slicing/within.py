"""How many slices an instance of a window is made of, on average over its instances.

time  O(cuts in a common period); r·E where that period is long

The edge rate alone, r·E, is the mean over intervals that begin anywhere. Instances begin at cuts:
W(14, 8) on its pairs is made of 6 + 2 + 6, three slices, where r·E says 3.5.
"""

from __future__ import annotations

from math import lcm

import numpy as np

from muntin.model.windows import Window
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


def slices_within(window: Window, slices: Slices) -> float:
    """The slices of an instance that is made of whole ones.

    >>> from muntin.plan.slicing import pairs
    >>> window = Window(14, 8)
    >>> slices_within(window, pairs(window))
    3.0
    """
    period = _common_period(window.slide, slices)
    if period is None or sum(period // cut.step for cut in slices.cuts) > MOST:
        return window.range * float(edge_rate(slices))
    cuts = np.unique(np.concatenate([np.arange(c.phase, period, c.step) for c in slices.cuts]))
    newest = (cuts - window.offset) // window.slide
    oldest = (cuts - window.range - window.offset) // window.slide
    return int((newest - oldest).sum()) * window.slide / period

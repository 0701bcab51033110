"""How many slices make one instance of a window, on average.

A window whose begins and ends are cuts has r·E slices an instance, E edges in a unit of time. One
that ends within an open slice reads that slice too: ⌈r·E⌉, which is exactly Cutty's ⌈r/s⌉ where the
slices are its own, and an estimate where they are shared.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from muntin.model.windows import Window
from muntin.plan.coverage import EdgeKind
from muntin.plan.slicing import Slices, edge_rate


def partials(window: Window, slices: Slices, kind: EdgeKind) -> Fraction:
    """Slices an instance.

    >>> from muntin.plan.slicing import cutty, pairs
    >>> w = Window(14, 8)
    >>> [str(partials(w, cut(w), kind)) for cut, kind in zip((pairs, cutty), EdgeKind)]
    ['7/2', '2']
    """
    return partials_at(edge_rate(slices), window, kind)


def partials_at(edges: Fraction, window: Window, kind: EdgeKind) -> Fraction:
    """Slices an instance, with so many edges in a unit of time."""
    mean = window.range * edges
    return Fraction(ceil(mean)) if kind is EdgeKind.PREFIX else mean

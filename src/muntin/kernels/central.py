"""Central moments of many pairs of pieces at once: Chan's and Pébay's formulas over arrays.

The first array is n. Where one side has no record the other is taken as it is: a difference of
means would be one of nothing, and very large times 0 is NaN.
"""

from __future__ import annotations

import numpy as np

from muntin.kernels.monoids import Array, Arrays


def moments(older: Arrays, newer: Arrays) -> Arrays:
    """(n, mean, M2), as muntin.aggregates.moments has it."""
    (a, mean_a, a2), (b, mean_b, b2) = older, newer
    n, some = a + b, np.maximum(a + b, 1.0)
    d = mean_b - mean_a
    return _or_either(older, newer, (n, mean_a + d * (b / some), a2 + b2 + d * d * a * b / some))


def four_moments(older: Arrays, newer: Arrays) -> Arrays:
    """(n, mean, M2, M3, M4), as muntin.aggregates.moments has it."""
    (a, mean_a, a2, a3, a4), (b, mean_b, b2, b3, b4) = older, newer
    n = np.maximum(a + b, 1.0)
    d = mean_b - mean_a
    m3 = a3 + b3 + d * d * d * a * b * (a - b) / (n * n) + 3 * d * (a * b2 - b * a2) / n
    m4 = (
        a4
        + b4
        + d * d * d * d * a * b * (a * a - a * b + b * b) / (n * n * n)
        + 6 * d * d * (a * a * b2 + b * b * a2) / (n * n)
        + 4 * d * (a * b3 - b * a3) / n
    )
    merged = (a + b, mean_a + d * (b / n), a2 + b2 + d * d * a * b / n, m3, m4)
    return _or_either(older, newer, merged)


def comoments(older: Arrays, newer: Arrays) -> Arrays:
    """(n, mean x, mean y, M2 of x, M2 of y, C), as muntin.aggregates.comoments has it."""
    (a, xa, ya, xxa, yya, xya), (b, xb, yb, xxb, yyb, xyb) = older, newer
    n = np.maximum(a + b, 1.0)
    dx, dy, part = xb - xa, yb - ya, a * b / n
    merged = (
        a + b,
        xa + dx * (b / n),
        ya + dy * (b / n),
        xxa + xxb + dx * dx * part,
        yya + yyb + dy * dy * part,
        xya + xyb + dx * dy * part,
    )
    return _or_either(older, newer, merged)


def _or_either(older: Arrays, newer: Arrays, merged: Arrays) -> Arrays:
    no_older: Array = older[0] == 0
    no_newer: Array = newer[0] == 0
    return tuple(
        np.where(no_older, right, np.where(no_newer, left, both))
        for left, right, both in zip(older, newer, merged, strict=True)
    )

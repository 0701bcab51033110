"""Fit the constants of the Spark cost to measured plans: least squares of relative errors.

    minimise  Σ ((c·w − t)/t)²  +  λ·Σ ((c_k − s·p_k)/(s·p_k))²      subject to c ≥ 0

over plans with work w and measured seconds t. What the plans do not tell apart stays near the prior
p, scaled by how much faster or slower this machine is (s, the median of t over its prediction). The
constants are found one at a time, each set to its best value given the others, until none moves:
the sum is convex, so this converges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from muntin.cost.spark import KINDS, SHIPPED, Constants, Work

WEIGHT = 0.1
"""λ: what holding to the prior weighs, against one plan."""


def fit(works: Sequence[Work], seconds: Sequence[float], prior: Constants = SHIPPED) -> Constants:
    """The constants that predict these seconds best.

    >>> works = [Work(read=n, stage=s) for n in (1e6, 4e6) for s in (1, 5)]
    >>> slow = Constants(read=3e-7, stage=0.2)
    >>> found = fit(works, [slow.seconds(work) for work in works])
    >>> abs(found.seconds(works[0]) / slow.seconds(works[0]) - 1) < 0.1
    True
    """
    measured = np.array(seconds)
    counts = np.array([[getattr(work, kind) for kind in KINDS] for work in works])
    scale = float(np.median(measured / np.array([prior.seconds(work) for work in works])))
    start = np.array([getattr(prior, kind) for kind in KINDS]) * scale
    rows = np.vstack([counts / measured[:, None], np.diag(WEIGHT**0.5 / start)])
    aims = np.concatenate([np.ones(len(measured)), np.full(len(start), WEIGHT**0.5)])
    found = _not_negative(rows, aims, start)
    values: dict[str, Any] = dict(zip(KINDS, map(float, found), strict=True))
    return replace(prior, **values)


def _not_negative(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    aims: np.ndarray[tuple[int], np.dtype[np.float64]],
    start: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Least squares with no negative value, by coordinate descent."""
    found, squares = start.copy(), (rows**2).sum(axis=0)
    left = aims - rows @ found
    for _ in range(20_000):
        before = found.copy()
        for k in range(len(found)):
            value = max(found[k] + float(rows[:, k] @ left) / squares[k], 0.0)
            left -= rows[:, k] * (value - found[k])
            found[k] = value
        if np.all(np.abs(found - before) <= 1e-9 * start):
            break
    return found

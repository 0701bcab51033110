"""kernel: nanoseconds a result of what Spark's workers run (`evaluate_tree`), beside copying.

Portions of slices by the minute of a hundred keys, without holes and with every third slice
missing; min, max and avg of doubles, which are four partials. Copying the same results once with
NumPy is what their memory alone costs.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from rich.console import Console

from lab.registry import Options
from lab.report import new_table
from lab.timing import machine
from muntin.kernels.monoids import Ufuncs
from muntin.kernels.pieces import Pieces
from muntin.kernels.tree import Branch, evaluate_tree
from muntin.model.windows import Window

SLICES, KEYS = 64_000, 100
"""A portion, as the operator takes it."""
WINDOWS = {
    "5 minutes/1 minute": Window("5 minutes", "1 minute"),
    "1 hour/1 minute": Window("1 hour", "1 minute"),
    "1 day/1 minute": Window("1 day", "1 minute"),
    "1 hour/5 minutes": Window("1 hour", "5 minutes"),
    "14 minutes/8 minutes": Window("14 minutes", "8 minutes"),
    "1 hour": Window("1 hour", "1 hour"),
}
PARTIALS = (
    Ufuncs((np.fmin,), (np.nan,)),
    Ufuncs((np.maximum,), (-np.inf,)),
    Ufuncs((np.add,), (0.0,)),
    Ufuncs((np.add,), (0,)),
)


def run(options: Options, console: Console) -> None:
    """Time every window on both kinds of slices."""
    table = new_table(
        f"{SLICES:,} slices of {KEYS} keys, 4 partials; {machine()}",
        *("<window", "<slices", "results", "ns a result", "ns a slice", "× copying the results"),
    )
    for name, window in WINDOWS.items():
        for kind, pieces in (("dense", _pieces(1.0)), ("a third missing", _pieces(2 / 3))):
            best, copy, count = _time(window, pieces, max(options.repeat, 5))
            table.add_row(
                *(name, kind, f"{count:,}", f"{best / count * 1e9:.0f}"),
                *(f"{best / len(pieces.start) * 1e9:.0f}", f"{best / copy:.1f}"),
            )
    console.print(table)


def _pieces(share: float) -> Pieces:
    random = np.random.default_rng(7)
    each = SLICES // KEYS
    kept = np.flatnonzero(np.arange(SLICES) % 3 < 3 * share)
    group = np.repeat(np.arange(KEYS), each)[kept]
    start = np.tile(np.arange(each) * 60_000_000, KEYS)[kept]
    values, counts = random.normal(20.0, 5.0, len(kept)), np.ones(len(kept), dtype=np.int64)
    columns = ((values,), (values,), (values,), (counts,))
    return Pieces(group, start, np.arange(len(kept)), columns)


def _time(window: Window, pieces: Pieces, repeat: int) -> tuple[float, float, int]:
    """The best round of evaluating, and of copying what came out; and how many results."""
    best = copied = float("inf")
    for _ in range(repeat):
        begun = perf_counter()
        found = list(evaluate_tree([Branch(1, window, True)], pieces, PARTIALS))
        best = min(best, perf_counter() - begun)
        arrays = [a for r in found for column in r.columns for a in column]
        begun = perf_counter()
        for array in arrays:
            array.copy()
        copied = min(copied, perf_counter() - begun)
    return best, copied, sum(len(results.start) for results in found)

"""Seconds in process: the kinds of work of `muntin.cost.spark`, as DuckDB and NumPy take them.

DuckDB starts nothing and ships nothing, so there are no stages and workers to pay for; `shipped` is
sorting the pieces of the first level, `returned` is handing results over and finishing them.
"""

from __future__ import annotations

from muntin.cost.spark import Constants

IN_PROCESS = Constants(
    plan=0.02,
    stage=0.0,
    level=0.004,
    worker=0.01,
    read=1.2e-8,
    copied=2.2e-8,
    windowed=2.2e-8,
    grouped=6e-9,
    entered=2e-9,
    exploded=1.1e-8,
    shipped=4e-9,
    scanned=7e-9,
    returned=8e-9,
    cores=1,
    origin="shipped",
)
"""Set by hand from a few timings on two cores, and not fitted: they rank plans, no more. Arrays are
scanned by one core."""

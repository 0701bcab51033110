"""The rows operator: rows split by key and chunk of time, sorted, sliced and mapped in Arrow."""

from __future__ import annotations

from pyspark.sql import DataFrame

from muntin.engines.spark.bind import Bound
from muntin.engines.spark.finishing import finish
from muntin.engines.spark.operators.kernel import evaluate, kernel_of
from muntin.engines.spark.row_partials import lift_rows_once, not_in_arrow
from muntin.engines.spark.rows_stage import SlicedRows
from muntin.physical import PhysicalPlan
from muntin.physical.operators.kernel import bases


def refusal(bound: Bound) -> str | None:
    """Why rows of this table cannot be sliced in Python, or None."""
    return None if bound.shared is None else not_in_arrow(bound.of_shared.table)


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """All levels by NumPy, from the partials of every row."""
    table, [base] = bound.table, bases(physical)
    rows, lifted = lift_rows_once(table)
    kernel = kernel_of(physical, bound)
    found = evaluate(rows, "t", SlicedRows(kernel, base, lifted), kernel, table)
    return finish(found, physical, bound.query, table)

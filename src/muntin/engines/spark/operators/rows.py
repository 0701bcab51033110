"""The rows operator: rows split by key and chunk of time, sorted, sliced and mapped in Arrow."""

from __future__ import annotations

from pyspark.sql import DataFrame

from muntin.engines.spark.bind import Bound
from muntin.engines.spark.finishing import finish
from muntin.engines.spark.operators.kernel import evaluate, kernel_of, unpack
from muntin.engines.spark.row_partials import not_in_arrow, send_rows
from muntin.engines.spark.rows_stage import SlicedRows
from muntin.engines.spark.session_facts import shuffle_partitions
from muntin.physical import PhysicalPlan
from muntin.physical.operators.kernel import bases
from muntin.physical.operators.rows import ROWS


def refusal(bound: Bound) -> str | None:
    """Why rows of this table cannot be sliced in Python, or None."""
    return None if bound.shared is None else not_in_arrow(bound.of_shared.table)


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """All levels by NumPy, from the partials of every row."""
    table, [base] = bound.table, bases(physical)
    given, kernel = send_rows(table), kernel_of(physical, bound, ROWS)
    parts = ROWS.parts(physical, bound.query, shuffle_partitions(bound.df.sparkSession))
    body = SlicedRows(kernel, base, given.sent)
    found = evaluate(given.rows, "t", body, kernel, table, parts)
    return finish(unpack(found, physical, kernel, table), physical, bound.query, table)

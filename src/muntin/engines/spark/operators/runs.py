"""The runs operator: sessions by NumPy, from runs without a pause merged where records are read."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StructType

from muntin.data_windows.partitions import Cutty, SessionRuns
from muntin.engines.spark.arrow_stage import map_in_arrow
from muntin.engines.spark.bind import Bound
from muntin.engines.spark.operators.cutty import head
from muntin.engines.spark.operators.sessions import finish_sessions
from muntin.engines.spark.row_partials import (
    fields_of,
    not_in_arrow,
    send_rows,
)
from muntin.engines.spark.table import Table
from muntin.model.data_windows import Session
from muntin.physical import PhysicalPlan


def refusal(bound: Bound) -> str | None:
    """Why records cannot be merged in Python, or None."""
    if not bound.query.data_windows or bound.shared is None:
        return None
    return not_in_arrow(bound.of_shared.table)


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """The long result; what has no partials is computed directly, beside."""
    return finish_sessions(physical, bound, lambda part: _runs(physical, part.table, part.wraps))


def _runs(physical: PhysicalPlan, table: Table, wraps: bool) -> DataFrame:
    """Keys, node, start, end and partials of all sessions."""
    sessions = {n.number: n.shape for n in physical.nodes if isinstance(n.shape, Session)}
    keys, partials = table.keys, table.columns.partials
    gap = min(shape.gap for shape in sessions.values())
    values = table.fields
    bounds = StructType().add("lo", LongType()).add("hi", LongType()).fields
    given = send_rows(table)
    merged = SessionRuns(keys, partials, given.sent, gap, wraps)
    schema = StructType([*fields_of(table, keys), *bounds, *values])
    runs = map_in_arrow(given.rows, merged, schema)
    spread = runs.repartition(*keys) if keys else runs.repartition(1)
    stage = Cutty(keys, sessions, {}, partials, wraps, of_runs=True)
    return map_in_arrow(spread, stage, StructType([*head(table), *values]))

"""From merged partials to the result: finished under the user's names, in the long layout."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.aggregates.columns import Columns
from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.key_marks import LATE, marked
from muntin.engines.spark.names import constant, named
from muntin.engines.spark.table import Table
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.physical import PhysicalPlan
from muntin.state.known import FILLED
from muntin.state.missed import FIRST, LAST, MISSED, SLICE_END


def finish(
    rows: DataFrame,
    physical: PhysicalPlan,
    query: Query,
    table: Table,
    metadata: dict[str, int] | None = None,
    more: Sequence[Column] = (),
    computed: list[Column] | None = None,
    late: bool = False,
) -> DataFrame:
    """Finish the partials of periodic windows, whose ends follow from their nodes.

    `metadata` is what the window's column says of itself; the columns `more` come last. Where
    there may be `late` rows, the window of these is their slice.
    """
    ranges = {n.number: n.shape.range for n in physical.outputs if isinstance(n.shape, Window)}
    end = f"(start + {lookup(ranges)})"
    end = f"coalesce({SLICE_END}, {end})" if late else end
    return name_columns(rows, physical, query, table, computed, end, metadata, more)


def name_columns(
    rows: DataFrame,
    physical: PhysicalPlan,
    query: Query,
    table: Table,
    computed: list[Column] | None = None,
    end: str = "end",
    metadata: dict[str, int] | None = None,
    more: Sequence[Column] = (),
) -> DataFrame:
    """The results of the windows that were asked for, under the user's names.

    They are finished from partial columns, unless they have been computed.
    """
    ids = {node.number: node.id for node in physical.outputs}
    window = window_column("start", end, table.time_type, "window")
    known = {field.name: field.metadata for field in table.rows.schema}
    return rows.select(
        F.expr(lookup(ids)).alias("window_id", metadata=marked()),
        window.alias("window", metadata=metadata) if metadata else window,
        *(
            F.col(k).alias(name, metadata=marked(known[k]))
            for k, name in zip(table.keys, query.keys, strict=True)
        ),
        *(computed or results(table.columns)),
        *more,
    )


def window_column(start: str, end: str, kind: str, name: str) -> Column:
    """A window like Spark's, from SQL for microseconds and the type of the time column."""
    instant = SparkWriter().instant
    bounds = f"'start', {instant(start, kind)}, 'end', {instant(end, kind)}"
    return named(f"named_struct({bounds})", name)


def results(columns: Columns) -> list[Column]:
    """The results over merged partial columns."""
    return [named(r.final, r.name) for r in columns.results]


def missed_column(physical: PhysicalPlan, table: Table) -> Column:
    """The instances that late rows missed; null for results."""
    shapes = {n.number: n.shape for n in physical.outputs if isinstance(n.shape, Window)}
    slide = lookup({number: shape.slide for number, shape in shapes.items()})
    length = lookup({number: shape.range for number, shape in shapes.items()})
    instant, kind = SparkWriter().instant, table.time_type
    start, end = instant("begin", kind), instant(f"(begin + {length})", kind)
    each = f"begin -> named_struct('start', {start}, 'end', {end})"
    missed = f"transform(sequence({FIRST}, {LAST}, {slide}), {each})"
    column = F.expr(f"IF({FIRST} IS NULL, NULL, {missed})")
    return column.alias(MISSED, metadata={LATE: True})


def filled_results(query: Query, table: Table) -> list[Column]:
    """The results over merged partial columns, or those of no rows where a row is FILLED."""
    empty = {a.name: a.function.empty for a in query.aggregates}
    return [
        named(f"IF({FILLED}, {empty[r.name]}, {r.final})", r.name) for r in table.columns.results
    ]


def lookup(values: dict[int, str] | dict[int, int], of: str = "node") -> str:
    """SQL for the value of a node, by its number; null for one that has none."""
    dense = [values.get(i) for i in range(max(values) + 1)]
    kind = "BIGINT" if isinstance(next(iter(values.values())), int) else "STRING"
    return f"get({constant(dense, f'ARRAY<{kind}>')}, {of})"

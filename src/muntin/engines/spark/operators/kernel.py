"""The kernel operator: rows grouped by Spark, split by key and chunk of time, mapped in Arrow."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType, LongType, StructField, StructType

from muntin.engines.spark.arrow_stage import Body, map_in_arrow
from muntin.engines.spark.bind import Bound
from muntin.engines.spark.finishing import finish, lookup
from muntin.engines.spark.kernel_stage import Kernel
from muntin.engines.spark.operators import expand
from muntin.engines.spark.row_partials import fields_of
from muntin.engines.spark.session_facts import shuffle_partitions, spread
from muntin.engines.spark.table import Table
from muntin.engines.spark.unshared import join_direct
from muntin.errors import ColumnError
from muntin.kernels.sorted_rows import InOrder
from muntin.model.windows import Window
from muntin.physical import PhysicalPlan
from muntin.physical.operators.expand import source_level
from muntin.physical.operators.kernel import KERNEL, trees
from muntin.physical.operators.kernel import Kernel as KernelOperator
from muntin.physical.question import in_engine, in_python


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """The first level by Spark, all others by NumPy; what only Spark merges is expanded beside."""
    beside = in_engine(bound.query)
    if beside:
        others = tuple(a for a in bound.query.aggregates if a not in beside)
        kernel = run(physical, bound.with_aggregates(others))
        expanded = expand.run(physical, bound.with_aggregates(beside))
        return join_direct(kernel, expanded, bound.query)
    own = in_python(bound.query)
    if own and bound.stranger:
        raise ColumnError(
            f"{own.name} runs in Python, and {bound.stranger}: leave out the key or the aggregate "
            "of that type, or cast it"
        )
    rows = expand.from_source(bound.table, source_level(physical))
    if physical.depth > 1 or own:
        rows = _evaluated(rows, physical, bound)
    return finish(rows, physical, bound.query, bound.table)


def _evaluated(rows: DataFrame, physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """All levels below the first, from its grouped rows."""
    kernel = kernel_of(physical, bound, KERNEL)
    parts = KERNEL.parts(physical, bound.query, shuffle_partitions(bound.df.sparkSession))
    found = evaluate(rows, "start", kernel, kernel, bound.table, parts, "node")
    return unpack(found, physical, kernel, bound.table)


def kernel_of(physical: PhysicalPlan, bound: Bound, operator: KernelOperator) -> Kernel:
    """What workers need to know to evaluate a plan."""
    asked = frozenset(node.number for node in physical.outputs)
    chunk, table = operator.chunk(physical, bound.query, physical.planned_for), bound.table
    partials, in_runs = table.columns.partials, operator.in_runs(physical, physical.planned_for)
    return Kernel(table.keys, partials, trees(physical), asked, chunk, bound.wraps, in_runs)


def evaluate(
    rows: DataFrame,
    position: str,
    body: Body,
    kernel: Kernel,
    table: Table,
    parts: int | None,
    *by: str,
) -> DataFrame:
    """What NumPy makes of rows, packed: of groups of some columns, sorted by position.

    Workers sort so many parts of them, or Spark does.
    """
    if kernel.chunk is not None:
        rows, by = _chunked(rows, position, kernel.chunk, kernel.widest), (*by, "chunk")
    names = (*table.keys, *by)
    own = [F.expr(name) for name in names]
    if parts is None:
        ordered = spread(rows, 1, own).sortWithinPartitions(*own, F.expr(position))
    else:
        ordered, body = spread(rows, parts, own), InOrder(body, names, position)
    return map_in_arrow(ordered, body, _packed(table, bool(kernel.in_runs)))


def _packed(table: Table, in_runs: bool) -> StructType:
    """What comes back: runs of equal instances, or lists of those of a group and a node."""
    own = [*fields_of(table, table.keys), StructField("node", IntegerType())]
    each = [StructField("start", LongType()), *table.fields]
    if in_runs:
        return StructType([*own, StructField("times", LongType()), *each])
    return StructType([*own, *(StructField(f.name, ArrayType(f.dataType)) for f in each)])


def unpack(packed: DataFrame, physical: PhysicalPlan, kernel: Kernel, table: Table) -> DataFrame:
    """A row for each instance."""
    partials = [f.name for f in table.fields]
    kept = [*table.keys, "node"]
    if kernel.in_runs:
        slides = {n.number: n.shape.slide for n in physical.outputs if isinstance(n.shape, Window)}
        turns = packed.selectExpr(
            *kept, "explode(sequence(0L, times - 1)) AS i", "start", *partials
        )
        return turns.selectExpr(*kept, f"start + i * {lookup(slides)} AS start", *partials)
    each = packed.selectExpr(*kept, "posexplode(start) AS (i, start)", *partials)
    return each.selectExpr(*kept, "start", *(f"{name}[i] AS {name}" for name in partials))


def _chunked(rows: DataFrame, position: str, chunk: int, widest: int) -> DataFrame:
    """Each row in its own chunk, and in the one before if an instance begins there."""
    own, earliest = (_floor_div(p, chunk) for p in (position, f"({position} - {widest - 1}L)"))
    chunks = f"if({earliest} < {own}, array({earliest}, {own}), array({own}))"
    return rows.selectExpr("*", f"explode({chunks}) AS chunk")


def _floor_div(position: str, divisor: int) -> str:
    """Division that rounds down also before 1970, where SQL's own rounds towards zero."""
    return f"(({position} - pmod({position}, {divisor}L)) div {divisor}L)"

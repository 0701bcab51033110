"""The kernel as a stage of a Spark plan: partition by key and time chunk, sort, map in Arrow."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin.kernels.tree import Branch
from muntin.physical.forest import forest
from muntin.plan import SharingPlan
from muntin.spark.kernel import Kernel
from muntin.spark.table import Table

CHUNK_RANGES = 4
"""A time chunk is this many times the widest range: a quarter of the slices go to two chunks."""


def by_kernel(rows: DataFrame, plan: SharingPlan, table: Table, wraps: bool) -> DataFrame:
    """All levels below the first, from its grouped rows."""
    grown = forest(plan)
    assert grown is not None, "the operator was chosen for a plan that it can run"
    chunk = CHUNK_RANGES * max(_widest(grown), 1)
    split = _chunked(rows, chunk, _widest(grown))
    by = [*table.keys, "node", "chunk"]
    asked = frozenset(i for i, node in enumerate(plan.nodes) if not node.hidden)
    kernel = Kernel(tuple(table.keys), table.columns.partials, grown, asked, chunk, wraps)
    schema = rows.schema
    ordered = split.repartition(*by).sortWithinPartitions(*by, "start")
    return ordered.mapInArrow(kernel, schema)


def _chunked(rows: DataFrame, chunk: int, widest: int) -> DataFrame:
    """Each row in its own chunk, and in the one before if an instance begins there."""
    own, earliest = (_floor_div(p, chunk) for p in ("start", f"(start - {widest - 1}L)"))
    chunks = F.expr(f"if({earliest} < {own}, array({earliest}, {own}), array({own}))")
    return rows.select("*", F.explode(chunks).alias("chunk"))


def _floor_div(position: str, divisor: int) -> str:
    """Division that rounds down also before 1970, where SQL's own rounds towards zero."""
    return f"(({position} - pmod({position}, {divisor}L)) div {divisor}L)"


def _widest(grown: dict[int, tuple[Branch, ...]]) -> int:
    return max((b.widest for branches in grown.values() for b in branches), default=1)

"""Layouts of a result: wide instead of long, and windows without rows filled in.

fill   between a key's first and last window of each window id, instances without a row get one:
       counts are 0, sets empty, all else null. Each row looks at the next one of its key and
       window and is repeated for the instances between: one sort, no join. Before a stream takes
       over, instances after a key's last row are filled too, as the stream would do it.
wide   one row for each (keys, window_end), a column `<aggregate>__<window_id>` for each pair,
       null where no instance of that window ends there.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.finishing import window_column
from muntin.engines.spark.names import column
from muntin.errors import QueryError
from muntin.model.query import Query
from muntin.state.spec import last_due

CASE = "spark.sql.caseSensitive"
FILL_PERIODIC = (
    "empty='fill' is for periodic windows: between windows that the data decides nothing is missing"
)


def fill_empty(
    long: DataFrame, query: Query, until: int | None = None, fill_for: int | None = None
) -> DataFrame:
    """The long result with the empty instances between those that have rows.

    With `until`, also those after a key's last row that end by then; with `fill_for`, none that
    ends so much later than one with rows.
    """
    kind = dict(long.select("window.start").dtypes)["start"]
    slide = F.expr(_by_window(query, {w.id: w.slide for w in query.windows}))
    length = F.expr(_by_window(query, {w.id: w.range for w in query.windows}))
    values = F.struct(*(column(a.name).alias(f"a{i}") for i, a in enumerate(query.aggregates)))
    plain = long.select(
        "window_id",
        F.expr(SparkWriter().microseconds("window.start", kind)).alias("begin"),
        slide.alias("slide"),
        length.alias("length"),
        *(column(key).alias(f"k{i}") for i, key in enumerate(query.keys)),
        values.alias("held"),
    )
    keys = [f"k{i}" for i, _ in enumerate(query.keys)]
    after = F.lead("begin").over(Over.partitionBy("window_id", *keys).orderBy("begin"))
    ends = {w.id: last_due(w, until) + w.slide for w in query.windows} if until is not None else {}
    rest = F.expr(_by_window(query, ends)) if ends else F.col("begin") + F.col("slide")
    stop = F.coalesce(after, rest)
    if fill_for is not None:
        most = {w.id: (fill_for // w.slide + 1) * w.slide for w in query.windows}
        stop = F.least(stop, F.col("begin") + F.expr(_by_window(query, most)))
    gaps = plain.withColumn("after", stop)
    turns = F.expr("explode(sequence(0L, (after - begin) div slide - 1L))")
    rows = gaps.select("*", turns.alias("turn")).withColumn("begin", F.expr("begin + turn * slide"))
    return rows.select(
        "window_id",
        window_column("begin", "(begin + length)", kind, "window"),
        *(F.col(k).alias(name) for k, name in zip(keys, query.keys, strict=True)),
        *(
            F.expr(f"if(turn = 0, held.a{i}, {a.function.empty})").alias(a.name)
            for i, a in enumerate(query.aggregates)
        ),
    )


def lay_out(long: DataFrame, query: Query, layout: str) -> DataFrame:
    """The result in the layout that was asked for."""
    return wide(long, query) if layout == "wide" else long


def wide(long: DataFrame, query: Query) -> DataFrame:
    """One row for each (keys, window_end)."""
    ids = [w.id for w in query.windows] + [w.id for w in query.data_windows]
    columns = {(a.name, id): f"{a.name}__{id}" for a in query.aggregates for id in ids}
    _refuse_twins(query.keys, columns, str(long.sparkSession.conf.get(CASE)) == "true")
    values = [
        F.first(F.when(F.col("window_id") == id, column(name)), ignorenulls=True).alias(wide_name)
        for (name, id), wide_name in columns.items()
    ]
    end = F.col("window.end").alias("window_end")
    return long.groupBy(*map(column, query.keys), end).agg(*values)


def _refuse_twins(
    keys: tuple[str, ...], columns: Mapping[tuple[str, str], str], case_sensitive: bool
) -> None:
    """Refuse two columns of one name, which Spark makes and nobody can then ask for."""
    known: dict[str, str] = {}
    named = [("window_end", "the end of the windows"), *((key, f"key {key!r}") for key in keys)]
    named += [(c, f"{name!r} of window {id!r}") for (name, id), c in columns.items()]
    for name, what in named:
        twin = known.setdefault(name if case_sensitive else name.lower(), what)
        if twin != what:
            raise QueryError(
                f"column {name!r} of the wide layout would be both {twin} and {what}: rename "
                "the key, or give the aggregate another .alias(...) or the window another id="
            )


def _by_window(query: Query, values: dict[str, int]) -> str:
    """SQL for a number of each window, by its id."""
    literal = SparkWriter().literal
    cases = " ".join(f"WHEN {literal(id)} THEN {n}L" for id, n in values.items())
    return f"CASE window_id {cases} END"

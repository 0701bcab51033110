"""Every way to compute a question on Spark: one line each.

A runner takes a case and the rows as a DataFrame (batch or stream, by the list it stands in), and
gives a DataFrame in the long layout, or None where its operator cannot run the plan.
"""

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame

import muntin as mt
from conformance.cases import SPARK_TYPES, Case
from muntin.physical.operators import BATCH as BATCH_OPERATORS
from muntin_testing.oracle import rows_of_window
from muntin_testing.running import on_spark, question_of, sql_text

Runner = Callable[[Case, DataFrame], DataFrame | None]

VIEW = "everyday events"


def by_spark_itself(case: Case, df: DataFrame) -> DataFrame:
    """Spark's own window(), with nothing of ours between: it judges the oracle."""
    return rows_of_window(df, case.query)


def by_operator(name: str, empty: str = "omit") -> Runner:
    """The plan by one operator of batches."""

    def run(case: Case, df: DataFrame) -> DataFrame | None:
        operator = {each.name: each for each in BATCH_OPERATORS}[name]
        if operator.refusal(case.plan, question_of(case.query)):
            return None
        return on_spark(case.plan, case.query, df, name, "long", empty)

    return run


def by_text(case: Case, df: DataFrame) -> DataFrame:
    """The text of to_sql("spark"), which Spark runs by itself."""
    df.createOrReplaceTempView(f"`{VIEW}`")
    return df.sparkSession.sql(sql_text(case.plan, case.query, "spark", VIEW, SPARK_TYPES))


def by_stream_operator(name: str) -> Runner:
    """The plan by one operator of streams, in append mode."""

    def run(case: Case, stream: DataFrame) -> DataFrame:
        plan = mt.optimize(case.query, "direct", engine="stream", operator=name)  # type: ignore[call-overload]
        rows: DataFrame = replace(plan, planned=case.plan).apply(stream, operator=name)
        return rows

    return run


BATCH: dict[str, Runner] = {
    "window": by_operator("window"),
    "expand": by_operator("expand"),
    "kernel": by_operator("kernel"),
    "rows": by_operator("rows"),
    "spark text": by_text,
}
FILLED: dict[str, Runner] = {
    "expand, filled": by_operator("expand", "fill"),
    "kernel, filled": by_operator("kernel", "fill"),
}
STREAM: dict[str, Runner] = {
    "native": by_stream_operator("native"),
    "bucketed": by_stream_operator("bucketed"),
}

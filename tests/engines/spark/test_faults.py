"""Wrong input gets a sentence of ours, before any job starts, and no stack trace is logged."""

from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

import muntin as mt
from muntin.engines.spark.faults import first_line, silence_log, translate_refusals
from muntin.errors import AggregateError, ColumnError, StrategyError
from muntin.kernels.columns import encode
from muntin_testing.bad_inputs import unanswered
from muntin_testing.oracle import assert_same_rows, rows_of_window

WINDOWS = [mt.tumbling("10 seconds"), mt.hopping("1 minute", "20 seconds")]


def test_every_wrong_input_gets_its_sentence(
    spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    assert list(unanswered(spark)) == []
    assert "QueryContextLogger" not in capfd.readouterr().err


def test_a_table_of_a_stopped_session_says_so() -> None:
    class Stopped:
        """What is left: a context whose inner one is gone."""

        @property
        def sparkSession(self) -> Any:  # noqa: N802
            return self

        @property
        def sparkContext(self) -> None:  # noqa: N802
            return None

    with pytest.raises(ColumnError, match=r"has been stopped: read it again in a session that ru"):
        mt.aggregate(Stopped(), "ts", WINDOWS, [mt.count()])


def test_refusals_are_logged_again_afterwards(spark: SparkSession) -> None:
    log = PySparkLogger.getLogger("SQLQueryContextLogger")
    with pytest.raises(ColumnError, match=r"^this: .*`nope`.*[^;]$"), translate_refusals("this"):
        spark.range(1).selectExpr("nope").schema  # noqa: B018
    assert not log.disabled
    with pytest.raises(AnalysisException, match="SQLSTATE") as raised, silence_log():
        spark.range(1).selectExpr("nope").schema  # noqa: B018
    assert "SQLSTATE" not in first_line(raised.value)


@pytest.mark.parametrize("operator", ["expand", "kernel"])
def test_names_of_ours_are_free_for_users(frugal: SparkSession, operator: str) -> None:
    df = frugal.sql(
        "SELECT timestamp_seconds(id * 7) AS ts, id % 2 AS k0, id AS v0, -id AS p0, 1 AS t, 2 AS "
        "node, 3 AS start, 4 AS chunk, array(id % 2, 1) AS window_end FROM range(9)"
    )
    aggregates = [mt.sum("v0").alias("begin"), mt.max("p0").alias("held"), mt.count().alias("turn")]
    keys = ["k0", "t", "node", "start", "chunk", "window_end"]
    query = mt.query("ts", WINDOWS, aggregates, keys)
    plan = mt.optimize(query, "shared-pairs", operator=operator)  # type: ignore[call-overload]
    assert_same_rows(plan.apply(df), rows_of_window(df, query), query)
    assert plan.apply(df, empty="fill").columns == plan.apply(df).columns


def test_types_that_arrow_cannot_carry_are_left_to_spark(frugal: SparkSession) -> None:
    df = frugal.sql(
        "SELECT timestamp_seconds(id * 7) AS ts, id AS v, INTERVAL '1' MONTH AS m FROM range(9)"
    )
    months = mt.sum("m").alias("months")
    asked_for = {"time": "ts", "windows": WINDOWS, "aggregates": [months]}
    with pytest.raises(
        StrategyError, match=r"'kernel' cannot run .*: interval month cannot be handed"
    ):
        mt.aggregate(df, **asked_for, strategy="shared-pairs", operator="kernel")  # type: ignore[call-overload]
    plan = mt.explain(df, **asked_for, strategy="shared-pairs", rate=1e9)  # type: ignore[call-overload]
    assert "kernel cannot run it: interval month cannot be handed to Python" in repr(plan)
    found = mt.aggregate(df, "ts", WINDOWS, [months], strategy="shared-pairs")
    asked = mt.query("ts", WINDOWS, [mt.count().alias("months")])
    numbers = found.selectExpr("window_id", "window", "CAST(CAST(months AS INT) AS BIGINT) months")
    assert_same_rows(numbers, rows_of_window(df, asked), asked)
    own = mt.custom("own", int, max, int, 0, result="bigint")("v")
    with pytest.raises(ColumnError, match=r"own\(v\) runs in Python, and interval month cannot"):
        mt.aggregate(df, "ts", WINDOWS, [own, months])


def broken(**changes: Any) -> mt.Aggregate:
    parts: dict[str, Any] = {"lift": int, "combine": max, "lower": int, "identity": 0}
    return mt.custom("own", **(parts | {"result": "bigint"} | changes))("v")


@pytest.mark.parametrize(
    ("aggregate", "message"),
    [
        (broken(lift=lambda v: v / 0), r"custom 'own': lift\(4\) raised ZeroDivisionError"),
        (broken(lower=lambda v: v.x), r"custom 'own': lower\(4\) raised AttributeError"),
        (broken(lower=lambda _: "x"), r"custom 'own': lower gave what is not .* int64"),
        (broken(fold=lambda _: 1 / 0), r"custom 'own': fold\(.* raised ZeroDivisionError"),
    ],
)
def test_what_fails_in_code_of_the_user_says_which_and_on_what(
    aggregate: mt.Aggregate, message: str
) -> None:
    column = pa.array([{"records": [4], "result": None}], RECORDS)
    with pytest.raises(AggregateError, match=message):
        _through_the_kernel(column, aggregate)


RECORDS = pa.struct([("records", pa.list_(pa.int64())), ("result", pa.int64())])


def _through_the_kernel(column: pa.Array, aggregate: mt.Aggregate) -> pa.Array:
    encoded = encode("custom", [column], code=aggregate.function)
    return encoded.decode(encoded.arrays)


def test_spark_passes_on_what_code_of_the_user_raised(frugal: SparkSession) -> None:
    df = frugal.createDataFrame([(datetime(2024, 1, 1), 4)], "ts timestamp, v int")
    result = mt.aggregate(df, "ts", WINDOWS[:1], [broken(lift=lambda v: v / 0)])
    with pytest.raises(PySparkException, match=r"lift\(4\) raised ZeroDivisionError"):
        result.collect()

"""mt.sql and the plan's SQL: ASA text in, rows out, on both engines and with both bounds."""

import subprocess
import sys
from dataclasses import replace

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.dialects import parse_sql
from muntin.errors import QueryError
from muntin.model.choices import Bounds
from muntin_testing.two_engines import by_instance

TEXT = """SELECT device, SUM(n) AS total, MAX(ts) AS latest FROM Input TIMESTAMP BY ts
          GROUP BY device, Windows(Window('ten', TumblingWindow(minute, 10)),
                                   Window('twenty', TumblingWindow(minute, 20)))"""
MINUTE = 60_000_000
TIMES = [0, 10 * MINUTE, 10 * MINUTE + 1, -1, None]
DATA = pa.table(
    {"ts": pa.array(TIMES, pa.timestamp("us", "UTC")), "device": ["a"] * 5, "n": [1, 2, 4, 8, 16]}
)


def found(result: pa.Table | DataFrame) -> dict[tuple[str, int, int], int]:
    table = result if isinstance(result, pa.Table) else result.toArrow()
    rows = by_instance(table.to_pylist(), ("device",))
    return {
        (id, start // MINUTE, end // MINUTE): v["total"] for (id, start, end, _), v in rows.items()
    }


EXPECTED = {
    "spark": {
        ("ten", -10, 0): 8,
        ("ten", 0, 10): 1,
        ("ten", 10, 20): 6,
        ("twenty", -20, 0): 8,
        ("twenty", 0, 20): 7,
    },
    "asa": {
        ("ten", -10, 0): 9,
        ("ten", 0, 10): 2,
        ("ten", 10, 20): 4,
        ("twenty", -20, 0): 9,
        ("twenty", 0, 20): 6,
    },
}


@pytest.mark.parametrize("bounds", EXPECTED)
def test_in_process(bounds: Bounds) -> None:
    assert found(mt.sql(TEXT, bounds=bounds, Input=DATA)) == EXPECTED[bounds]


@pytest.mark.parametrize("bounds", EXPECTED)
def test_on_spark(spark: SparkSession, bounds: Bounds) -> None:
    df = spark.createDataFrame(DATA)
    result = mt.sql(TEXT, bounds=bounds, input=df)
    assert result.columns == ["window_id", "window", "device", "total", "latest"]
    assert found(result) == EXPECTED[bounds]


def test_a_table_of_the_session(spark: SparkSession) -> None:
    spark.createDataFrame(DATA).createOrReplaceTempView("Input")
    assert found(mt.sql(TEXT, spark)) == EXPECTED["spark"]
    spark.catalog.dropTempView("Input")


def test_a_missing_input_and_unknown_bounds() -> None:
    with pytest.raises(QueryError, match="reads 'Input', which is not given"):
        mt.sql(TEXT, inputs=DATA)
    with pytest.raises(QueryError, match="unknown bounds 'closed'"):
        mt.sql(TEXT, bounds="closed", Input=DATA)  # type: ignore[arg-type]


def test_the_plan_runs_in_process_and_is_verified_there() -> None:
    query = parse_sql(TEXT)
    plan = mt.optimize(query, "wcg")
    assert found(plan.apply(DATA)) == EXPECTED["spark"]
    assert mt.verify(DATA, plan).equal
    assert plan.to_sql("duckdb", table="Input").startswith("WITH records AS (")
    asa = mt.optimize(replace(query, bounds="asa"), "wcg")
    assert 'epoch_us("ts") - 1 AS t' in asa.to_sql("duckdb")
    assert mt.verify(DATA, asa).equal


def test_loading_the_package_of_that_name_leaves_the_function_in_place() -> None:
    code = "import muntin as mt, muntin.dialects.rendering; mt.sql; print(callable(mt.sql))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"

"""The embedded engine: any in-process table in, the same kind out, Spark's semantics, no Java."""

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import muntin as mt
from muntin.engines.duckdb import connect, handles
from muntin.errors import ColumnError
from muntin_testing.running import compared, in_process
from muntin_testing.two_engines import planned, sample_table

QUERY = mt.query(
    "ts",
    [mt.tumbling("10 minutes"), mt.hopping("1 hour", "20 minutes")],
    [mt.sum("n"), mt.count()],
    "device",
)
PLAN = planned(QUERY, "wcg")
TABLE = sample_table(200)


def rows(result: pa.Table) -> set[tuple[object, ...]]:
    return {
        (r["window_id"], str(r["window"]["start"])[:19], r["device"], r["sum(n)"], r["count"])
        for r in result.to_pylist()
    }


def test_a_relation_gives_a_relation_of_its_own_connection() -> None:
    connection = duckdb.connect()
    connection.register("own", TABLE)
    relation = connection.sql("SELECT * FROM own WHERE n > 0")
    result = in_process(PLAN, QUERY, relation)
    assert isinstance(result, duckdb.DuckDBPyRelation)
    kept = TABLE.filter(pa.compute.greater(TABLE["n"], 0))
    assert rows(result.to_arrow_table()) == rows(in_process(PLAN, QUERY, kept))
    assert connection.sql("SHOW TABLES").fetchall() == [("own",)]


def test_arrow_gives_arrow() -> None:
    assert isinstance(in_process(PLAN, QUERY, TABLE), pa.Table)


def test_pandas_gives_pandas() -> None:
    times: Any = ["2024-01-01 00:05", "2024-01-01 00:07", None]
    frame = pd.DataFrame({"ts": pd.to_datetime(times)})
    frame = frame.assign(device="a", n=[1, 2, 3])
    result = in_process(PLAN, QUERY, frame)
    assert isinstance(result, pd.DataFrame)
    ten = result[result.window_id == "10 minutes"]
    assert ten["sum(n)"].tolist() == [3]
    assert ten["window"].tolist() == [
        {"start": datetime(2024, 1, 1), "end": datetime(2024, 1, 1, 0, 10)}
    ]


def test_what_it_handles() -> None:
    assert handles(TABLE)
    assert handles(TABLE.slice(0, 1).to_pandas())
    assert handles(duckdb.sql("SELECT 1"))
    assert not handles([1])
    with pytest.raises(ColumnError, match="a list cannot be read in process"):
        in_process(PLAN, QUERY, [1])


@pytest.mark.parametrize(
    ("kind", "bound"),
    [
        (pa.timestamp("us"), pa.timestamp("us")),
        (pa.timestamp("s"), pa.timestamp("us")),
        (pa.timestamp("ms"), pa.timestamp("us")),
        (pa.timestamp("ns"), pa.timestamp("us")),
        (pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC")),
        (pa.timestamp("us", "America/New_York"), pa.timestamp("us", "America/New_York")),
        (pa.timestamp("ns", "America/New_York"), pa.timestamp("us", "America/New_York")),
        (pa.date32(), pa.timestamp("us")),
    ],
)
def test_types_of_time(kind: pa.DataType, bound: pa.DataType) -> None:
    day = 86_400
    seconds = pa.array([-day, 0, day, None], pa.timestamp("s"))
    data = pa.table({"ts": seconds.cast(kind), "device": ["a"] * 4, "n": [1, 2, 4, 8]})
    query = mt.query("ts", [mt.tumbling("2 days")], [mt.sum("n")])
    result = in_process(planned(query), query, data)
    assert result.schema.field("window").type.field("start").type == bound
    starts = pa.compute.struct_field(result["window"], "start").cast(pa.int64()).to_pylist()
    found = dict(zip(starts, result["sum(n)"].to_pylist(), strict=True))
    assert found == {-2 * day * 10**6: 1, 0: 6}


def test_nanoseconds_before_1970_count_to_the_past() -> None:
    data = pa.table({"ts": pa.array([-1], pa.timestamp("ns"))})
    query = mt.query("ts", [mt.tumbling("10 microseconds")], [mt.count()])
    [row] = in_process(planned(query), query, data).to_pylist()
    assert row["window"]["end"] == datetime(1970, 1, 1)


def test_asa_bounds_put_the_end_inside() -> None:
    """(start, end]: an event exactly at an end belongs to the instance that ends there."""
    data = pa.table({"ts": pa.array([0, 10, 11], pa.timestamp("us", "UTC")), "n": [1, 2, 4]})
    query = mt.query(
        "ts",
        [mt.tumbling("10 microseconds"), mt.tumbling("20 microseconds")],
        [mt.sum("n"), mt.max("ts")],
    )

    def found(bounds: str) -> dict[tuple[int, int], int]:
        out = in_process(planned(query, "wcg"), replace(query, bounds=bounds), data).to_pylist()  # type: ignore[arg-type]
        zero = datetime(1970, 1, 1, tzinfo=UTC)
        micros = [
            [
                (r["window"][e] - zero).microseconds
                + (r["window"][e] - zero).days * 86_400_000_000
                + (r["window"][e] - zero).seconds * 1_000_000
                for e in ("start", "end")
            ]
            for r in out
        ]
        return {tuple(m): r["sum(n)"] for m, r in zip(micros, out, strict=True)}

    assert found("spark") == {(0, 10): 1, (10, 20): 6, (0, 20): 7}
    assert found("asa") == {(-10, 0): 1, (0, 10): 2, (10, 20): 4, (-20, 0): 1, (0, 20): 6}
    assert compared(planned(query, "wcg"), replace(query, bounds="asa"), data).equal


def test_names_may_differ_in_case_and_missing_ones_are_named() -> None:
    query = mt.query("TS", QUERY.windows, QUERY.aggregates, "DEVICE")
    assert in_process(PLAN, query, TABLE).schema.names[2] == "DEVICE"
    with pytest.raises(ColumnError, match="key 'devise' is not a column: did you mean 'device'"):
        in_process(PLAN, mt.query("ts", QUERY.windows, QUERY.aggregates, "devise"), TABLE)
    with pytest.raises(ColumnError, match="time column 'n' is BIGINT, not a timestamp"):
        in_process(PLAN, mt.query("n", QUERY.windows, QUERY.aggregates), TABLE)
    with pytest.raises(ColumnError, match=r"cannot be computed: Binder Error.*zzz"):
        in_process(PLAN, mt.query("ts", QUERY.windows, [mt.sum("zzz + 1")]), TABLE)


def test_large_values_keep_their_variance() -> None:
    values = [1e9 + n % 5 for n in range(1000)]
    data = pa.table(
        {"ts": pa.array([n * 1000 for n in range(1000)], pa.timestamp("us")), "v": values}
    )
    query = mt.query(
        "ts",
        [mt.tumbling("1000 microseconds"), mt.tumbling("1000000 microseconds")],
        [mt.var_pop("v").alias("v")],
    )
    result = in_process(planned(query, "wcg"), query, data).to_pylist()
    [whole] = [row["v"] for row in result if row["window_id"] == "1 second"]
    assert whole == pytest.approx(2.0, rel=1e-6)


def test_verification_names_what_differs() -> None:
    right = compared(PLAN, QUERY, TABLE)
    assert right.equal
    assert bool(right)
    assert "rows are those of DuckDB's direct evaluation" in repr(right)
    # A plan for other windows under the same ids: every row of the hour differs or is missing.
    other = mt.query(
        "ts",
        [
            mt.tumbling("10 minutes"),
            mt.hopping("1 hour", "20 minutes", "10 minutes", "1 hour/20 minutes"),
        ],
        QUERY.aggregates,
        "device",
    )
    wrong = compared(planned(other, "wcg"), QUERY, TABLE)
    assert not wrong
    assert wrong.different > 0
    assert "only Muntin has it" in repr(wrong)


def test_no_java_is_started() -> None:
    code = (
        "import pyarrow as pa, sys, muntin as mt\n"
        "q = mt.query('t', [mt.tumbling('1 hour')], [mt.count()])\n"
        "data = pa.table({'t': pa.array([0], pa.timestamp('us'))})\n"
        "assert mt.optimize(q, 'direct', engine='sql').apply(data).num_rows == 1\n"
        "assert 'pyspark' not in sys.modules, 'pyspark was imported'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_connections_are_in_utc() -> None:
    assert connect().sql("SELECT current_setting('TimeZone')").fetchall() == [("UTC",)]

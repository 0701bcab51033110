"""Several queries in process, and as one SQL statement."""

import pyarrow as pa
import pytest

import muntin as mt
from muntin.engines.duckdb import connect
from muntin_testing.two_engines import sample_table, spark_types

TABLE = sample_table()
TEN, HOUR = mt.tumbling("10 minutes"), mt.hopping("1 hour", "10 minutes", id="it's hourly")
QUERIES = {
    "load": mt.query("ts", [TEN, HOUR], [mt.count(), mt.avg("y").alias("label")], keys="device"),
    "it's peaks": mt.query("ts", [HOUR], [mt.max("n").alias("count")], keys="device"),
    "all": mt.query("ts", [TEN], [mt.sum("i")], where="yes"),
}


def test_rows_are_those_of_direct_evaluation() -> None:
    verified = mt.verify(TABLE, queries=QUERIES)
    assert verified.equal
    assert repr(verified).startswith("load: equal: all ")


def test_one_result_holds_the_rows_of_all() -> None:
    together = mt.aggregate(TABLE, queries=QUERIES)
    apart = mt.aggregate(TABLE, queries=QUERIES, deliver="dict")
    names = ["query_id", "window_id", "window", "device", "count", "label", "sum(i)"]
    assert together.column_names == names
    for id, own in apart.items():
        mine = together.filter(pa.compute.equal(together["query_id"], id))
        assert _rows(mine.select(own.column_names)) == _rows(own)
        others = set(names) - {"query_id", *own.column_names}
        assert all(mine[name].null_count == len(mine) for name in others)


def _rows(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def test_one_statement_answers_all() -> None:
    connection = connect()
    connection.register("events", TABLE)
    text = mt.optimize(queries=QUERIES, engine="sql").to_sql("duckdb", types=spark_types(TABLE))
    found = connection.sql(text).to_arrow_table()
    expected = mt.aggregate(TABLE, queries=QUERIES)
    assert found.column_names == expected.column_names
    assert _rows(found) == _rows(expected)
    assert len(found) > 100


def test_what_needs_spark_is_said() -> None:
    with pytest.raises(mt.MuntinError, match="needs a Spark DataFrame"):
        mt.aggregate(TABLE, queries=QUERIES, empty="fill")
    other = {"a": QUERIES["load"], "b": mt.query("ts", [TEN], [mt.avg("y").alias("count")])}
    with pytest.raises(mt.MuntinError, match="'count' is BIGINT in query 'a' and DOUBLE"):
        mt.aggregate(TABLE, queries=other)


def test_statistics_of_a_table_in_process() -> None:
    known = mt.statistics(TABLE, QUERIES["load"])
    rows = [r for r in TABLE.to_pylist() if r["ts"] is not None]
    assert (known.rows, known.keys) == (len(rows), len({r["device"] for r in rows}))
    span = max(r["ts"] for r in rows) - min(r["ts"] for r in rows)
    assert known.rate == pytest.approx(len(rows) / span.total_seconds())
    assert mt.statistics(TABLE, QUERIES["all"]).keys == 1
    with pytest.raises(mt.MuntinError, match="no rows"):
        mt.statistics(TABLE.slice(0, 0), QUERIES["load"])

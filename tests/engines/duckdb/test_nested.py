"""mt.distinct and mt.join in process: DuckDB's own join, every kind of table, what is refused."""

from collections import Counter
from datetime import datetime
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import muntin as mt
from conformance.nested import Pairs, id_of, pairs_in, sides_of
from muntin.engines.duckdb.tables import connect
from muntin.errors import ColumnError, QueryError, StrategyError, WindowError
from muntin_testing.pairs import Given


def tables(seed: int, rows: int = 24) -> tuple[pa.Table, pa.Table]:
    return Pairs.drawn(seed, rows).tables


def test_pairs_equal_duckdbs_own_join_of_instances() -> None:
    """Each side is copied into every instance that holds it, and the copies are joined."""
    ours, theirs = tables(3, rows=60)
    windows: list[Given] = [
        (mt.hopping("12 seconds", "3 seconds"), mt.hopping("4 seconds", "2 seconds")),
        mt.hopping("7 seconds", "2 seconds", offset="1 second"),
    ]
    connection = connect()
    connection.register("ours", ours)
    connection.register("theirs", theirs)

    def copies(table: str, time: str, window: mt.Window) -> str:
        first = (
            f"epoch_us({time}) - ((epoch_us({time}) - {window.offset}) % {window.slide} "
            f"+ {window.slide}) % {window.slide}"
        )
        starts = f"unnest(range({first}, epoch_us({time}) - {window.range}, -{window.slide}))"
        ends = f"SELECT *, {starts} + {window.range} AS stop FROM {table}"
        return f"(SELECT * FROM ({ends}) WHERE {time} IS NOT NULL)"

    expected: Counter[Any] = Counter()
    for given in windows:
        left, right = sides_of(given)
        lefts, rights = copies("ours", "ts", left), copies("theirs", '"at"', right)
        rows = connection.sql(
            f"SELECT make_timestamptz(l.stop), l.n, r.n FROM {lefts} AS l JOIN {rights} AS r "
            "ON l.user = r.user AND l.stop = r.stop AND l.v <> r.w"
        ).fetchall()
        expected.update((id_of(given), *row) for row in rows)
    asked: dict[str, Any] = {"on": "user", "time": ("ts", "at"), "windows": windows}
    long = mt.join(ours, theirs, **asked, where="v <> w", layout="long")
    assert pairs_in(long.to_pylist()) == expected
    assert len(expected) > 100


def test_every_kind_of_table_gives_the_same_pairs() -> None:
    ours, theirs = tables(1)
    windows = [mt.tumbling("8 seconds"), (mt.tumbling("4 seconds"), mt.tumbling("8 seconds"))]
    asked: dict[str, Any] = {"on": "user", "time": ("ts", "at"), "windows": windows}
    asked |= {"where": "coalesce(v, 0) <= coalesce(w, 0)"}
    expected = mt.join(ours, theirs, **asked)
    names = expected.column_names
    assert expected.num_rows

    def seen(rows: list[Any]) -> Counter[str]:
        return Counter(repr([(r["window_id"], r["left"]["n"], r["right"]["n"])]) for r in rows)

    own = duckdb.connect()
    frame = mt.join(ours.to_pandas(), theirs.to_pandas(), **asked)
    relation = mt.join(own.from_arrow(ours), own.from_arrow(theirs), **asked)
    mixed = mt.join(own.from_arrow(ours), theirs.to_pandas(), **asked)
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(relation, duckdb.DuckDBPyRelation)
    assert isinstance(mixed, duckdb.DuckDBPyRelation)
    assert [*frame.columns] == [*relation.columns] == [*mixed.columns] == names
    assert seen(frame.to_dict("records")) == seen(expected.to_pylist())
    for table in (relation, mixed):
        assert seen(table.to_arrow_table().to_pylist()) == seen(expected.to_pylist())
    with pytest.raises(ColumnError, match="of different connections"):
        mt.join(own.from_arrow(ours), duckdb.connect().from_arrow(theirs), **asked)


def test_rows_of_pairs_keep_their_types_whatever_they_are() -> None:
    zone = pa.timestamp("ns", "Europe/Berlin")
    times = pa.array([datetime(2024, 5, 1), None], zone)
    left = pa.table(
        {
            "ts": times,
            "user": pa.array(["a", "b"]).dictionary_encode(),
            "odd": pa.array([{"x": 1}, None], pa.struct([("x", pa.int8())])),
            "also odd": pa.array([b"1", None], pa.binary(1)),
        }
    )
    right = pa.table({"ts": times, "user": ["a", "a"]})
    found = mt.join(left, right, "user", "ts", [mt.tumbling("1 hour")], layout="long")
    assert found.num_rows == 1
    assert found.schema.field("left").type == pa.struct(list(left.schema))
    assert found.schema.field("user").type == left.schema.field("user").type
    assert found.schema.field("window").type.field("start").type == pa.timestamp("us", zone.tz)


def test_what_will_run_is_explained() -> None:
    ours, theirs = tables(1)
    sides = (mt.hopping("10 minutes", "5 minutes"), mt.hopping("1 hour", "5 minutes", id="far"))
    asked: dict[str, Any] = {"on": "user", "time": ("ts", "at"), "windows": [sides]}
    plan = mt.explain(ours, right=theirs, **asked, where="v < w")
    assert plan.explain().splitlines() == [
        "join on user: join, in process",
        "",
        "pairs are found once: right.at less than 10 minutes after left.ts, and less than 1 hour "
        "before it",
        "DuckDB joins keys and stretches of time, right rows in each that they reach",
        "of them those where v < w",
        "  10 minutes/5 minutes & far: 10 minutes on the left, 1 hour on the right, every "
        "5 minutes",
        "result: one row for each pair, with all windows that hold it",
    ]
    assert plan.run().equals(mt.join(ours, theirs, **asked, where="v < w"))
    windows = [mt.tumbling("5 minutes"), mt.hopping("1 hour", "5 minutes"), mt.tumbling("7 hours")]
    distinct = mt.explain(ours, "ts", windows, items="v", where="n > 3")
    assert "group 1: 5 minutes ⊂ 1 hour/5 minutes ⊂ 7 hours" in distinct.explain()
    assert "rows where n > 3" in distinct.explain()


@pytest.mark.parametrize(
    ("changed", "error", "sentence"),
    [
        (
            {"where": "left.vv < 3"},
            ColumnError,
            "the left side has no column 'vv': did you mean 'v'",
        ),
        ({"where": "n < 3"}, ColumnError, "both sides have a column 'n': write left.n or right.n"),
        (
            {"where": "lft.v < 3"},
            ColumnError,
            "neither side has a column 'lft': did you mean 'left'",
        ),
        ({"where": "v + w"}, ColumnError, "it is BIGINT, and a condition must be BOOLEAN"),
        ({"where": "sum(v) > 3"}, QueryError, "decided for each pair of rows by itself"),
        ({"where": "v > 3; DROP"}, QueryError, "not one complete SQL expression: a ; ends it"),
        ({"where": "v / (w - w) > 1"}, ColumnError, "where .* division by zero"),
        ({"where": 3}, QueryError, "where 3 must be an SQL condition, as text"),
        ({"on": "usr"}, ColumnError, "key 'usr' is not a column: did you mean 'user'"),
        ({"on": []}, QueryError, "no keys: on='user'"),
        ({"layout": "wide"}, StrategyError, "unknown layout 'wide'"),
        ({"windows": []}, WindowError, "no windows"),
        ({"windows": [mt.session("1 hour")]}, WindowError, "not a periodic window"),
        (
            {"windows": [(mt.tumbling("1 hour"),)]},
            WindowError,
            r"or a pair of them, \(left, right\)",
        ),
        (
            {"windows": [(mt.tumbling("2 hours"), mt.tumbling("2 hours", offset="1 hour"))]},
            WindowError,
            "never end together",
        ),
        (
            {"windows": [mt.tumbling("1 hour"), mt.tumbling("1 hour", id="x")]},
            WindowError,
            "are equal: keep one",
        ),
        (
            {"windows": [mt.tumbling("1 hour", id="x"), mt.tumbling("2 hours", id="x")]},
            WindowError,
            "window id 'x' is given twice",
        ),
    ],
)
def test_what_is_wrong_is_said(
    changed: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    ours, theirs = tables(1)
    asked: dict[str, Any] = {"on": "user", "time": ("ts", "at"), "windows": [mt.tumbling("1 hour")]}
    with pytest.raises(error, match=sentence):
        mt.join(ours, theirs, **asked | changed)

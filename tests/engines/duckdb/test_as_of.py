"""Trailing windows in process: every aggregate, kinds of tables, and what is refused."""

from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.aggregates import FUNCTIONS
from muntin.aggregates.algebra import make
from muntin_testing.reached import Reached, drawn
from muntin_testing.values import Case, all_cases, folded, same

START = datetime(2026, 1, 1, tzinfo=UTC)
INSTANT = pa.timestamp("us", "UTC")
ARROW = {
    **{"bigint": pa.int64(), "int": pa.int32(), "double": pa.float64(), "string": pa.string()},
    **{"boolean": pa.bool_(), "decimal(10,2)": pa.decimal128(10, 2)},
}


def table_of(case: Case, drawn: list[tuple[int, Any]]) -> pa.Table:
    several = len(case.types) > 1
    columns = {"ts": pa.array([START + timedelta(seconds=s) for s, _ in drawn], INSTANT)}
    for i, kind in enumerate(case.types):
        values = [value[i] if several else value for _, value in drawn]
        columns[f"v{i}"] = pa.array(values, ARROW[kind])
    return pa.table(columns)


@pytest.mark.parametrize(("name", "case"), all_cases(), ids=lambda x: str(getattr(x, "types", x)))
def test_every_aggregate_equals_recomputation(name: str, case: Case) -> None:
    reached = Reached()
    function = FUNCTIONS[name]() if not FUNCTIONS[name].variadic else FUNCTIONS[name].over(1)
    aggregate = make(function, *(f"v{i}" for i, _ in enumerate(case.types))).alias("a")

    @drawn(8)
    @given(st.lists(st.tuples(st.integers(0, 12), case.values), max_size=12))
    def each(drawn: list[tuple[int, Any]]) -> None:
        found = mt.as_of(table_of(case, drawn), "ts", ["5 seconds", mt.lifetime()], [aggregate])
        for (at, _), near, ever in zip(
            drawn,
            found["a__5_seconds"].to_pylist(),
            found["a__lifetime"].to_pylist(),
            strict=True,
        ):
            for ours, least in ((near, at - 5), (ever, -1)):
                held = [v for s, v in sorted(drawn, key=lambda d: d[0]) if least <= s < at]
                theirs = function.lower(folded(function, held))
                assert agrees(ours, theirs), (ours, theirs, held)
                reached["held"] += len(held) > 1

    each()
    reached.at_least(10, "held")


def agrees(ours: Any, theirs: Any) -> bool:
    """Equal up to the type that SQL gives a number."""
    if ours is None or theirs is None or isinstance(ours, list):
        return same(ours, theirs)
    if isinstance(ours, bool | str):
        return bool(ours == theirs)
    return same(float(ours), float(theirs), 1e-6)


ROWS = pa.table(
    {
        "ts": pa.array([START, START + timedelta(minutes=1), None], INSTANT),
        "k": pa.array(["a", "a", None]),
        "v": [1, 2, 3],
    }
)
HOUR: Any = {"time": "ts", "keys": "k", "windows": "1 hour", "aggregates": [mt.sum("v")]}


def test_a_result_is_of_the_kind_given() -> None:
    arrow = mt.as_of(ROWS, **HOUR)
    assert arrow.select(ROWS.column_names) == ROWS
    assert arrow["sum_v__1_hour"].to_pylist() == [None, 1, None]
    frame = ROWS.to_pandas().set_index(pd.Index([7, 7, 9]))
    pandas = mt.as_of(frame, **HOUR)
    assert list(pandas.index) == [7, 7, 9]
    pd.testing.assert_frame_equal(pandas[list(frame.columns)], frame)
    with duckdb.connect() as connection:
        relation = mt.as_of(connection.from_arrow(ROWS), **HOUR)
        assert isinstance(relation, duckdb.DuckDBPyRelation)
        assert relation.columns == ["ts", "k", "v", "sum_v__1_hour"]


def test_columns_that_are_not_read_may_be_of_any_type() -> None:
    strange = ROWS.append_column("x", pa.array([{"a": 1}, None, {"a": 2}]))
    assert mt.as_of(strange, **HOUR)["x"].to_pylist() == [{"a": 1}, None, {"a": 2}]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"windows": []}, "no windows"),
        ({"windows": ["1 hour", "60 minutes"]}, "are equal: keep one"),
        ({"windows": 3}, "3 is not a trailing window"),
        ({"windows": mt.tumbling("1 hour")}, "is not a trailing window"),
        ({"closed": "middle"}, "unknown closed 'middle'"),
        ({"operator": "kernel"}, "unknown operator 'kernel'"),
        ({"operator": "range"}, "operator 'range' is Spark's own"),
        ({"events_time": "ts"}, "events_time 'ts' names the time of other events"),
        ({"order_by": "v"}, "order_by 'v' orders events of one instant"),
        ({"keys": "kk"}, "key 'kk' is not a column"),
        ({"aggregates": [mt.sum("k")]}, "a sum of string cannot be computed"),
        ({"aggregates": [mt.sum("v").alias("a b"), mt.max("v").alias("a-b")]}, "would be both"),
        ({"grain": "0 seconds"}, "grain '0 seconds' must be positive"),
        ({"grain": "10 minutes"}, "at least 12 times its length, 2 hours, and none is that long"),
        ({"events": [1]}, "expected a Spark DataFrame"),
    ],
)
def test_what_cannot_be_is_refused(changed: Any, sentence: str) -> None:
    with pytest.raises(mt.MuntinError, match=sentence):
        mt.as_of(ROWS, **{**HOUR, **changed})


def test_rows_may_have_a_column_of_any_name() -> None:
    """Windows have no columns of their own in the result, as they have in that of mt.aggregate."""
    named = ROWS.rename_columns(["window_id" if n == "k" else n for n in ROWS.column_names])
    asked: Any = {**HOUR, "keys": "window_id", "aggregates": [mt.sum("v").alias("window")]}
    found = mt.as_of(named, **asked)
    usual = mt.as_of(ROWS, **{**HOUR, "aggregates": [mt.sum("v").alias("window")]})
    assert found["window__1_hour"].to_pylist() == usual["window__1_hour"].to_pylist()


def test_a_feature_may_not_hide_a_column() -> None:
    taken = ROWS.append_column("SUM_V__1_HOUR", pa.array([1, 2, 3]))
    with pytest.raises(mt.MuntinError, match="would be both a column of the rows"):
        mt.as_of(taken, **HOUR)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: mt.trailing(), "a duration or a number of rows"),
        (lambda: mt.trailing("1 hour", rows=3), "a duration or a number of rows"),
        (lambda: mt.trailing(rows=0), "rows 0 must be a whole number"),
        (lambda: mt.trailing("0 seconds"), "must be positive"),
        (lambda: mt.trailing("1 hour", delay="-1 hour"), "must not be negative"),
        (lambda: mt.trailing("1 month"), "whose length varies"),
        (lambda: mt.trailing("1 hour", id=""), "must be a non-empty text"),
    ],
)
def test_trailing_windows_that_cannot_be(wrong: Any, sentence: str) -> None:
    with pytest.raises(mt.MuntinError, match=sentence):
        wrong()

"""Windows that the data decides over Arrow and pandas, without Spark, against what they mean."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muntin as mt
from muntin.errors import StrategyError
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window
from muntin_testing.data_windows import Records, data_windows, meaning, records_of_a_key

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TYPES = {"go": pa.bool_(), "stop": pa.bool_(), "km": pa.int64(), "price": pa.int64()}


def table(keys: list[Records]) -> pa.Table:
    rows = [
        {**record, "k": None if key == 0 else f"key {key}", "n": n}
        for key, records in enumerate(keys)
        for n, record in enumerate(records)
    ]
    plain = pa.Table.from_pylist(rows[::-1])
    for name, kind in TYPES.items():
        at = plain.schema.get_field_index(name)
        plain = plain.set_column(at, name, plain.column(name).cast(kind))
    times = plain.column("t").cast(pa.timestamp("us", "UTC"))
    return plain.append_column("ts", times)


@settings(max_examples=12)
@given(data_windows(), st.lists(records_of_a_key(12), min_size=1, max_size=3))
def test_windows_are_what_they_mean_for_every_key(
    window: DataWindow | Window, keys: list[Records]
) -> None:
    windows = [window, mt.count_window(2, id="two")]
    found = mt.aggregate(
        table(keys), "ts", windows, [mt.count(), mt.sum("v"), mt.min("n")], "k", order_by="n"
    ).to_pylist()
    wanted = []
    for key, records in enumerate(keys):
        for each in windows:
            for start, end, run in meaning(each, records):
                bounds = [EPOCH + timedelta(microseconds=t) for t in (start, end)]
                values = sum(records[i]["v"] for i in run)
                name = None if key == 0 else f"key {key}"
                wanted.append((each.id, *bounds, name, len(run), values, run[0]))
    plain = [
        (r["window_id"], r["window"]["start"], r["window"]["end"], *list(r.values())[2:])
        for r in found
    ]
    assert sorted(plain, key=repr) == sorted(wanted, key=repr)


def test_pandas_comes_back_and_nothing_gives_nothing() -> None:
    rows = table([[{"t": 0, "v": 1, "km": 1, "price": 2, "go": True, "stop": False}]])
    frame = mt.aggregate(rows.to_pandas(), "ts", [mt.session("1 hour")], [mt.avg("v")], "k")
    assert frame["avg(v)"].tolist() == [1.0]
    empty = mt.aggregate(rows.slice(0, 0), "ts", [mt.session("1 hour")], [mt.count()], "k")
    assert empty.num_rows == 0
    assert empty.column_names == ["window_id", "window", "k", "count"]


def test_its_sql_is_refused_with_a_way_out() -> None:
    plan = mt.optimize(mt.query("ts", [mt.session("1 hour")], [mt.count()]))
    with pytest.raises(StrategyError, match=r"use plan\.apply"):
        plan.to_sql("duckdb")
    with pytest.raises(StrategyError, match="DuckDB has no window of its own"):
        mt.verify(pa.table({"ts": [EPOCH]}), plan.query)

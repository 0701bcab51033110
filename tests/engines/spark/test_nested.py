"""mt.distinct and mt.join: rows equal to one query a window, in batch and on streams."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.errors import ColumnError, QueryError, StrategyError, WindowError
from muntin.nesting import WindowManager
from muntin.physical.operators.distinct import stretches
from muntin.plan.slicing.cuts import ends
from muntin_testing.nested import one_join_a_window, one_query_a_window
from muntin_testing.pairs import Given, Row, any_pairs, brute_pairs
from muntin_testing.streams import Batches, played, streamed, written

pytestmark = pytest.mark.slow

START = datetime(2024, 1, 1)
SECOND = 1_000_000
SCHEMA = "ts timestamp, user string, item double, n int"


def slow(*seeds: int) -> list[Any]:
    """More of the same, for `make test-slow`."""
    return [pytest.param(seed, marks=pytest.mark.slow) for seed in seeds]


def any_windows(random: Random) -> list[mt.Window]:
    """Several windows of whole seconds, some of which nest and some of which do not."""
    found: dict[mt.Window, mt.Window] = {}
    while len(found) < random.randint(2, 7):
        slide = random.choice([1, 2, 3, 4, 6, 12])
        length = slide + random.randrange(0, 14)
        offset = -length % slide if random.random() < 0.6 else random.randrange(slide)
        window = mt.Window(length * SECOND, slide * SECOND, offset * SECOND)
        found[window] = window
    return list(found)


def any_rows(random: Random, count: int, first: int = 0) -> list[tuple[Any, ...]]:
    items = [0.0, -0.0, 1.0, 2.0, float("nan"), None]
    return [
        (
            None if random.random() < 0.05 else START + timedelta(seconds=random.uniform(0, 40)),
            random.choice(["a", "b", None]),
            random.choice(items),
            first + i,
        )
        for i in range(count)
    ]


def rows_of(df: DataFrame) -> Counter[str]:
    return Counter(repr(tuple(row)) for row in df.collect())


@pytest.mark.parametrize("seed", [0, 1, *slow(2, 3)])
def test_distinct_equals_one_query_a_window(frugal: SparkSession, seed: int) -> None:
    random = Random(seed)
    table = frugal.createDataFrame(any_rows(random, 60), SCHEMA)
    windows = any_windows(random)
    grouping = "minimum" if seed % 2 else "greedy"
    ours = mt.distinct(table, "ts", "item", windows, keys="user", layout="long", grouping=grouping)  # type: ignore[arg-type]
    theirs = one_query_a_window(table, windows, ["user", "item"])
    assert ours.schema.simpleString() == theirs.schema.simpleString()
    found = rows_of(ours)
    assert found == rows_of(theirs)
    assert found


def test_each_nested_row_stands_for_all_windows_that_hold_it(frugal: SparkSession) -> None:
    random = Random(9)
    table = frugal.createDataFrame(any_rows(random, 80), SCHEMA)
    windows = [mt.hopping(f"{n} seconds", "2 seconds", id=f"{n}") for n in (2, 6, 10)]
    windows += [mt.hopping("12 seconds", "4 seconds", id="12")]
    windows += [mt.hopping("12 seconds", "8 seconds", offset="4 seconds", id="12 rarely")]
    nested = mt.distinct(table, "ts", ["user", "item"], windows).collect()
    long = mt.distinct(table, "ts", ["user", "item"], windows, layout="long").collect()
    expected = Counter((r.window_id, r.window.end, r.user, repr(r.item), r.last_seen) for r in long)
    got = Counter(
        (id, r.window_end, r.user, repr(r.item), r.last_seen) for r in nested for id in r.windows
    )
    assert got == expected
    assert len(nested) < len(long) / 2
    ranges = {w.id: w.range for w in windows}
    for row in nested:
        assert row.window_id == row.windows[0]
        assert ranges[row.window_id] == min(ranges[id] for id in row.windows)
        assert row.expires == row.last_seen + timedelta(microseconds=ranges[row.window_id])
        assert row.last_seen < row.window_end <= row.expires


def test_stretches_end_wherever_a_window_does() -> None:
    few = [mt.Window(10, 4), mt.Window(9, 6, 1)]
    many = [mt.Window(20 * n, 4 * n, 2) for n in range(1, 400) if n % 3]
    for windows in (few, many):
        found = stretches(WindowManager(windows).groups)
        assert len(found.cuts) <= 64
        assert all(found.cuts_at(ends(window)) for window in windows)


@pytest.mark.parametrize("seed", [1, *slow(0)])
def test_join_equals_one_join_a_window(frugal: SparkSession, seed: int) -> None:
    random = Random(seed)
    left = frugal.createDataFrame(any_rows(random, 40), SCHEMA)
    right = frugal.createDataFrame(any_rows(random, 40, first=100), SCHEMA)
    right = right.withColumnRenamed("ts", "at")
    windows = any_windows(random)
    ours = mt.join(left, right, "user", ("ts", "at"), windows, layout="long")
    found = rows_of(ours)
    assert found == rows_of(one_join_a_window(left, right, windows))
    assert found


CONDITIONS = ("true", "left.n % 3 <> right.n % 3", "left.item <= right.item OR right.at < left.ts")


@pytest.mark.parametrize("seed", [2, *slow(0, 1)])
def test_a_window_for_each_side_and_a_condition(frugal: SparkSession, seed: int) -> None:
    random = Random(seed)
    left = frugal.createDataFrame(any_rows(random, 40), SCHEMA)
    right = frugal.createDataFrame(any_rows(random, 40, first=100), SCHEMA)
    right = right.withColumnRenamed("ts", "at")
    windows, where = any_pairs(random, 4), CONDITIONS[seed]
    asked: dict[str, Any] = {"on": "user", "time": ("ts", "at"), "windows": windows}
    ours = mt.join(left, right, **asked, layout="long", where=where)
    theirs = one_join_a_window(left, right, windows, where)
    assert ours.schema.simpleString() == theirs.schema.simpleString()
    found = rows_of(ours)
    assert found == rows_of(theirs)
    assert found
    arrow = mt.join(left.toArrow(), right.toArrow(), **asked, layout="long", where=where)
    assert arrow.num_rows == found.total()
    column = mt.join(left, right, **asked, layout="long", where=F.expr(where))
    assert rows_of(column) == found


def test_each_pair_is_found_once(frugal: SparkSession) -> None:
    random = Random(4)
    table = frugal.createDataFrame(any_rows(random, 40), SCHEMA)
    windows = [mt.hopping("3 seconds", "1 second", id="3"), mt.tumbling("5 seconds", id="5")]
    pairs = mt.join(table, table, ["user"], "ts", windows).collect()
    seen = Counter((row.left.n, row.right.n) for row in pairs)
    assert set(seen.values()) == {1}
    long = mt.join(table, table, ["user"], "ts", windows, layout="long").collect()
    got: Counter[Any] = Counter()
    steps = {"3": timedelta(seconds=1), "5": timedelta(seconds=5)}
    for row in pairs:
        assert (row.window_id, row.expires) == (row.windows[0].window_id, row.windows[0].expires)
        for held in row.windows:
            end = held.first_end
            while end <= held.expires:
                got[held.window_id, end, row.left.n, row.right.n] += 1
                end += steps[held.window_id]
    assert got == Counter((r.window_id, r.window.end, r.left.n, r.right.n) for r in long)
    # A wider window that slides less often need not hold what a narrower one does.
    assert any([held.window_id for held in row.windows] == ["3"] for row in pairs)


def batches(random: Random, count: int) -> list[list[tuple[Any, ...]]]:
    """Batches of which each begins where the last was half through: some rows come late."""
    return [
        [
            (
                START + timedelta(seconds=number * 8 + random.uniform(-14, 8)),
                random.choice("ab"),
                float(random.randrange(5)),
                number,
            )
            for _ in range(25)
        ]
        for number in range(count)
    ]


@pytest.mark.parametrize("output", ["append", pytest.param("update", marks=pytest.mark.long)])
def test_streams_of_distinct_items(frugal: SparkSession, tmp_path: Path, output: str) -> None:
    random = Random(5)
    windows = any_windows(random)
    folder = written(frugal, batches(random, 3), SCHEMA, tmp_path / "rows")

    def ours(df: DataFrame) -> DataFrame:
        rows: DataFrame = mt.distinct(
            df,
            "ts",
            "item",
            windows,
            keys="user",
            layout="long",
            output=output,  # type: ignore[arg-type]
        )
        return rows

    def theirs(df: DataFrame) -> DataFrame:
        return one_query_a_window(df, windows, ["user", "item"])

    stream = streamed(frugal, folder, SCHEMA).withWatermark("ts", "5 seconds")
    found = played(stream, {"ours": ours, "theirs": theirs}, output, tmp_path / "checkpoint")
    if output == "append":
        assert all(Counter(b["ours"]) == Counter(b["theirs"]) for b in found)
    else:  # a row of ours may come again unchanged, when only a wider window has a new row
        assert all(ours == theirs for ours, theirs in upserts(found))
    assert sum(len(batch["theirs"]) for batch in found) > 50


def upserts(found: Batches) -> Iterator[tuple[dict[Any, Any], dict[Any, Any]]]:
    """The tables that both sides would have after each batch."""
    tables: tuple[dict[Any, Any], dict[Any, Any]] = ({}, {})
    for batch in found:
        for table, side in zip(tables, ("ours", "theirs"), strict=True):
            table.update({row[:-1]: row[-1] for row in batch[side]})
        yield tables


@pytest.mark.slow
def test_streams_that_are_joined(frugal: SparkSession, tmp_path: Path) -> None:
    random = Random(6)
    windows = any_windows(random)[:3]
    folder = written(frugal, batches(random, 2), SCHEMA, tmp_path / "rows")
    stream = streamed(frugal, folder, SCHEMA)
    pairs = mt.join(stream, stream, "user", "ts", windows, layout="long", watermark="30 seconds")
    query = (
        pairs.writeStream.format("memory")
        .queryName("nested_join")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    table = frugal.read.schema(SCHEMA).parquet(str(folder))
    batch = mt.join(table, table, "user", "ts", windows, layout="long")
    found = rows_of(frugal.table("nested_join"))
    assert found == rows_of(batch)
    assert found


SPAN = 20
"""Seconds of event time that a batch of the joined streams adds."""


def arrivals(side: str, random: Random, batch: int, rows: int = 12) -> list[Row]:
    """Rows of one batch: a little out of order, and in the last one some that are far too late."""
    times = [random.uniform(SPAN * batch - 4, SPAN * (batch + 1)) for _ in range(rows)]
    times += [SPAN * (batch + 1) - 0.1]  # so that the watermark is 5 seconds behind this
    times += [random.uniform(0, SPAN) for _ in range(4)] if batch == 3 else []
    return [
        {
            side: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=max(time, 0)),
            "user": random.choice("ab"),
            "n": 1000 * batch + number,
            "late": number > rows,
        }
        for number, time in enumerate(times)
    ]


def test_joined_streams_with_late_rows_after_a_restart(
    frugal: SparkSession, tmp_path: Path
) -> None:
    random = Random(6)
    windows: list[Given] = [
        (mt.Window(9 * SECOND, 3 * SECOND), mt.Window(14 * SECOND, 2 * SECOND)),
        mt.Window(6 * SECOND, 3 * SECOND),
    ]
    rows = {side: [arrivals(side, random, batch) for batch in range(4)] for side in ("ts", "at")}
    folders = {side: tmp_path / side for side in rows}
    schemas = {side: f"{side} timestamp, user string, n int, late boolean" for side in rows}

    def arrive(batches: range) -> None:
        for side, folder in folders.items():
            folder.mkdir(exist_ok=True)
            some = [[tuple(row.values()) for row in rows[side][batch]] for batch in batches]
            new = written(frugal, some, schemas[side], tmp_path / "new")
            for file in sorted(new.iterdir()):
                file.rename(folder / f"{len(list(folder.iterdir())):04}.parquet")

    def joined(windows: list[Given]) -> Any:
        left, right = (streamed(frugal, folders[side], schemas[side]) for side in ("ts", "at"))
        asked: dict[str, Any] = {"on": "user", "time": ("ts", "at"), "windows": windows}
        asked |= {"where": "left.n % 4 <> right.n % 4", "watermark": "5 seconds"}
        assert "on streams of Spark" in mt.explain(left, right=right, **asked).explain()
        pairs = mt.join(left, right, **asked, layout="long")
        start = pairs.writeStream.format("parquet").trigger(availableNow=True)
        start = start.option("checkpointLocation", str(tmp_path / "checkpoint"))
        start.start(str(tmp_path / "pairs")).awaitTermination()

    for batches in (range(2), range(2, 4)):
        arrive(batches)
        joined(windows)
    found = frugal.read.parquet(str(tmp_path / "pairs")).selectExpr(
        "window_id", "window.end AS end", "left.n AS n", "right.n AS m"
    )
    got = Counter((r.window_id, r.end.astimezone(UTC), r.n, r.m) for r in found.collect())
    left, right = ([row for batch in rows[side] for row in batch] for side in ("ts", "at"))

    def brute(late: bool) -> Counter[tuple[Any, ...]]:
        lefts, rights = ([row for row in side if late or not row["late"]] for side in (left, right))
        return brute_pairs(lefts, rights, windows, lambda a, b: a["n"] % 4 != b["n"] % 4)

    assert got == brute(late=False)
    assert len(brute(late=True)) > len(got) > 50, "late rows would make pairs"
    arrive(range(3, 4))
    with pytest.raises(StreamingQueryException, match="the_query_or_its_windows_changed"):
        joined(windows[:1])


def test_what_is_wrong_is_said(frugal: SparkSession) -> None:
    table = frugal.createDataFrame(any_rows(Random(1), 3), SCHEMA)
    hour = [mt.tumbling("1 hour")]
    with pytest.raises(ColumnError, match="'itm' is not a column: did you mean 'item'"):
        mt.distinct(table, "ts", "itm", hour)
    with pytest.raises(QueryError, match="no items: name the columns"):
        mt.distinct(table, "ts", [], hour)
    with pytest.raises(StrategyError, match="unknown layout 'wide'"):
        mt.distinct(table, "ts", "item", hour, layout="wide")  # type: ignore[arg-type]
    with pytest.raises(StrategyError, match="unknown grouping"):
        mt.distinct(table, "ts", "item", hour, grouping="most")  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="'last_seen' is a column of the result"):
        mt.distinct(table.withColumnRenamed("n", "last_seen"), "ts", "last_seen", hour)
    with pytest.raises(WindowError, match="not a periodic window, and only these nest"):
        mt.distinct(table, "ts", "item", [mt.session("1 hour")])  # type: ignore[list-item]
    with pytest.raises(QueryError, match="no keys: on='user'"):
        mt.join(table, table, [], "ts", hour)
    with pytest.raises(ColumnError, match=r"expected a Spark DataFrame, .* got list"):
        mt.join([], table, "user", "ts", hour)
    with pytest.raises(ColumnError, match="the left side is a DataFrame and the right one a Table"):
        mt.join(table, table.toArrow(), "user", "ts", hour)
    with pytest.raises(
        ColumnError, match="the right side has no column 'itm': did you mean 'item'"
    ):
        mt.join(table, table, "user", "ts", hour, where="left.item < right.itm")
    with pytest.raises(ColumnError, match=r"where 'left\.item' cannot be evaluated"):
        mt.join(table, table, "user", "ts", hour, where="left.item")
    with pytest.raises(ColumnError, match=r"where .* cannot be evaluated"):
        mt.join(table, table, "user", "ts", hour, where=F.col("left.itm") > 3)
    with pytest.raises(QueryError, match="where 3 must be an SQL condition, as text"):
        mt.join(table, table, "user", "ts", hour, where=3)  # type: ignore[arg-type]
    with pytest.raises(ColumnError, match=r"time column .* is int, not a timestamp"):
        mt.join(table, table, "user", "n", hour)

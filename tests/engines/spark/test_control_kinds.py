"""Windows that come and go on streams of distinct items, of trailing windows, and of sessions."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import muntin as mt
from muntin.data_windows.protocol import Record, WindowFunction
from muntin_testing.control_query import SCHEMA, START, batches, naive
from muntin_testing.streams import streamed, written

Build = Callable[[DataFrame, mt.Control], DataFrame]


class Played:
    """A stream whose files and commands arrive when the test says so; it restarts at `None`."""

    def __init__(self, spark: SparkSession, folder: Path, build: Build, count: int = 6) -> None:
        self.spark, self.folder, self.build = spark, folder, build
        self.aside = sorted(written(spark, batches(count), SCHEMA, folder / "aside").iterdir())
        self.files = folder / "files"
        self.files.mkdir()
        self.control, self.found = mt.Control(folder / "control"), list[Row]()

    def play(self, *turns: Callable[[], object] | None) -> None:
        """A file a turn, after what the turn does; the rest at the end."""
        query = self._start()
        for turn in [*turns, *([lambda: None] * (len(self.aside) - len(turns)))]:
            if turn is None:
                query.stop()
                query = self._start()
            else:
                turn()
            file = self.aside.pop(0)
            file.rename(self.files / file.name)
            query.processAllAvailable()
        query.stop()

    def _start(self) -> Any:
        rows = self.build(streamed(self.spark, self.files, SCHEMA), self.control)
        return (
            rows.writeStream.foreachBatch(lambda batch, _: self.found.extend(batch.collect()))
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .start()
        )

    def rows(self) -> list[Row]:
        """All rows of the files, the last of which only ends the stream."""
        return self.spark.read.schema(SCHEMA).parquet(str(self.files)).where("k <> 'end'").collect()

    def listed(self) -> dict[str, Any]:
        return {row.id: row for row in self.control.list()}


def nothing() -> None:
    pass


@pytest.mark.long
def test_trailing_windows_come_and_go(streams: SparkSession, tmp_path: Path) -> None:
    def build(stream: DataFrame, control: mt.Control) -> DataFrame:
        options: Any = {"watermark": "10 seconds", "buckets": 2, "control": control}
        aggregates = [mt.count().alias("rows"), mt.sum("n").alias("total")]
        return mt.as_of(stream, "ts", ["20 seconds"], aggregates, "k", **options)

    played = Played(streams, tmp_path, build)
    control = played.control

    def register() -> None:
        control.register("8 seconds", id="short", aggregates=["total"])
        control.register(mt.trailing("40 seconds", delay="2 seconds", id="long"))
        with pytest.raises(mt.MuntinError, match="takes events however old"):
            control.register("lifetime")

    played.play(nothing, nothing, register, None, lambda: control.suspend("20 seconds"))
    listed, rows = played.listed(), played.rows()
    lengths = {"20 seconds": (20, 0), "short": (8, 0), "long": (40, 2)}
    assert {row.state for row in listed.values()} == {"running", "suspended"}
    begun = {id: naive(row.complete_from) or START for id, row in listed.items()}
    assert begun["short"] < START + timedelta(seconds=25), "what is held serves it at once"
    assert begun["long"] > begun["short"] + timedelta(seconds=15), "it needs what was not kept"
    counts = Counter(row.window_id for row in played.found)
    assert all(counts[id] > 8 for id in lengths)
    for row in played.found:
        if row.k == "end":
            continue
        length, delay = (timedelta(seconds=n) for n in lengths[row.window_id])
        until = row.ts - delay
        own = [r.n for r in rows if r.k == row.k and until - length <= r.ts < until]
        assert row.total == (sum(own) if own else None), row
        assert row.rows == (None if row.window_id == "short" else len(own)), row
    for id, own in listed.items():
        low, high = begun[id], naive(own.until)
        asked = [r for r in rows if r.ts >= low and (high is None or r.ts <= high)]
        assert counts[id] - sum(r.k == "end" for r in played.found if r.window_id == id) == len(
            asked
        )


def threes() -> type[WindowFunction]:
    """Made here, so that it is pickled whole: workers do not know this module."""

    class Threes(WindowFunction):
        """Three records a window."""

        def __init__(self) -> None:
            self.seen = 0

        def mark(self, time: int, record: Record) -> tuple[int, int]:
            turn, self.seen = self.seen % 3 == 0, self.seen + 1
            return int(turn and self.seen > 1), int(turn)

    return Threes


def test_sessions_counts_and_functions_come_and_go(streams: SparkSession, tmp_path: Path) -> None:
    windows = [mt.session("3 seconds", id="visits"), mt.user_window(threes(), id="threes")]

    def build(stream: DataFrame, control: mt.Control) -> DataFrame:
        options: Any = {"watermark": "10 seconds", "buckets": 2, "control": control}
        return mt.aggregate(stream, "ts", windows, [mt.count().alias("rows")], "k", **options)

    played = Played(streams, tmp_path, build)
    control = played.control

    def register() -> None:
        control.register(mt.session("1 second", id="short"))
        control.register("2 records", id="twos")
        control.register("10 seconds", id="tens")
        control.suspend("threes")
        with pytest.raises(mt.MuntinError, match="let go: give it in windows= from the start"):
            control.register("session 1 second up to 5 seconds")

    played.play(nothing, nothing, register, None, lambda: control.register("threes", id="again"))
    states = {id: row.state for id, row in played.listed().items()}
    assert states == dict.fromkeys(("visits", "short", "twos", "tens", "again"), "running") | {
        "threes": "suspended"
    }
    counts = Counter(row.window_id for row in played.found)
    assert all(counts[id] for id in states), counts
    assert {r.rows for r in played.found if r.window_id in ("twos", "threes", "again")} == {2, 3}
    rows = played.rows()
    start = naive(played.listed()["tens"].complete_from)
    assert start is not None
    tens = [r for r in played.found if r.window_id == "tens" and r.k != "end"]
    for row in tens:
        inside = [r for r in rows if r.k == row.k and row.window.start <= r.ts < row.window.end]
        assert row.rows == len(inside)
        assert row.window.start >= start
    assert {(r.k, r.ts) for r in rows if r.ts >= start} == {
        (r.k, r.ts)
        for r in rows
        for row in tens
        if r.k == row.k and row.window.start <= r.ts < row.window.end
    }


@pytest.mark.long
def test_distinct_items_come_and_go(streams: SparkSession, tmp_path: Path) -> None:
    windows = [mt.hopping("20 seconds", "10 seconds", id="always")]

    def build(stream: DataFrame, control: mt.Control) -> DataFrame:
        return mt.distinct(
            stream, "ts", "k", windows, layout="long", watermark="10 seconds", control=control
        )

    played = Played(streams, tmp_path, build)
    control = played.control
    played.play(nothing, nothing, lambda: control.register("30 seconds/5 seconds", id="new"), None)
    new = played.listed()["new"]
    complete, early = naive(new.complete_from), naive(new.answers_from)
    assert early is not None
    assert complete is not None
    assert early < complete
    rows = played.rows()
    found = [row for row in played.found if row.window_id == "new" and row.k != "end"]
    starts = {row.window.start for row in found}
    assert min(starts) == early
    for start in starts:
        end = start + timedelta(seconds=30)
        inside = sorted((r for r in rows if start <= r.ts < end), key=lambda r: r.ts)
        last = {r.k: r.ts for r in inside}
        assert {r.k: r.last_seen for r in found if r.window.start == start} == last


def test_what_cannot_have_a_control_says_why(streams: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    stream, control = streamed(streams, tmp_path / "files", SCHEMA), mt.Control(tmp_path / "c")
    windows, table = [mt.tumbling("10 seconds")], streams.createDataFrame([], SCHEMA)
    with pytest.raises(mt.MuntinError, match="cannot go with a control: its rows list the windows"):
        mt.distinct(stream, "ts", "k", windows, watermark="1 second", control=control)
    with pytest.raises(mt.MuntinError, match="control needs a streaming DataFrame"):
        mt.as_of(table, "ts", ["5 seconds"], [mt.count()], "k", control=control)
    fine: Any = {"watermark": "1 second", "control": control}
    coarse: Any = fine | {"control": mt.Control(tmp_path / "g", grain="1 second")}
    with pytest.raises(mt.MuntinError, match="grain 1 second is for periodic windows"):
        mt.as_of(stream, "ts", ["5 seconds"], [mt.count()], "k", **coarse)
    with pytest.raises(mt.MuntinError, match="column 'n' would be there twice"):
        mt.as_of(stream, "ts", ["5 seconds"], [mt.count().alias("n")], "k", **fine)
    with pytest.raises(mt.MuntinError, match=r"mt\.join cannot go with a control"):
        mt.join(stream, stream, "k", "ts", windows, watermark="1 second", control=control)

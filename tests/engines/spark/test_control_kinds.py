"""Windows that come and go on streams of distinct items, pairs, trailing windows and sessions."""

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import muntin as mt
from muntin.data_windows.protocol import Record, WindowFunction
from muntin_testing.control_query import SCHEMA, START, naive
from muntin_testing.played_controls import Played
from muntin_testing.streams import streamed


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


@pytest.mark.slow
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


def test_what_a_join_with_a_control_needs(streams: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    stream, control = streamed(streams, tmp_path / "files", SCHEMA), mt.Control(tmp_path / "c")
    table = streams.createDataFrame([], SCHEMA)
    both, pair = mt.tumbling("10 seconds"), (mt.tumbling("5 seconds"), mt.tumbling("10 seconds"))
    plain: Any = {"on": "k", "layout": "long", "watermark": "1 second", "control": control}

    def join(**changes: Any) -> DataFrame:
        asked: Any = {"left": stream, "right": stream, "time": "ts", "windows": [both], **plain}
        found: DataFrame = mt.join(**(asked | changes))
        return found

    with pytest.raises(mt.MuntinError, match="cannot go with a control: its rows list the windows"):
        join(layout="nested")
    with pytest.raises(mt.MuntinError, match="the same for both sides; give one window"):
        join(windows=[pair])
    with pytest.raises(mt.MuntinError, match="control needs a streaming DataFrame"):
        join(right=table)
    with pytest.raises(mt.MuntinError, match="control needs a streaming DataFrame"):
        join(left=table.toArrow(), right=table.toArrow())
    with pytest.raises(mt.MuntinError, match="this stream has none: give watermark"):
        join(watermark=None)
    with pytest.raises(mt.MuntinError, match="grain 1 second is for aggregates"):
        join(control=mt.Control(tmp_path / "g", grain="1 second"))
    said = str(mt.explain(stream, "ts", [both], right=stream, **plain))
    assert "windows come and go by a control" in said
    assert "pairs come out when their window has ended" in said
    assert not (tmp_path / "c").exists(), "nothing was begun"


@pytest.mark.long
def test_windows_of_a_join_come_and_go(streams: SparkSession, tmp_path: Path) -> None:
    """Every third number meets the others, also those that it met before a window was there."""
    windows = [mt.hopping("20 seconds", "10 seconds", id="always")]

    def build(stream: DataFrame, control: mt.Control) -> DataFrame:
        left, right = (stream.where(f"n % 3 {sign} 0 OR k = 'end'") for sign in ("=", "<>"))
        options: Any = {"watermark": "10 seconds", "layout": "long", "control": control}
        return mt.join(left, right, "k", "ts", windows, where="left.n <> right.n + 4", **options)

    played = Played(streams, tmp_path, build)
    control = played.control

    def register() -> None:
        control.register("12 seconds/3 seconds", id="short")
        control.register("30 seconds", id="long")

    played.play(nothing, nothing, register, None, lambda: control.suspend("always"))
    listed, rows = played.listed(), played.rows()
    running = dict.fromkeys(("short", "long"), "running")
    assert {id: row.state for id, row in listed.items()} == {"always": "suspended", **running}
    effective, begun = naive(listed["short"].effective), naive(listed["short"].complete_from)
    assert begun is not None
    assert effective is not None
    assert begun + timedelta(seconds=10) < effective, "what is held serves it at once"
    found = [row for row in played.found if row.k != "end"]
    for id, (length, slide) in {"always": (20, 10), "short": (12, 3), "long": (30, 30)}.items():
        low, high = naive(listed[id].complete_from), naive(listed[id].until)
        expected: Counter[Any] = Counter()
        for second in range(-length, 120):
            start = START + timedelta(seconds=second)
            end = start + timedelta(seconds=length)
            if second % slide == 0 and not (low and start < low) and not (high and end > high):
                expected += met([r for r in rows if start <= r.ts < end], start)
        own = [row for row in found if row.window_id == id]
        assert Counter((r.window.start, r.k, r.left.n, r.right.n) for r in own) == expected, id
        assert len(expected) > 20


def met(held: list[Row], start: datetime) -> Counter[Any]:
    """The pairs of an interval: every third number beside the others of its key."""
    return Counter(
        (start, one.k, one.n, other.n)
        for one in held
        for other in held
        if one.n % 3 == 0 and other.n % 3 and one.k == other.k and one.n != other.n + 4
    )

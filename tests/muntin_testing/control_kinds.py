"""Streams of every kind whose windows come and go: their queries, and their rows by brute force.

What a list of windows says of each (from when it is complete, until when it ran) decides which
rows there must be; these are found by looking at every row of the files.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, Row

import muntin as mt
from muntin_testing.control_query import START, naive

Found = Counter[tuple[Any, ...]]
OPTIONS: Any = {"watermark": "10 seconds"}
SECONDS = 300
"""No row is later, but for the one that ends the stream."""


@dataclass(frozen=True)
class Kind:
    """A stream's query, the texts of two windows to register, its rows and what they must be."""

    build: Callable[[DataFrame, mt.Control], DataFrame]
    registered: tuple[str, str]
    read: Callable[[Row], tuple[Any, ...]]
    expected: Callable[[Sequence[Row], Any, Found], Iterator[tuple[Any, ...]]]


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def periods(text: str) -> tuple[timedelta, timedelta]:
    """The range and the slide of a periodic window."""
    length, _, slide = text.partition("/")
    own = seconds(int(length.split()[0]))
    return own, seconds(int(slide.split()[0])) if slide else own


def instances(listed: Any, given: Found) -> Iterator[tuple[datetime, datetime]]:
    """The instances of a listed window; before it is complete, those of which rows were given."""
    length, slide = periods(listed.window)
    low, first, high = map(naive, (listed.complete_from, listed.answers_from, listed.until))
    answered = {(row[0], row[1]) for row in given}
    for second in range(-100, SECONDS):
        start = START + seconds(second)
        begun = low is None or start >= low
        if not begun and first is not None and start >= first:
            begun = start == first or (listed.id, start) in answered
        # windows are aligned to midnight, as START is
        if begun and (start - START) % slide == seconds(0) and not (high and start + length > high):
            yield start, start + length


def items(stream: DataFrame, control: mt.Control) -> DataFrame:
    windows = [mt.hopping("20 seconds", "10 seconds", id="first")]
    found: DataFrame = mt.distinct(
        stream, "ts", "k", windows, layout="long", control=control, **OPTIONS
    )
    return found


def expected_items(rows: Sequence[Row], listed: Any, given: Found) -> Iterator[tuple[Any, ...]]:
    for start, end in instances(listed, given):
        inside = sorted((r.ts, r.k) for r in rows if start <= r.ts < end)
        for key, last in {key: time for time, key in inside}.items():
            yield listed.id, start, key, last


def pairs(stream: DataFrame, control: mt.Control) -> DataFrame:
    left, right = (stream.where(f"n % 3 {sign} 0 OR k = 'end'") for sign in ("=", "<>"))
    windows = [mt.hopping("20 seconds", "10 seconds", id="first")]
    options: Any = {"layout": "long", "control": control, **OPTIONS}
    found: DataFrame = mt.join(
        left, right, "k", "ts", windows, where="left.n <> right.n + 4", **options
    )
    return found


def expected_pairs(rows: Sequence[Row], listed: Any, given: Found) -> Iterator[tuple[Any, ...]]:
    for start, end in instances(listed, given):
        held = [r for r in rows if start <= r.ts < end]
        for one in held:
            for other in held:
                meets = one.n % 3 == 0 and other.n % 3 and one.k == other.k
                if meets and one.n != other.n + 4:
                    yield listed.id, start, one.k, one.n, other.n


def features(stream: DataFrame, control: mt.Control) -> DataFrame:
    aggregates = [mt.count().alias("rows"), mt.sum("n").alias("total")]
    windows = [mt.trailing("20 seconds", id="first")]
    found: DataFrame = mt.as_of(stream, "ts", windows, aggregates, "k", control=control, **OPTIONS)
    return found


def expected_features(rows: Sequence[Row], listed: Any, given: Found) -> Iterator[tuple[Any, ...]]:
    length = periods(listed.window)[0]
    low, high = naive(listed.complete_from), naive(listed.until)
    for row in rows:
        if not (low and row.ts < low) and not (high and row.ts > high):
            own = [r.n for r in rows if r.k == row.k and row.ts - length <= r.ts < row.ts]
            yield listed.id, row.ts, row.k, row.n, len(own), sum(own) if own else None


def visits(stream: DataFrame, control: mt.Control) -> DataFrame:
    windows = [mt.session("3 seconds", id="first")]
    aggregates = [mt.count().alias("rows"), mt.sum("n").alias("total")]
    found: DataFrame = mt.aggregate(
        stream, "ts", windows, aggregates, "k", control=control, **OPTIONS
    )
    return found


def expected_visits(rows: Sequence[Row], listed: Any, given: Found) -> Iterator[tuple[Any, ...]]:
    gap = seconds(int(listed.window.split()[1]))
    low, high = naive(listed.complete_from), naive(listed.until)
    for key in {row.k for row in rows}:
        runs: list[list[Row]] = []
        for row in sorted((r for r in rows if r.k == key), key=lambda r: r.ts):
            if not runs or row.ts - runs[-1][-1].ts > gap:
                runs.append([])
            runs[-1].append(row)
        for run in runs:
            start, end = run[0].ts, run[-1].ts + gap
            if not (low and start < low) and not (high and end > high):
                yield listed.id, start, key, end, len(run), sum(r.n for r in run)


KINDS = {
    "distinct": Kind(
        items,
        ("30 seconds/5 seconds", "40 seconds/10 seconds"),
        lambda r: (r.window_id, r.window.start, r.k, r.last_seen),
        expected_items,
    ),
    "join": Kind(
        pairs,
        ("12 seconds/3 seconds", "40 seconds/10 seconds"),
        lambda r: (r.window_id, r.window.start, r.k, r.left.n, r.right.n),
        expected_pairs,
    ),
    "as_of": Kind(
        features,
        ("8 seconds", "45 seconds"),
        lambda r: (r.window_id, r.ts, r.k, r.n, r.rows, r.total),
        expected_features,
    ),
    "records": Kind(
        visits,
        ("session 1 second", "session 2 seconds"),
        lambda r: (r.window_id, r.window.start, r.k, r.window.end, r.rows, r.total),
        expected_visits,
    ),
}


def expected(kind: str, rows: Sequence[Row], control: mt.Control, given: Found) -> Found:
    """The rows of all windows of the list."""
    found: Found = Counter()
    ended: dict[str, datetime] = {}
    for listed in control.list():
        until, low = naive(listed.until), naive(listed.complete_from)
        if "refused" in listed.state or (listed.state == "suspended" and until is None):
            continue  # the latter was suspended before any row
        own = KINDS[kind].expected(rows, listed, given)
        if kind == "records":  # what ends by then came out under the window that had the id before
            own = (row for row in own if row[3] > ended.get(listed.id, START - seconds(1)))
        found.update(own)
        if until is not None and not (low and low > until):
            ended[listed.id] = until
    return found

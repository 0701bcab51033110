"""Rows, windows and brute force for joins and distinct items: explicit intervals, no formulas."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import muntin as mt
from muntin_testing.reached import Reached

START = datetime(2024, 1, 1, tzinfo=UTC)
SECOND = 1_000_000
SPAN = 40
"""Seconds that rows are spread over."""

Row = dict[str, Any]
Given = mt.Window | tuple[mt.Window, mt.Window]
"""A window of a join: for both sides, or one for each."""


def any_window(random: Random, slide: int, ends_at: int | None = None) -> mt.Window:
    """A window of whole seconds; all with `ends_at` 0 and slides that divide each other meet."""
    length = slide + random.randrange(0, 14)
    offset = random.randrange(slide) if ends_at is None else (ends_at - length) % slide
    return mt.Window(length * SECOND, slide * SECOND, offset * SECOND)


def any_pairs(random: Random, count: int) -> list[Given]:
    """Windows for both sides and pairs of windows, of which some end together rarely."""
    found: dict[tuple[mt.Window, mt.Window], Given] = {}
    while len(found) < count:
        if random.random() < 0.3:
            both = any_window(random, random.choice([1, 2, 3, 5]))
            found[both, both] = both
            continue
        left, right = (any_window(random, random.choice([1, 2, 3, 4, 6]), 0) for _ in "lr")
        found[left, right] = (left, right)
    return list(found.values())


def any_begin(random: Random) -> datetime:
    """When rows begin: now and then before 1970."""
    return START if random.random() < 0.8 else datetime(1969, 12, 31, 23, 59, 30, tzinfo=UTC)


def any_rows(random: Random, count: int, time: str, value: str, begin: datetime) -> list[Row]:
    """Rows of a few users, some without a time, a user or a value."""
    return [
        {
            time: None
            if random.random() < 0.05
            else begin + timedelta(seconds=random.uniform(0, SPAN)),
            "user": random.choice(["a", "b", "b", None]),
            value: random.choice([0, 1, 2, 3, None]),
            "n": number,
        }
        for number in range(count)
    ]


def instances(window: mt.Window, times: Sequence[datetime]) -> Iterator[tuple[datetime, datetime]]:
    """Every [start, end) that may hold one of these times, by counting up."""
    if not times:
        return
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    length, slide = (timedelta(microseconds=n) for n in (window.range, window.slide))
    first = min(times) - length - slide
    start = epoch + timedelta(microseconds=window.offset)
    start += (first - start) // slide * slide
    while start <= max(times):
        yield start, start + length
        start += slide


def brute_pairs(
    left: list[Row],
    right: list[Row],
    windows: Sequence[Given],
    holds: Callable[[Row, Row], bool],
    reached: Reached | None = None,
) -> Counter[tuple[Any, ...]]:
    """(window id, end, n of the left, n of the right row): every interval of both sides is tried.

    The left has its time in `ts`, the right in `at`.
    """
    found: Counter[tuple[Any, ...]] = Counter()
    for given in windows:
        ours, theirs = given if isinstance(given, tuple) else (given, given)
        id = ours.id if ours.id == theirs.id else f"{ours.id} & {theirs.id}"
        times = [r["ts"] for r in left if r["ts"]] + [r["at"] for r in right if r["at"]]
        begins = {end: start for start, end in instances(theirs, times)}
        for start, end in instances(ours, times):
            if end not in begins:
                continue
            lefts = [r for r in left if r["ts"] and start <= r["ts"] < end]
            rights = [r for r in right if r["at"] and begins[end] <= r["at"] < end]
            for a in lefts:
                for b in rights:
                    if a["user"] is not None and a["user"] == b["user"] and holds(a, b):
                        found[id, end, a["n"], b["n"]] += 1
    if reached is not None:
        reached["pairs"] += bool(found)
        reached["held by several windows"] += len({key[0] for key in found}) > 1
        reached["held several times"] += len({key[2:] for key in found}) < len(found)
        reached["sides differ"] += any(" & " in key[0] for key in found)
    return found


def brute_items(rows: list[Row], windows: Sequence[mt.Window]) -> Counter[tuple[Any, ...]]:
    """(window id, end, user, value, last seen): every interval is tried."""
    found: Counter[tuple[Any, ...]] = Counter()
    times = [r["ts"] for r in rows if r["ts"]]
    for window in windows:
        for start, end in instances(window, times):
            last: dict[tuple[Any, Any], datetime] = {}
            for row in rows:
                if row["ts"] and start <= row["ts"] < end:
                    item = row["user"], row["v"]
                    last[item] = max(last.get(item, row["ts"]), row["ts"])
            found.update((window.id, end, *item, seen) for item, seen in last.items())
    return found

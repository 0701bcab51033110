"""What the subsumption experiments run on, and what they measure: groups, tuples held, seconds.

Three classes by the longest slide: smooth (at most 10 timestamps), medium (20), abrupt (30); ranges
up to 60, always slide < range; pools of 1,000 to 10,000. The paper (section 5) says no more about
how they are drawn: here slides are uniform, and ranges uniform between slide and 60. Windows end at
multiples of their slides, as the paper has them; `spark=True` lets them begin there instead.

The paper replays LBL-CONN-7, which is not available. Values are the bytes sent by TCP connections
derived from the archive's LBL-TCP-3 and LBL-PKT-4 traces, repeated to reach a rate; arrivals are
every tenth packet of LBL-PKT-4, at its own time. Without the files both are generated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import mean
from time import perf_counter

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from muntin.aggregates import sum as sum_of
from muntin.model.windows import Window
from muntin.nesting import NestedAggregate, NestedJoin, WindowManager
from muntin.nesting.chains import fewest, hosts
from muntin.nesting.greedy import greedy

CLASSES = {"smooth": 10, "medium": 20, "abrupt": 30}
"""The longest slide of each class."""
SIZES = (1_000, 2_000, 5_000, 10_000)
LONGEST = 60
SECOND = 1_000_000
THINNED = 10
"""Every so many packets one arrives: each moves up every stair, and only proportions matter."""
FILES = ("lbl_connections_derived.parquet", "lbl_pkt4_arrivals.parquet")


def pool(kind: str, size: int, seed: int, spark: bool = False) -> list[Window]:
    """Windows of a class; equal ones occur, as several users may ask for the same.

    >>> [str(w) for w in pool("smooth", 3, seed=1)]
    ['W(34, 3, 2)', 'W(14, 2)', 'W(30, 1)']
    """
    random = Random(f"{kind}/{size}/{seed}")
    windows = []
    for number in range(size):
        slide = random.randint(1, CLASSES[kind])
        length = random.randint(slide + 1, LONGEST)
        windows.append(Window(length, slide, 0 if spark else -length % slide, f"w{number}"))
    return windows


@dataclass(frozen=True, slots=True)
class Traffic:
    """Values of tuples, the timestamps (seconds) of arrivals, and where both come from."""

    values: NDArray[np.int64]
    arrivals: NDArray[np.int64]
    origin: str

    def tuples(self, timestamp: int, rate: int) -> NDArray[np.int64]:
        """The values of one timestamp at a rate, from the file repeated as often as needed."""
        at = np.arange(timestamp * rate, (timestamp + 1) * rate) % len(self.values)
        return self.values[at]


def traffic(data: Path | None, seed: int) -> Traffic:
    """The real traces if there is a folder with them, else generated ones."""
    if data is not None and all((data / name).exists() for name in FILES):
        connections, packets = (pq.read_table(data / name) for name in FILES)
        values = connections.column("bytes_orig").fill_null(0).to_numpy().astype(np.int64)
        arrivals = packets.column("t_us").to_numpy()[::THINNED] // SECOND
        origin = (
            f"bytes of {len(values):,} TCP connections derived from LBL-TCP-3 and LBL-PKT-4, and "
            f"{len(arrivals):,} packet arrivals of LBL-PKT-4, every tenth (LBL-CONN-7 itself is "
            "not available)"
        )
        return Traffic(values, arrivals, origin)
    random = np.random.default_rng(seed)
    values = np.exp(random.normal(6, 2, 10_000)).astype(np.int64)
    arrivals = np.sort(random.integers(0, 3_600, 470_000 // THINNED))
    return Traffic(values, arrivals, "generated tuples (give --data for the LBL traces)")


WARM = 2 * LONGEST
"""Timestamps before measuring: windows are complete then, none is half-filled."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """Figure 10: how many groups a pool needs."""

    kind: str
    windows: int
    distinct: int
    materialised: int
    greedy: int
    fewest: int
    registered: int
    starts_aligned: int
    greedy_seconds: float
    fewest_seconds: float
    registered_seconds: float


def groupings(sizes: Sequence[int], sets: int, seed: int) -> Iterator[Grouping]:
    """Every class and size, one row for each set."""
    for kind in CLASSES:
        for size in sizes:
            for each in range(sets):
                yield _grouping(kind, size, seed + each)


def _grouping(kind: str, size: int, seed: int) -> Grouping:
    windows = pool(kind, size, seed)
    start = perf_counter()
    first = len(greedy(windows))
    second = perf_counter()
    best = len(fewest(windows))
    third = perf_counter()
    manager = WindowManager()
    for window in windows:
        manager.register(window)
    seconds = (second - start, third - second, perf_counter() - third)
    aligned = len(greedy(pool(kind, size, seed, spark=True)))
    groups = (first, best, len(manager.groups), aligned)
    return Grouping(kind, size, len(set(windows)), len(hosts(windows)), *groups, *seconds)


@dataclass(frozen=True, slots=True)
class Memory:
    """Figure 11: tuples held, on average over timestamps."""

    windows: int
    groups: int
    shared: float
    buffered: float
    widest: float
    distinct_apart: float
    apart: float


def memories(kind: str, sizes: Sequence[int], stream: Traffic, seed: int) -> Iterator[Memory]:
    """Stairs fed with every arrival, beside the states that windows would hold each for itself."""
    for size in sizes:
        yield _memory(pool(kind, size, seed), stream)


def _memory(windows: list[Window], stream: Traffic, measured: int = LONGEST) -> Memory:
    last = WARM + measured
    arrivals = stream.arrivals[stream.arrivals < last]
    counts = np.concatenate([[0], np.cumsum(np.bincount(arrivals, minlength=last))])
    nested = NestedJoin(windows)
    held: list[tuple[float, ...]] = []
    position = 0
    for now in range(1, last):
        while position < len(arrivals) and arrivals[position] < now:
            nested.insert("left", int(arrivals[position]), position)
            position += 1
        nested.advance(now)
        if now > WARM:
            widest = [group.widest for group in nested.manager.groups]
            sides = (widest, set(windows), windows)
            apart = (sum(_held_by(window, now, counts) for window in side) for side in sides)
            held.append((len(nested), nested.buffered, *apart))
    return Memory(len(windows), len(nested.manager.groups), *map(mean, zip(*held, strict=True)))


def _held_by(window: Window, now: int, counts: NDArray[np.int64]) -> int:
    """The tuples from the start of the instance that ended last until now."""
    fired = now - (now - window.offset - window.range) % window.slide
    return int(counts[now] - counts[max(fired - window.range, 0)])


@dataclass(frozen=True, slots=True)
class Timing:
    """Figure 12: seconds a timestamp to answer SUM for all windows."""

    kind: str
    windows: int
    distinct: int
    rate: int
    answers: float
    shared: float
    one_by_one: float
    distinct_apart: float
    apart: float


def timings(
    size: int, rates: Sequence[int], stream: Traffic, seed: int, measured: int = LONGEST
) -> Iterator[Timing]:
    """Every class and rate; windows apart take longer, and are timed over fewer timestamps."""
    few = max(1, measured // 10)
    for kind in CLASSES:
        windows = pool(kind, size, seed)
        together = _warm([windows])
        once = _warm([[window] for window in dict.fromkeys(windows)])
        alone = _warm([[window] for window in windows])
        for rate in rates:
            shared, answers = _timed(together, stream, rate, measured)
            one_by_one, _ = _timed(together, stream, rate, few, each_tuple=True)
            distinct_apart, _ = _timed(once, stream, rate, few)
            apart, _ = _timed(alone, stream, rate, few)
            figures = (shared, one_by_one, distinct_apart, apart)
            yield Timing(kind, size, len(once), rate, answers, *figures)


def _warm(pools: list[list[Window]]) -> list[NestedAggregate]:
    """One tuple a timestamp: all granules exist, at little cost."""
    nested = [NestedAggregate(sum_of("v"), windows) for windows in pools]
    for each in nested:
        for now in range(WARM):
            each.insert(now, 1)
    return nested


def _timed(
    nested: Sequence[NestedAggregate],
    stream: Traffic,
    rate: int,
    timestamps: int,
    each_tuple: bool = False,
) -> tuple[float, float]:
    """Mean seconds and answers a timestamp; whoever shares nothing sums the tuples for itself."""
    seconds, answers = 0.0, 0
    first = (nested[0].now or 0) + 1
    for now in range(first, first + timestamps):
        tuples = stream.tuples(now, rate)
        values = tuples.tolist() if each_tuple else []
        start = perf_counter()
        for each in nested:
            for value in values or [int(tuples.sum())]:
                answers += len(each.insert(now, value))
        seconds += perf_counter() - start
    return seconds / timestamps, answers / timestamps

"""What section 7 of the Cutty paper runs on: DEBS 2012 rows, count windows, and sessions.

periodic       count windows, range 20,000 … 80,000, slide 1,000 … 20,000, multiples of 10, uniform
non-periodic   sessions: one begins where the one before ended; their lengths are exponential around
               the mean of one of 20 sensors, log-uniform from 1 second to 10 minutes of 100 Hz

The paper has 33 million rows; only the first 17,000 are at hand, and none of their sensors changes
state. So the rows are repeated, and the sensors are made up. Values matter to no count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from muntin.errors import ColumnError
from muntin.model.data_windows import CountWindow

FILE = "debs2012_head.parquet"
SIZES = (1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
SENSORS = 20
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stream:
    """A marked stream: values, and at which record each window begins and ends, by query."""

    values: list[float]
    begin: Numbers
    stop: Numbers


def read_debs(data: Path, columns: list[str]) -> list[Numbers]:
    """Columns of the DEBS 2012 Grand Challenge, from the file or the folder that `--data` names."""
    path = data / FILE if data.is_dir() else data
    if not path.exists():
        raise ColumnError(f"{path} does not exist: --data is a folder with {FILE}, or that file")
    return [column.to_numpy() for column in pq.read_table(path, columns=columns).columns]


def energies(data: Path | None, records: int, seed: int) -> tuple[list[float], str]:
    """The mean of the three energy measures, repeated to so many records; and what they are."""
    if data is None:
        values = np.random.default_rng(seed).normal(12_000.0, 800.0, records)
        return values.tolist(), "generated rows (give --data a folder with the DEBS 2012 rows)"
    values = np.mean(read_debs(data, ["mf01", "mf02", "mf03"]), axis=0)
    said = f"the first {len(values):,} DEBS 2012 rows, repeated to {records:,}"
    return np.resize(values, records).tolist(), said


def periodic_queries(count: int, seed: int) -> list[CountWindow]:
    """Count windows as in section 7.2; a larger workload holds the smaller ones."""
    random = np.random.default_rng(seed)
    ranges = random.integers(2_000, 8_001, count) * 10
    slides = random.integers(100, 2_001, count) * 10
    pairs = zip(ranges.tolist(), slides.tolist(), strict=True)
    return [CountWindow(range=r, slide=s, id=f"{i}") for i, (r, s) in enumerate(pairs)]


def periodic(values: list[float], queries: Sequence[CountWindow]) -> Stream:
    """The begins and ends of count windows over the values."""
    starts = [np.arange(0, len(values), q.slide) for q in queries]
    stops = [s + q.range for s, q in zip(starts, queries, strict=True)]
    return Stream(values, np.concatenate(starts), np.concatenate(stops))


def sensor_means(seed: int) -> list[float]:
    """Mean records between two changes of each sensor."""
    random = np.random.default_rng(seed)
    return sorted(map(float, np.exp(random.uniform(np.log(100), np.log(60_000), SENSORS))))


def sessions(values: list[float], count: int, seed: int) -> Stream:
    """Sessions of `count` queries, each of one of the sensors."""
    random = np.random.default_rng(seed + 1)
    means = sensor_means(seed)
    starts, stops = [], []
    for _ in range(count):
        mean = means[int(random.integers(SENSORS))]
        need = int(len(values) / mean * 2) + 20
        lengths = np.maximum(random.exponential(mean, need).astype(np.int64), 1)
        edges = np.concatenate(([0], np.cumsum(lengths)))
        inside = edges[edges < len(values)]
        starts.append(inside)
        stops.append(edges[1 : len(inside) + 1])
    return Stream(values, np.concatenate(starts), np.concatenate(stops))

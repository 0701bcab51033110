"""What the benchmarks ask, and of which events: seeded, in one parquet file, made once and kept.

10 million events over 100,000 seconds (100 a second) of 100 devices, in order of time: ts in UTC
microseconds, device, and a value around 20. Another number of events keeps the rate.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin.cli.calibration_cases import (
    AGGREGATES,
    MIXED,
    OVERLAP,
    SINGLE,
    cache_folder,
    minute_windows,
)
from muntin.model.query import Query, query
from muntin.model.windows import Window

START = 1_700_000_000_000_000
"""14 November 2023: the first event, in microseconds."""

CHUNK = 1_000_000
SCHEMA = pa.schema(
    [("ts", pa.timestamp("us", "UTC")), ("device", pa.int32()), ("value", pa.float64())]
)


@dataclass(frozen=True, slots=True)
class Events:
    """How many events, of how many devices, at what rate; the seed decides every value."""

    rows: int = 10_000_000
    keys: int = 100
    rate: int = 100
    seed: int = 7

    @property
    def name(self) -> str:
        """The file's name says everything that its content depends on."""
        return f"events-{self.rows}-{self.keys}-{self.rate}-{self.seed}.parquet"

    def file(self, folder: Path | None = None) -> Path:
        """The file, written first if it is not there."""
        path = (folder or cache_folder()) / self.name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(f".{os.getpid()}")
            self._write(unfinished)
            unfinished.rename(path)
        return path

    def _write(self, path: Path) -> None:
        random = np.random.default_rng(self.seed)
        span = self.rows * 1_000_000 // self.rate
        times = np.sort(random.integers(0, span, self.rows)) + START
        with pq.ParquetWriter(path, SCHEMA, compression="zstd") as file:
            for begin in range(0, self.rows, CHUNK):
                part = times[begin : begin + CHUNK]
                columns = [
                    pa.array(part, pa.timestamp("us", "UTC")),
                    pa.array(random.integers(0, self.keys, len(part), dtype=np.int32)),
                    pa.array(random.normal(20.0, 5.0, len(part))),
                ]
                file.write_table(pa.table(columns, schema=SCHEMA))


def _many(count: int, longest: int) -> tuple[Window, ...]:
    """So many different windows: slides of whole minutes, up to `longest` slides long."""
    random = Random(count)
    shapes: dict[tuple[int, int], None] = {}
    while len(shapes) < count:
        slide = random.choice((1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60))
        shapes[(slide * random.randint(1, longest), slide)] = None
    return minute_windows(*shapes)


SETS: dict[str, tuple[Window, ...]] = {
    "mixed": MIXED,
    "overlap": OVERLAP,
    "hundred": _many(100, 24),
    "thousand": _many(1000, 240),
    "uneven": (
        Window("70 seconds", "60 seconds"),
        Window("5 minutes", "2 minutes", "30 seconds"),
        Window("1 hour", "7 minutes"),
        Window("90 minutes", "10 minutes", "3 minutes"),
        Window("6 hours", "25 minutes", "-10 minutes"),
    ),
    "single": SINGLE,
}
"""Each one kind of sharing; uneven: ranges that are no multiple of the slide, and offsets."""


def query_of(name: str) -> Query:
    """The benchmark query over a set of windows.

    >>> [w.id for w in query_of("mixed").windows][-1]
    '1 hour/5 minutes'
    """
    return query("ts", SETS[name], AGGREGATES, keys=["device"])

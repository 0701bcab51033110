"""Seeded events in one parquet file, made once and kept.

10 million events over 100,000 seconds (100 a second) of 100 devices, in order of time: ts in UTC
microseconds, device, and a value around 20. Another number of events keeps the rate.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin.cli.calibration_plans import cache_folder

START = 1_700_000_000_000_000
"""14 November 2023: the first event, in microseconds."""

CHUNK = 1_000_000


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


SCHEMA = pa.schema(
    [("ts", pa.timestamp("us", "UTC")), ("device", pa.int32()), ("value", pa.float64())]
)

"""What local parquet files say of their rows, read without Spark: footers, and a few rows.

footers   how many rows there are, and where the time was written with its bounds (Spark's default,
          INT96, has none) when it begins and ends.
sample    stretches of neighbouring rows, spread over the row groups. They say how many keys there
          are, and how time passes where footers do not: ROWS of the time and the keys in all,
          whatever the size of the files.

Keys that a sample shows once say how many it does not show: of d distinct keys with f1 seen once
and f2 twice, there are about d + f1²/(2·f2) (Chao, 1984). That holds where keys are mixed; where
all rows of a key stand together, the sample shows its share of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin.errors import ColumnError
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole

ROWS, STRETCHES = 32_768, 8
"""How many rows are read, and in how many stretches."""
ORDERED = 0.9
"""Rows are in order of time where so many of them are not before the one before."""


@dataclass(frozen=True, slots=True)
class Files:
    """Local parquet files, of which no more than the footers was read yet."""

    files: tuple[pq.ParquetFile, ...]

    @staticmethod
    def of(addresses: Sequence[str]) -> Files:
        """The files at these addresses."""
        places = [urlparse(name) for name in addresses]
        paths = [Path(unquote(place.path)) for place in places]
        local = all(place.scheme in ("", "file") for place in places)
        if not paths or not local or any(path.suffix != ".parquet" for path in paths):
            raise ColumnError(
                "only local parquet files say how many rows they hold: use statistics='sample', or "
                "give rows=, keys= and rate="
            )
        return Files(tuple(pq.ParquetFile(path) for path in paths))

    @property
    def rows(self) -> int:
        """How many rows they hold."""
        return sum(file.metadata.num_rows for file in self.files)

    def seconds(self, time: str) -> float | None:
        """From the first time to the last, by the footers; None where they do not say."""
        bounds = [both for file in self.files for both in _bounds(file.metadata, time)]
        if not bounds:
            return None
        lows, highs = zip(*bounds, strict=True)
        return max((max(highs) - min(lows)).total_seconds(), 1e-6)

    def sample(self, columns: Sequence[str]) -> Sample:
        """Some rows of those of these columns that the files have, under the names given."""
        names = {field.name.lower(): field.name for field in self.files[0].schema_arrow}
        own = {name: names[name.lower()] for name in columns if name.lower() in names}
        groups = [(f, g) for f in self.files for g in range(f.metadata.num_row_groups)]
        groups = [(f, g) for f, g in groups if f.metadata.row_group(g).num_rows]
        if not own or not groups:
            return Sample((), self.rows, 0)
        chosen = sorted({round(i) for i in np.linspace(0, len(groups) - 1, STRETCHES)})
        parts = [_first_rows(*groups[i], own, ROWS // len(chosen)) for i in chosen]
        before = sum(f.metadata.row_group(g).num_rows for f, g in groups[: chosen[-1]])
        return Sample(tuple(parts), self.rows, before + parts[-1].num_rows)


@dataclass(frozen=True, slots=True)
class Sample:
    """Stretches of rows, of so many rows in all; the last one ends when so many have passed."""

    stretches: tuple[pa.Table, ...]
    rows: int
    passed: int

    def has(self, *names: str) -> bool:
        """Whether it has rows of all these columns."""
        return bool(self.stretches) and set(names) <= set(self.stretches[0].column_names)

    def count_keys(self, names: Sequence[str]) -> float | None:
        """About how many distinct keys there are; None if keys are no columns of the files."""
        if not names:
            return 1.0
        if not self.has(*names):
            return None
        codes = _codes(pa.concat_tables(self.stretches), names)
        seen, once, twice = _frequencies(codes)
        ends = np.cumsum([stretch.num_rows for stretch in self.stretches])
        parts = np.split(codes, ends[:-1])
        again, beside = len(codes) - seen, sum(int((p[1:] == p[:-1]).sum()) for p in parts)
        apart = sum(len(np.unique(part)) for part in parts)
        if seen > 1 and 2 * beside >= max(again, 1) and 2 * apart < 3 * seen:
            return self.rows * seen / len(codes)  # each key's rows stand together
        return float(min(seen + once**2 / (2 * max(twice, 1)), self.rows))

    def seconds(self, time: str) -> float | None:
        """About how long it is from the first time to the last; None if that is no time."""
        if not self.has(time) or not _is_time(self.stretches[0].schema.field(time).type):
            return None
        parts = [each for each in map(partial(_microseconds, time), self.stretches) if len(each)]
        if not parts:
            return None
        span = float(max(map(np.max, parts)) - min(map(np.min, parts)))
        if len(parts) > 1:
            ordered = float(np.median([np.ptp(part) for part in parts])) < span / 2
        else:
            ordered = bool(np.mean(np.diff(parts[0]) >= 0) >= ORDERED) if span else False
        return max(span * (self.rows / self.passed if ordered else 1) / 1e6, 1e-6)


def _first_rows(
    file: pq.ParquetFile, group: int, columns: Mapping[str, str], rows: int
) -> pa.Table:
    """The first rows of a row group: no more pages are read than it takes."""
    own = list(columns.values())
    batches = file.iter_batches(batch_size=rows, row_groups=[group], columns=own)
    first = pa.Table.from_batches([next(iter(batches))])
    return pa.table({name: first.column(held) for name, held in columns.items()})


def _codes(rows: pa.Table, names: Sequence[str]) -> Array:
    """A number for every row, from 0: equal where all the keys are."""
    codes = np.zeros(rows.num_rows, dtype=np.int64)
    for name in names:
        column = whole(rows, name).dictionary_encode(null_encoding="encode")
        own = column.indices.to_numpy(zero_copy_only=False)
        codes = np.unique(codes * (int(own.max()) + 1) + own, return_inverse=True)[1]
    return codes


def _frequencies(codes: Array) -> tuple[int, int, int]:
    """How many different numbers there are, and how many of them occur once and twice."""
    counts = np.bincount(codes)
    return len(counts), int((counts == 1).sum()), int((counts == 2).sum())


def _is_time(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) or pa.types.is_date(kind)


def _microseconds(time: str, rows: pa.Table) -> Array:
    known = whole(rows, time).drop_null().cast(pa.timestamp("us"), safe=False)
    return np.asarray(known.cast(pa.int64()).to_numpy())


def _bounds(footer: pq.FileMetaData, time: str) -> Iterable[tuple[datetime, datetime]]:
    """The first and last time of each row group that has them."""
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for i in range(group.num_columns):
            column = group.column(i)
            known = column.statistics
            named = column.path_in_schema.lower() == time.lower()
            if named and known and known.has_min_max and isinstance(known.min, datetime):
                yield _utc(known.min), _utc(known.max)


def _utc(instant: datetime) -> datetime:
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)

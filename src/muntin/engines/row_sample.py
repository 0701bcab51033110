"""Some rows of a table: about how many distinct keys it has, and how time passes in it.

Keys that a sample shows once say how many it does not show: of d distinct keys with f1 seen once
and f2 twice, there are about d + f1²/(2·f2) (Chao, 1984). That holds where keys are mixed; where
all rows of a key stand together, the sample shows its share of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole

ROWS, STRETCHES = 32_768, 8
"""How many rows are read, and in how many stretches."""
ORDERED = 0.9
"""Rows are in order of time where so many of them are not before the one before."""


def spread(places: int) -> list[int]:
    """Some of so many places, from the first to the last.

    >>> spread(3), spread(15)
    ([0, 1, 2], [0, 2, 4, 6, 8, 10, 12, 14])
    """
    return sorted({round(i) for i in np.linspace(0, places - 1, STRETCHES)})


@dataclass(frozen=True, slots=True)
class Sample:
    """Stretches of rows, of so many rows in all; the last one ends when so many have passed.

    >>> rows = pa.table({"k": [n % 7 for n in range(100)]})
    >>> Sample((rows,), 100, 100).count_keys(["k"])
    7.0
    """

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
        if len(codes) == self.rows:
            return float(seen)
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


def stretches_of(rows: int) -> list[slice]:
    """Where the stretches of so many rows lie.

    >>> stretches_of(10), len(stretches_of(10**9)), stretches_of(10**9)[-1].stop
    ([slice(0, 10, None)], 8, 1000000000)
    """
    if rows <= ROWS:
        return [slice(0, rows)]
    length = ROWS // STRETCHES
    begins = (i * (rows - length) // (STRETCHES - 1) for i in range(STRETCHES))
    return [slice(begin, begin + length) for begin in begins]


def _codes(rows: pa.Table, names: Sequence[str]) -> Array:
    """A number for every row, from 0: equal where all the keys are."""
    codes = np.zeros(rows.num_rows, dtype=np.int64)
    for name in names:
        column = whole(rows, name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        found = column.dictionary_encode(null_encoding="encode")
        own = found.indices.to_numpy(zero_copy_only=False)
        codes = np.unique(codes * (int(own.max()) + 1) + own, return_inverse=True)[1]
    return codes


def _frequencies(codes: Array) -> tuple[int, int, int]:
    """How many different numbers there are, and how many of them occur once and twice."""
    counts = np.bincount(codes)
    return len(counts), int((counts == 1).sum()), int((counts == 2).sum())


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def _microseconds(time: str, rows: pa.Table) -> Array:
    known = whole(rows, time).drop_null().cast(pa.timestamp("us"), safe=False)
    return np.asarray(known.cast(pa.int64()).to_numpy())

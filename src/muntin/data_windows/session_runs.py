"""Records of a partition merged wherever no pause parts them, before anything is shuffled.

    rows   k…  t        p…     the partial of each record
    out    k…  lo  hi   p…     a run: records of a key, none further than the gap from the next

time   one sort of a portion by key and time, one pass a column      space  a portion

Records of a key that are no more than the smallest gap apart are in one session of every gap,
wherever else records fall. So what a partition has of a session becomes one row (or a few, one a
portion), and only these are shuffled. Runs of several partitions may lie across one another: where
one begins between two records of another, these are no gap apart, so both are of one session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.kernels.columns import encode
from muntin.kernels.grouping import codes_of
from muntin.kernels.monoids import Array
from muntin.kernels.portions import portions
from muntin.kernels.spans import reduce_pieces

PORTION = 500_000
"""Records that are merged at a time."""


@dataclass(frozen=True, slots=True)
class SessionRuns:
    """What a worker needs to know; a function for mapInArrow. `holder` names partials' columns."""

    keys: tuple[str, ...]
    partials: tuple[PartialColumn, ...]
    holder: Mapping[str, str]
    gap: int
    wraps: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Merge one partition, whose records may come in any order."""
        for table in portions(batches, PORTION):
            yield self._merged(table)

    def _merged(self, table: pa.Table) -> pa.RecordBatch:
        code = codes_of([table.column(k).chunk(0) for k in self.keys], table.num_rows)
        time = table.column("t").chunk(0).to_numpy(zero_copy_only=False)
        order = _by_key_and_time(code, time)
        code, time = code[order], time[order]
        apart = (code[1:] != code[:-1]) | (time[1:] - time[:-1] > self.gap)
        first = np.concatenate(([0], np.flatnonzero(apart) + 1))
        last = np.append(first[1:], len(time)) - 1
        columns = []
        for partial in self.partials:
            names = [self.holder[name] for name in (partial.name, *partial.beside)]
            given = [table.column(name).chunk(0) for name in names]
            encoded = encode(partial.merger, given, self.wraps, partial.code)
            ordered = tuple(array[order] for array in encoded.arrays)
            columns.append(encoded.decode(reduce_pieces(ordered, first, encoded.monoid)))
        origin = pa.array(order[first])
        keys = [table.column(k).chunk(0).take(origin) for k in self.keys]
        names = [*self.keys, "lo", "hi", *(p.name for p in self.partials)]
        bounds = [pa.array(time[first]), pa.array(time[last])]
        return pa.RecordBatch.from_arrays([*keys, *bounds, *columns], names)


def _by_key_and_time(code: Array, time: Array) -> Array:
    """The order; records that come in the order of time are only parted by key."""
    if np.any(time[1:] < time[:-1]):
        return np.lexsort((time, code))
    if len(code) and code.max() < 2**16:
        code = code.astype(np.uint16)  # these NumPy sorts in linear time
    return np.argsort(code, kind="stable")

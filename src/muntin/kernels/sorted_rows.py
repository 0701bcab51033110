"""Bring rows of one partition into order: those of a group together, by position within it.

time   one sort of whole numbers      space  the rows at hand
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.kernels.grouping import codes_of
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole

_PORTION = 128_000
"""Rows that are handed on at a time."""

_WORD = 2**63
_NARROW = 2**31
_WIDE = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}


def order_of(code: Array, position: Array) -> Array:
    """The places of rows by group and, within one, by position.

    Rows that come in the order of positions are only parted by group. Others are sorted by one
    number for both, if 63 bits hold it: many times faster than by two.

    >>> order_of(np.array([1, 0, 1]), np.array([5, 7, 3])).tolist()
    [1, 2, 0]
    """
    if np.any(position[1:] < position[:-1]):
        first, span = int(position.min()), int(position.max()) - int(position.min()) + 1
        if (int(code.max()) + 1) * span < _WORD:
            return np.argsort(code.astype(np.int64) * span + (position - first))
        return np.lexsort((position, code))
    if len(code) and code.max() < 2**16:
        code = code.astype(np.uint16)  # these NumPy sorts in linear time
    return np.argsort(code, kind="stable")


@dataclass(frozen=True, slots=True)
class InOrder:
    """A function of a partition that is sorted, for one that is not: all of it is held."""

    body: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    by: Sequence[str]
    position: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What the function makes of the rows, group by group, in the order of positions."""
        return self.body(self._sorted(batches))

    def _sorted(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = [pa.Table.from_batches([batch]) for batch in batches if batch.num_rows]
        if not given:
            return
        held = Held.of(given)
        code = codes_of([whole(held.table, name) for name in self.by], held.table.num_rows)
        position = whole(held.table, self.position).to_numpy(zero_copy_only=False)
        for portion in held.portions(order_of(code, np.asarray(position)), _PORTION):
            yield from portion.to_batches()


@dataclass(frozen=True, slots=True)
class Held:
    """All rows of a partition, each column in one piece.

    Texts and bytes of more than 2 GB do not fit one piece of their own type: they are held in a
    wider one, and given out as they were.
    """

    table: pa.Table
    schema: pa.Schema

    @staticmethod
    def of(tables: Sequence[pa.Table]) -> Held:
        """The rows of all these tables."""
        table = pa.concat_tables(tables)
        fields = [field.with_type(_WIDE.get(field.type, field.type)) for field in table.schema]
        narrow = table.nbytes < _NARROW
        wide = table if narrow else table.cast(pa.schema(fields))
        return Held(wide.combine_chunks(), table.schema)

    def portions(self, order: Array, size: int) -> Iterator[pa.Table]:
        """The rows in this order, some at a time."""
        for low in range(0, len(order), size):
            portion = self.table.take(pa.array(order[low : low + size]))
            yield portion if portion.schema == self.schema else portion.cast(self.schema)

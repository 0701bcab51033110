"""What every bucket of records does: read its state, admit records, and let idle keys leave.

    header    what was asked, the last watermark, the tables that there are
    keys      the keys, numbered; records hold the numbers
    waiting   records that the watermark has not passed, in blocks of time (`record_buffer`)

What becomes of records that the watermark has passed is the matter of each kind of bucket.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa

from muntin.data_windows.record_buffer import TIME, RecordBuffer
from muntin.data_windows.stream_state import RecordSpec, StreamHeader, Tables
from muntin.kernels.monoids import Array
from muntin.state.bucket import Step
from muntin.state.header import check_types
from muntin.state.keys import Keys
from muntin.state.pieces import GROUP, longs
from muntin.state.state import Cache
from muntin.state.store import Store

Spec = TypeVar("Spec", bound=RecordSpec)


EVER = -(2**63)
"""A threshold by which no record is late: that of a history."""


class RecordBucket(ABC, Generic[Spec]):
    """A bucket of records on its state in a store, for the length of one step."""

    def __init__(self, spec: Spec, bucket: int, store: Store, cache: Cache | None = None) -> None:
        entry = store.read("header")
        self.spec, self._store, self.new = spec, store, entry is None
        self.header = (
            StreamHeader.new(spec, bucket)
            if not entry
            else StreamHeader.from_bytes(entry, spec.format)
        )
        self.header.check(spec)
        self._tables = Tables(store, {} if cache is None else cache, self.header.tables)
        self._waiting = RecordBuffer(self._tables, self.header.waiting, self.header.block)

    @abstractmethod
    def begin(self, tables: Sequence[pa.Table]) -> None:
        """Take in records of the history that the stream starts from; several calls add up."""

    @abstractmethod
    def step(self, tables: Sequence[pa.Table], watermark: int) -> Step:
        """Take in the records of a batch, and emit what its watermark (microseconds) allows."""

    def _admit(self, tables: Sequence[pa.Table], threshold: int, done: Step) -> pa.Table | None:
        """The records from the threshold on, under the numbers of their keys; others are late."""
        if not tables:
            return None
        table = pa.concat_tables(tables).combine_chunks()
        if self.spec.until is not None:  # of its history, other columns may be said to have no null
            table = pa.table(table.columns, names=table.column_names)
        types = ", ".join(str(field.type) for field in table.schema)
        check_types(self.header, types)
        late = longs(table, TIME) < threshold
        if late.any():
            done.dropped += int(np.count_nonzero(late))
            table = table.filter(pa.array(~late))
        if not table.num_rows:
            return None
        known = self._tables.get("keys")
        keys = Keys.empty(table, self.spec.keys) if known is None else Keys(known)
        more, number = keys.number(table, np.ones(table.num_rows, dtype=np.int64))
        if known is None or len(more) > len(keys):
            self._tables.put("keys", more.table)
        records = table.drop_columns(list(self.spec.keys)) if self.spec.keys else table
        records = records.append_column(GROUP, pa.array(number, pa.int32()))
        if known is None:
            self._tables.put("like", records.slice(0, 0))
        return records

    def _close(self, now: int, changed: bool) -> None:
        """Note the watermark, and what the tables are now."""
        if now > self.header.last or changed or self.new:
            self.header.last = now
            self._store.write("header", self.header.to_bytes())

    def _leave_keys(self, needed: Array) -> Array | None:
        """Forget keys of which nothing is needed, nor waits, once these are most of them.

        Which of them stay, or None where all do.
        """
        keys = Keys(self._table("keys"))
        if keys.with_until(needed).leaving(0) is not None:  # then it pays to look who waits
            needed[self._waiting.groups()] = 1
        stays = keys.with_until(needed).leaving(0)
        if stays is not None:
            self._tables.put("keys", keys.only(stays).table)
            self._waiting.renumber(np.cumsum(stays) - 1)
        return stays

    def _table(self, name: str) -> pa.Table:
        table = self._tables.get(name)
        assert table is not None, "there was a record"
        return table

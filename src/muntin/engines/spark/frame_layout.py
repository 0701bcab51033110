"""Which columns of the records that Spark sends hold what, and the records under one set of names.

A value is sent once: keys, times and inputs that are columns of a row are those, one column holds
all partials that it is, and what only counts is not sent at all (`sent_columns`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.kernels.frame_program import FrameProgram
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole
from muntin.kernels.sent_columns import AS_NAMED, Sent


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parts of a record are.

    `by` are the columns whose values keep events apart, `rows` those of a row as it was given;
    where the row is `packed` into one column, a null there is no row. `holder` is the column of the
    time (t) and of values (v0, …), where it is not the one of that name; `event` that which says
    whether a record is an event, None where each is that has a time. `chunk` is the length of the
    chunks of time that the last of `by` numbers: a record is a row in its own only.
    """

    by: tuple[str, ...]
    rows: tuple[str, ...]
    packed: bool = False
    event: str | None = "e"
    holder: Mapping[str, str] = field(default_factory=dict)
    sent: Sent = AS_NAMED
    chunk: int | None = None

    def arrange(self, batch: pa.RecordBatch, program: FrameProgram) -> pa.Table:
        """The records under the names of a portion; no column is copied."""
        table = pa.Table.from_batches([batch])
        time = whole(table, self.holder.get("t", "t"))
        if pa.types.is_timestamp(time.type):
            time = time.view(pa.int64())
        named = {f"b{i}": whole(table, name) for i, name in enumerate(self.by)}
        named |= {"t": time, "row": self._are_rows(table, time)}
        named["e"] = whole(table, self.event) if self.event else time.is_valid()
        for name in program.reads:
            if name not in self.sent.counted:
                own = self.sent.holder.get(name, self.holder.get(name, name))
                named[name] = whole(table, own)
        if program.merges:  # what stands for many events counts as many
            counts = [p for p in program.partials if p.name in self.sent.counted]
            named |= self.sent.lift(table, counts)
        else:
            others = (of for of in self.sent.counted.values() if of is not None)
            named |= {f"n_{of}": whole(table, of) for of in others}
        named |= {name: whole(table, name) for name in self.rows}
        return pa.table(named)

    def _are_rows(self, table: pa.Table, time: pa.Array) -> pa.Array:
        if self.packed:
            return whole(table, self.rows[0]).is_valid()
        if self.chunk is None:
            return pa.array(np.ones(table.num_rows, dtype=np.bool_))
        instants, own = (_filled(each) for each in (time, whole(table, self.by[-1])))
        return pc.or_(pa.array(instants // self.chunk == own), time.is_null())

    def read(self, table: pa.Table, events: Array, program: FrameProgram) -> dict[str, pa.Array]:
        """What the program reads of the events of a portion; a count of all of them is left out."""
        found = {}
        for name in program.reads:
            if name in table.column_names:
                found[name] = _taken(whole(table, name), events)
            elif (of := self.sent.counted[name]) is not None:
                column = _taken(whole(table, f"n_{of}"), events)
                if column.null_count:
                    found[name] = column.is_valid().cast(pa.int64())
        return found

    def kinds(self, table: pa.Table, program: FrameProgram) -> dict[str, pa.DataType]:
        """The types of what the program reads; counts are long."""
        known = {each.name: each.type for each in table.schema}
        return {name: known.get(name, pa.int64()) for name in program.reads}

    def rows_of(self, table: pa.Table, rows: Array) -> dict[str, pa.Array]:
        """Some rows as they were given."""
        return {name: _taken(whole(table, name), rows) for name in self.rows}

    def without_rows(self, table: pa.Table, pending: Array) -> pa.Table:
        """The same records; but for those pending they are only events from now on."""
        names = table.column_names
        left = pa.array(np.arange(len(pending)), mask=~pending)
        for name in self.rows:
            place = names.index(name)
            column = whole(table, name)
            kept = column.take(left) if pending.any() else pa.nulls(len(pending), column.type)
            table = table.set_column(place, table.schema.field(place), kept)
        place = names.index("row")
        return table.set_column(place, table.schema.field(place), pa.array(pending))


def _taken(column: pa.Array, places: Array) -> pa.Array:
    return column if len(places) == len(column) else column.take(pa.array(places))


def _filled(column: pa.Array) -> Array:
    return np.asarray(column.fill_null(0).to_numpy(zero_copy_only=False))

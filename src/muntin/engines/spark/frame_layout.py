"""Which of the columns that Spark sends hold what, and the records under one set of names.

A value is sent once: keys, times and inputs that are columns of a row are those, one column holds
all partials that it is, and what only counts is not sent at all (`sent_columns`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from muntin.kernels.frame_program import FrameProgram
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole
from muntin.kernels.sent_columns import AS_NAMED, Sent


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parts of a record are.

    `sends` are the columns in the order in which they come. `by` are those whose values keep events
    apart; `row` is the one that says whether a record asks for features, None where each does;
    `event` that which says whether it is an event, None where each is that has a time. `seen` says
    of an event that what is carried stands for it, too; without it, of none. `holder` is the column
    of the time (t) and of values (v0, …), where it is not the one of that name.
    """

    sends: tuple[str, ...]
    by: tuple[str, ...]
    row: str | None = None
    event: str | None = "e"
    holder: Mapping[str, str] = field(default_factory=dict)
    sent: Sent = AS_NAMED
    seen: str | None = None

    def arrange(self, columns: Sequence[pa.Array], program: FrameProgram) -> pa.Table:
        """The records under the names of a portion; no column is copied."""
        given = pa.table(dict(zip(self.sends, columns, strict=True)))
        time = whole(given, self.holder.get("t", "t"))
        if pa.types.is_timestamp(time.type):
            time = time.view(pa.int64())
        named = {f"b{i}": whole(given, name) for i, name in enumerate(self.by)}
        named["t"] = time
        if self.row is not None:
            named["row"] = whole(given, self.row)
        if self.event is not None:
            named["e"] = whole(given, self.event)
        if self.seen is not None:
            named["seen"] = whole(given, self.seen)
        for name in program.reads:
            if name not in self.sent.counted:
                own = self.sent.holder.get(name, self.holder.get(name, name))
                named[name] = whole(given, own)
        if program.merges:  # what stands for many events counts as many
            counts = [p for p in program.partials if p.name in self.sent.counted]
            named |= self.sent.lift(given, counts)
        else:
            others = (of for of in self.sent.counted.values() if of is not None)
            named |= {f"n_{of}": whole(given, of) for of in others}
        return pa.table(named)

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


def _taken(column: pa.Array, places: Array) -> pa.Array:
    return column if len(places) == len(column) else column.take(pa.array(places))

"""Records that wait for the watermark, in blocks of time, and the order in which they are taken.

Records of a key are taken in the order of time, so one can be taken only when no earlier one can
come. A step writes what arrived into the blocks that it falls into, and reads the blocks that the
watermark has reached: a record is written about twice, however long it waits.

    released   t < W        records at just W wait: others of the same instant may still come
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.data_windows.elements import NEVER
from muntin.data_windows.stream_state import Block, Tables
from muntin.kernels.monoids import Array
from muntin.kernels.ordering import order_codes
from muntin.kernels.portions import whole
from muntin.state.pieces import GROUP, by_time, longs

TIME = "t"


class RecordBuffer:
    """The records that wait, among the tables of a state; `length` is that of a block."""

    def __init__(self, tables: Tables, blocks: dict[int, Block], length: int) -> None:
        self._tables, self.blocks, self._length = tables, blocks, length

    @property
    def first(self) -> int:
        """The time of the first record that waits."""
        return min((block.first for block in self.blocks.values()), default=NEVER)

    def add(self, records: pa.Table) -> None:
        time = longs(records, TIME)
        block = time // self._length
        for each in np.unique(block).tolist():
            mine = block == each
            part = records if mine.all() else records.filter(pa.array(mine))
            self._append(each, part, int(time[mine].min()))

    def release(self, now: int) -> tuple[list[pa.Table], Array]:
        """The records before `now`, and the groups that have one at just that instant."""
        released, tied = [], [np.zeros(0, dtype=np.int64)]
        for number in sorted(n for n in self.blocks if n * self._length <= now):
            block = self.blocks[number]
            if block.first > now:
                continue
            table = pa.concat_tables(self._take(number)).combine_chunks()
            time = longs(table, TIME)
            tied.append(longs(table, GROUP)[time == now])
            if (time >= now).any():
                left = table.filter(pa.array(time >= now))
                self._append(number, left, int(longs(left, TIME).min()))
                table = table.filter(pa.array(time < now))
            released.append(table)
        return [table for table in released if table.num_rows], np.concatenate(tied)

    def between(self, since: int, until: int) -> list[pa.Table]:
        """The records of [since, until), which stay."""
        found = []
        for number, block in self.blocks.items():
            if number * self._length < until and (number + 1) * self._length > since:
                for chunk in block.chunks:
                    table = self._tables.get(_name(number, chunk))
                    assert table is not None, "a block names the chunks that there are"
                    time = longs(table, TIME)
                    inside = (time >= since) & (time < until)
                    found.append(table if inside.all() else table.filter(pa.array(inside)))
        return [table for table in found if table.num_rows]

    def drop(self, before: int) -> bool:
        """Let go blocks that end by then; whether there was one."""
        old = [number for number in self.blocks if (number + 1) * self._length <= before]
        for number in old:
            self._take(number)
        return bool(old)

    def groups(self) -> Array:
        names = [_name(n, chunk) for n, block in self.blocks.items() for chunk in block.chunks]
        found = [longs(t, GROUP) for name in names if (t := self._tables.get(name)) is not None]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))

    def renumber(self, number: Array) -> None:
        for block in list(self.blocks):
            table = pa.concat_tables(self._take(block)).combine_chunks()
            first = int(longs(table, TIME).min())
            self._append(block, renumber_groups(table, number), first)

    def _append(self, number: int, records: pa.Table, first: int) -> None:
        block = self.blocks.setdefault(number, Block())
        chunk = max(block.chunks, default=-1) + 1
        block.chunks.append(chunk)
        block.first = min(block.first, first)
        self._tables.put(_name(number, chunk), records)

    def _take(self, number: int) -> list[pa.Table]:
        names = [_name(number, chunk) for chunk in self.blocks.pop(number).chunks]
        found = [table for name in names if (table := self._tables.get(name)) is not None]
        for name in names:
            self._tables.drop(name)
        return found


def _name(block: int, chunk: int) -> str:
    return f"waiting/{block}/{chunk}"


def renumber_groups(table: pa.Table, number: Array) -> pa.Table:
    """The table with other numbers for its groups."""
    new = pa.array(number[longs(table, GROUP)], pa.int32())
    return table.set_column(table.schema.get_field_index(GROUP), GROUP, new)


def sort_records(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The records by key, time, and among equal times by columns, as Spark sorts.

    Most records of a key have a time of their own: only those that share it are compared further.
    Nulls come first, NaN last, and -0.0 is 0.0; structs are compared field by field, and lists
    value by value.

    >>> table = pa.table({"group": [1, 0, 0], "t": [5, 7, 7], "o0": [None, "b", None]})
    >>> sort_records(table, ["o0"]).to_pydict()
    {'group': [0, 0, 1], 't': [7, 7, 5], 'o0': [None, 'b', None]}
    """
    group, time = longs(table, GROUP), longs(table, TIME)
    order = by_time(group, time)
    group, time = group[order], time[order]
    same = (group[1:] == group[:-1]) & (time[1:] == time[:-1])
    if columns and same.any():
        tied = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
        number = np.cumsum(~np.insert(same, 0, False))[tied]
        some = table.take(pa.array(order[tied]))
        keys = [key for name in columns for key in _keys(whole(some, name))]
        order[tied] = order[tied][np.lexsort((*reversed(keys), number))]
    return table.take(pa.array(order)) if np.any(order[1:] < order[:-1]) else table


def _keys(column: pa.Array) -> Iterator[Array]:
    valid = np.asarray(column.is_valid().to_numpy(zero_copy_only=False))
    yield valid
    if pa.types.is_struct(column.type):
        for part in column.flatten():
            yield from _keys(part)
    elif pa.types.is_list(column.type):
        length = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
        begin, values = np.cumsum(length) - length, column.flatten()
        for place in range(int(length.max(initial=0))):
            yield length > place
            at = pa.array(begin + place, mask=length <= place)
            yield from _keys(values.take(at))
    elif not pa.types.is_null(column.type):
        yield np.where(valid, order_codes(column), 0)

"""Records that wait for the watermark, in blocks of time.

Records of a key are taken in the order of time, so one can be taken only when no earlier one can
come. A step writes what arrived into the blocks that it falls into, and reads the blocks that the
watermark has reached: a record is written about twice, however long it waits.

    released   t < W        records at just W wait: others of the same instant may still come
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from muntin.data_windows.elements import NEVER
from muntin.data_windows.record_order import TIME
from muntin.data_windows.tables import Tables
from muntin.kernels.monoids import Array
from muntin.state.pieces import GROUP, longs


@dataclass(slots=True)
class Block:
    """A stretch of time: the numbers of its chunks, and the time of its first record."""

    chunks: list[int] = field(default_factory=list)
    first: int = NEVER


class Waiting:
    """The records that wait, among the tables of a state; `length` is that of a block."""

    def __init__(self, tables: Tables, blocks: dict[int, Block], length: int) -> None:
        self._tables, self.blocks, self._length = tables, blocks, length

    @property
    def first(self) -> int:
        """The time of the first record that waits."""
        return min((block.first for block in self.blocks.values()), default=NEVER)

    def add(self, records: pa.Table) -> None:
        """Let records wait."""
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
            table = pa.concat_tables(self._taken(number)).combine_chunks()
            time = longs(table, TIME)
            tied.append(longs(table, GROUP)[time == now])
            if (time >= now).any():
                left = table.filter(pa.array(time >= now))
                self._append(number, left, int(longs(left, TIME).min()))
                table = table.filter(pa.array(time < now))
            released.append(table)
        return [table for table in released if table.num_rows], np.concatenate(tied)

    def groups(self) -> Array:
        """The groups of all records that wait."""
        names = [_name(n, chunk) for n, block in self.blocks.items() for chunk in block.chunks]
        found = [longs(t, GROUP) for name in names if (t := self._tables.get(name)) is not None]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))

    def renumber(self, number: Array) -> None:
        """Give groups other numbers."""
        for block in list(self.blocks):
            table = pa.concat_tables(self._taken(block)).combine_chunks()
            place = table.schema.get_field_index(GROUP)
            new = pa.array(number[longs(table, GROUP)], pa.int32())
            first = int(longs(table, TIME).min())
            self._append(block, table.set_column(place, GROUP, new), first)

    def _append(self, number: int, records: pa.Table, first: int) -> None:
        block = self.blocks.setdefault(number, Block())
        chunk = max(block.chunks, default=-1) + 1
        block.chunks.append(chunk)
        block.first = min(block.first, first)
        self._tables.put(_name(number, chunk), records)

    def _taken(self, number: int) -> list[pa.Table]:
        names = [_name(number, chunk) for chunk in self.blocks.pop(number).chunks]
        found = [table for name in names if (table := self._tables.get(name)) is not None]
        for name in names:
            self._tables.drop(name)
        return found


def _name(block: int, chunk: int) -> str:
    return f"waiting/{block}/{chunk}"


def plain(blocks: dict[int, Block]) -> list[list[object]]:
    """Blocks as JSON has them."""
    return [[number, block.chunks, block.first] for number, block in blocks.items()]


def read(entries: Iterable[list[int | list[int]]]) -> dict[int, Block]:
    """Blocks from what JSON had."""
    found: dict[int, Block] = {}
    for number, chunks, first in entries:
        assert isinstance(number, int), "a block has a number"
        assert isinstance(first, int), "a block has a first record"
        assert isinstance(chunks, list), "a block has chunks"
        found[number] = Block(list(chunks), first)
    return found

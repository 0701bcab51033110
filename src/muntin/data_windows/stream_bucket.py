"""One bucket of keys on a stream of records: a step for each micro-batch.

In batch N the watermark is W_N, and lateness is judged by that of the batch before, as Spark does:

    late      a record with t < W_{N-1} is dropped: others after it have been taken
    released  records with t < W_N are taken, key by key in order; the others wait
    emitted   windows that ended with a record, and those that W_N ends: a session whose last record
              and gap are not after W_N, an instance that ends by then, a time-out
    then      what no open window holds leaves, and keys of which nothing is left

So no record that is still admitted comes before one that was taken, and the rows of a stream are
those of a batch over the same records, however they were split. One instant is Spark's choice: a
record just a gap after the last one joins the session if it has come when W_N stands there; else
the session has been emitted and it begins another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from muntin.data_windows.elements import NEVER, Clock
from muntin.data_windows.record_bucket import EVER, RecordBucket
from muntin.data_windows.record_buffer import renumber_groups, sort_records
from muntin.data_windows.slices import DUE, SEEN, Kept, take_step
from muntin.data_windows.stream_state import StreamSpec
from muntin.data_windows.window_nodes import change_windows
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole
from muntin.model.data_windows import CountWindow
from muntin.state.bucket import Step
from muntin.state.header import check_begun
from muntin.state.pieces import GROUP, longs


class StreamBucket(RecordBucket[StreamSpec]):
    """A bucket of a query on its state in a store, for the length of one step.

    >>> from muntin.aggregates.columns import PartialColumn
    >>> from muntin.model.data_windows import session
    >>> from muntin.state.store import MemoryStore
    >>> gap = session("5 microseconds")
    >>> spec = StreamSpec(("k0",), {1: gap}, {}, (PartialColumn("p0", "", "", "sum"),))
    >>> store = MemoryStore()
    >>> rows = pa.table({"k0": ["a", "a", "a"], "t": [3, 1, 20], "p0": [1, 1, 1]})
    >>> list(StreamBucket(spec, 0, store).step([rows], watermark=0).results)
    []
    >>> for table in StreamBucket(spec, 0, store).step([], watermark=10).results:
    ...     print(table.to_pylist())
    [{'k0': 'a', 'node': 1, 'start': 1, 'end': 8, 'p0': 2}]
    """

    changed = False
    """Whether its windows are others than those of the step before."""

    def begin(self, tables: Sequence[pa.Table]) -> None:
        """Keep records of the history that the stream starts from; several calls add up.

        They come in no order, so they are taken when all are there: before the first step.
        """
        assert self.spec.until is not None, "a stream with history says where it begins"
        records = self._admit(tables, EVER, Step(iter(())))
        if records is not None:
            self._tables.put(f"history/{self.header.untaken}", records)
            self.header.untaken += 1
        self._close(self.spec.until, changed=True)

    def _take_history(self) -> None:
        """As if the watermark stood at `until`: what ended by then is left to the history."""
        header = self.header
        names = [f"history/{i}" for i in range(header.untaken)]
        records = pa.concat_tables([self._table(name) for name in names]).combine_chunks()
        kept = self._kept(self._table("like")).with_keys(self._table("keys").num_rows)
        clock = Clock(header.last, header.last, np.zeros(0, dtype=np.int64))
        ordered = sort_records(records, self.spec.order)
        self._save(kept, take_step(self.spec, kept, ordered, clock)[1])
        for name in names:
            self._tables.drop(name)
        header.untaken = 0

    def step(self, tables: Sequence[pa.Table], watermark: int) -> Step:
        """Take in the records of a batch, and emit what its watermark (microseconds) allows."""
        header, done = self.header, Step(iter(()))
        if self.new:
            check_begun(self.spec.until)
        begins = header.untaken > 0
        if begins:
            self._take_history()
        before, now = header.last, max(watermark, header.last)
        records = self._admit(tables, now if self.spec.late_now else before, done)
        if records is not None:
            self._waiting.add(records)
        if self._waiting.first < now or header.due <= now:
            done.results = self._evaluate(before, now)
        self._close(now, bool(tables) or begins or self.changed)
        return done

    def change(self, new: Mapping[int, int | None]) -> None:
        """Go on with other windows than before (`window_nodes`), before a step.

        `new` are the nodes that were not there, each with the one that it copies, if any.
        """
        self.changed = True
        if self.header.untaken:
            self._take_history()
        if self._tables.get("facts") is None:
            return
        like, keys = self._table("like"), self._table("keys")
        kept = self._kept(like).with_keys(keys.num_rows)
        self._save(kept, change_windows(kept, self.spec, like, new))

    def _evaluate(self, before: int, now: int) -> Iterator[pa.Table]:
        released, tied = self._waiting.release(now)
        like, keys = self._table("like"), self._table("keys")
        records = pa.concat_tables([like, *released]).combine_chunks()
        kept = self._kept(like).with_keys(keys.num_rows)
        records = sort_records(records, self.spec.order)
        results, after = take_step(self.spec, kept, records, Clock(before, now, tied))
        self._save(kept, after)
        return (_with_keys(table, keys, self.spec) for table in results)

    def _kept(self, like: pa.Table) -> Kept:
        read = [self._tables.get(name) for name in Kept.__slots__]
        return Kept.none(self.spec, like) if read[0] is None else Kept(*read)

    def _save(self, before: Kept, after: Kept) -> None:
        if after is before and self._tables.get("facts") is not None:
            return
        after = self._forget_idle_keys(after)
        for name in Kept.__slots__:
            self._tables.put(name, getattr(after, name))
        self.header.due = int(longs(after.facts, DUE).min(initial=NEVER))

    def _forget_idle_keys(self, kept: Kept) -> Kept:
        """Forget keys of which nothing is left, once these are most of them."""
        stays = self._leave_keys(_needed(self.spec, kept))
        if stays is None:
            return kept
        number = np.cumsum(stays) - 1
        slices, open = (renumber_groups(table, number) for table in (kept.slices, kept.open))
        return Kept(slices, open, kept.facts.filter(pa.array(stays)))


def _with_keys(table: pa.Table, keys: pa.Table, spec: StreamSpec) -> pa.Table:
    group = table.column(GROUP)
    own = [whole(keys, name).take(group) for name in spec.keys]
    rest = table.drop_columns(GROUP)
    return pa.table([*own, *rest.columns], names=[*spec.keys, *rest.column_names])


def _needed(spec: StreamSpec, kept: Kept) -> Array:
    """1 for each key that has slices, a value, or a count that goes on."""
    seen, names = longs(kept.facts, SEEN), set(kept.facts.column_names) - {SEEN, DUE}
    needed = np.zeros(len(seen), dtype=np.int64)
    for node, window in spec.windows.items():
        if isinstance(window, CountWindow):
            zero = np.zeros(len(seen), dtype=np.int64)
            if f"v{node}" in names:
                names.discard(f"v{node}")
                zero = whole(kept.facts, f"v{node}").fill_null(0).to_numpy()
            needed |= (seen - zero) % window.slide > 0
    needed[longs(kept.slices, GROUP)] = 1
    for name in names:
        needed |= whole(kept.facts, name).is_valid().to_numpy(zero_copy_only=False)
    return needed

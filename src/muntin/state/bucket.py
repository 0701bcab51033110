"""One bucket of keys: a step for each micro-batch, equal to Spark's own window() in every batch.

In batch N the watermark is W_N; Spark judges lateness by W_{N-1} and lets windows leave by W_N. So:

    last     is W_{N-1}: every window that ended by then has fired
    accept   a piece for the windows that end after `last`; it is dropped if there is none
    emit     append: every window with an end in (last, W_N]; update: every window that changed
    then     last = W_N, and slices that no later window needs leave

A late piece is simply merged into its slice: the windows that it is too late for never fire again.
Slices that windows read while they are open are kept in fragments until none of these can end
within them (muntin.state.merging).
Where lateness is allowed, a piece is accepted for windows that end after `settled`, which lags
behind `last` by it; those that had fired are emitted again (muntin.state.revisions).
Keys that fall silent are in the state like all others, so their windows are emitted in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import pyarrow as pa

from muntin.kernels.pieces import Results
from muntin.kernels.tree import Branch
from muntin.physical.operators.kernel import Base
from muntin.state.cores import Cores, edges_of
from muntin.state.evaluation import Asked as Instances
from muntin.state.evaluation import Changed, Due, opened, results
from muntin.state.extras import complete
from muntin.state.filling import Filling, know_history
from muntin.state.header import check_begun, check_types
from muntin.state.keys import Keys
from muntin.state.merging import place
from muntin.state.missed import find_missed
from muntin.state.pieces import GROUP, START, longs, merge
from muntin.state.revisions import Revisions
from muntin.state.spec import Spec, first_end, needed_until
from muntin.state.state import Cache, Seen, State
from muntin.state.store import Store

Asked = tuple[Base, list[pa.Table], Instances]
"""A base, the runs that are needed, and which instances are to be emitted."""


@dataclass(slots=True)
class Step:
    """What one step did.

    `late` pieces were too late for some windows, `dropped` ones for all; where these are kept,
    `missed` has them, and so have the results; `complete_from` has the begin
    of the first complete instance (microseconds) of every window that joined later, by id.
    """

    results: Iterator[pa.Table]
    late: int = 0
    dropped: int = 0
    missed: list[pa.Table] = field(default_factory=list)
    complete_from: dict[str, int] = field(default_factory=dict)


class Bucket:
    """A bucket of a query on its state in a store, for the length of one step.

    >>> from muntin.aggregates.columns import PartialColumn
    >>> from muntin.kernels.tree import Branch
    >>> from muntin.plan.slicing import panes
    >>> from muntin.state.store import MemoryStore
    >>> from muntin.model.windows import Window
    >>> window = Window(10, 5)
    >>> base = Base(0, panes(window), (Branch(1, window, asked=True),))
    >>> spec = Spec((base,), ("k0",), (PartialColumn("p0", "", "", "sum"),))
    >>> rows = pa.table({"node": [0, 0], "start": [5, 10], "k0": ["a", "a"], "p0": [1, 2]})
    >>> store = MemoryStore()
    >>> list(Bucket(spec, 0, store).step([rows], watermark=0).results)
    []
    >>> for table in Bucket(spec, 0, store).step([], watermark=15).results:
    ...     print(table.select(["k0", "start", "p0"]).to_pylist())
    [{'k0': 'a', 'start': 0, 'p0': 1}, {'k0': 'a', 'start': 5, 'p0': 3}]
    """

    def __init__(
        self,
        spec: Spec,
        bucket: int,
        store: Store,
        cache: Cache | None = None,
        seen: Seen | None = None,
    ) -> None:
        self.spec = spec
        self.state = State(spec, bucket, store, {} if cache is None else cache, seen)

    def begin(self, pieces: Sequence[pa.Table]) -> None:
        """Take in pieces of the history that the stream starts from; several calls add up."""
        until = self.spec.until
        assert until is not None, "a stream with history says where it begins"
        self.state.note_newest(until - 1)  # in all buckets alike, whatever the table holds
        taken = self._take_in(pieces, until, Step(iter(())))
        if self.spec.fill_for is not None and pieces:
            every = pa.concat_tables(pieces).combine_chunks()
            know_history(self.state, every, until, self.spec.fill_for)
        self.state.save(until, changed=bool(taken))

    def step(
        self,
        pieces: Sequence[pa.Table],
        watermark: int,
        newest: int | None = None,
        records: Sequence[pa.Table] = (),
    ) -> Step:
        """Take the pieces of a batch in, and emit what its watermark (microseconds) allows.

        `newest` is the start of the newest piece of the batch, in whichever bucket it is. Where
        late rows themselves are kept, `records` are those that the pieces were made of.
        """
        spec, state = self.spec, self.state
        if state.new:
            check_begun(spec.until)
        state.note_newest(newest)
        last = state.header.last
        watermark = max(watermark, last)
        threshold = watermark if spec.late_now else state.header.settled
        done = Step(iter(()))
        before = self._due(last, watermark) if spec.late_now and not spec.update else []
        again = Revisions(state, last) if spec.revises else None
        touched = self._take_in(pieces, threshold, done, again, records)
        if spec.update:
            touched = state.all_runs() if state.tell() else touched
            asked = [self._changed(i, threshold, table) for i, table in touched.items()]
        else:
            asked = before if spec.late_now else self._due(last, watermark)
        if again is not None:
            asked += [(spec.bases[i], again.tables(i), each) for i, each in again.found.items()]
            again.save()
        if spec.fill_for is not None and state.header.known and watermark > last:
            filling = Filling(state, last, watermark, spec.fill_for)
            keys = state.keys()
            held = list(_evaluate(spec, asked, keys, filling.note))
            done.results = iter([*held, *filling.tables(keys)])
        elif asked:
            done.results = _evaluate(spec, asked, state.keys())  # the numbers of before they leave
        done.results = complete(chain(done.missed, done.results), spec)
        state.save(watermark, changed=bool(touched))
        done.complete_from = state.complete_from()
        return done

    def _take_in(
        self,
        tables: Sequence[pa.Table],
        threshold: int,
        done: Step,
        again: Revisions | None = None,
        records: Sequence[pa.Table] = (),
    ) -> dict[int, pa.Table]:
        """Merge accepted pieces into their runs; those of each base, by its position."""
        if not tables:
            return {}
        table = pa.concat_tables(tables).combine_chunks()
        names = [*self.spec.keys, *(p.name for p in self.spec.partials)]
        types = ", ".join(str(table.schema.field(name).type) for name in names)
        check_types(self.state.header, types)
        node, touched = longs(table, "node"), {}
        for i, base in enumerate(self.spec.bases):
            own = table if len(self.spec.bases) == 1 else table.filter(pa.array(node == base.node))
            own = self._accept(i, own, threshold, done, records)
            if own.num_rows:
                touched[i] = merge([own], self.spec.partials, self.spec.wraps)
                if again is not None:
                    again.note(i, base, touched[i])
                self._merge(i, touched[i])
        return touched

    def _accept(
        self,
        i: int,
        table: pa.Table,
        threshold: int,
        done: Step,
        records: Sequence[pa.Table],
    ) -> pa.Table:
        """The pieces that some open window needs, with the numbers of their keys."""
        base = self.spec.bases[i]
        windows = list(base.windows.values())
        starts, where = np.unique(longs(table, START), return_inverse=True)
        if not len(starts):
            return table
        until = needed_until(windows, starts)[where]
        on_time = until > threshold
        late = (first_end(windows, starts) <= threshold)[where]
        done.late += int(np.count_nonzero(late & on_time))
        if self.spec.keeps_late:
            kept, pieces = self.state.header.bases[i], table.filter(pa.array(late))
            done.missed += find_missed(self.spec, base, kept, pieces, threshold, records)
        if not on_time.all():
            done.dropped += int(np.count_nonzero(~on_time))
            table, until = table.filter(pa.array(on_time)), until[on_time]
        number = self.state.number_keys(table, until)
        start = pa.array(place(self.state.header.bases[i], longs(table, START)), pa.int64())
        kept = table.select([START, *(p.name for p in self.spec.partials)])
        kept = kept.set_column(0, START, start)
        return kept.add_column(0, GROUP, pa.array(number, pa.int32()))

    def _merge(self, i: int, table: pa.Table) -> None:
        block = longs(table, START) // self.state.header.bases[i].block
        for each in np.unique(block).tolist():
            part = table.filter(pa.array(block == each))
            kept = self.state.run(i, each)
            tables = [part] if kept is None else [kept, part]
            self.state.put(i, each, merge(tables, self.spec.partials, self.spec.wraps))

    def _due(self, last: int, watermark: int) -> list[Asked]:
        """For each base with windows that are due, the pieces that these need.

        A window that nothing else is made of reads its own, as the technique keeps them; so does a
        flight of stairs.
        """
        found: list[Asked] = []
        technique = self.state.header.technique or self.spec.technique
        for i, (base, kept) in enumerate(
            zip(self.spec.bases, self.state.header.bases, strict=True)
        ):
            due, cores = Due(kept, last, watermark), Cores(self.state, i, technique)
            together: list[Branch] = []
            for branch in base.readers:
                first, latest = due.bounds(branch)
                if first > latest:
                    continue
                edges = edges_of(branch, due.between) if branch.is_flight else []
                if edges and cores.pays(edges):
                    tables = cores.tables(edges)
                    found.append((base.only((branch,)), tables, due))
                else:
                    together.append(branch)
            if together:
                low = min(due.bounds(branch)[0] for branch in together)
                tables = self.state.runs(i, low, watermark)
                found.append((base.only(tuple(together)), tables, due))
        return [asked for asked in found if asked[1]]

    def _changed(self, i: int, last: int, new: pa.Table) -> Asked:
        base, kept = self.spec.bases[i], self.state.header.bases[i]
        low = min(opened(kept, w, last) for w in base.windows.values())
        asked = Changed(kept, last, longs(new, GROUP).astype(np.int64), longs(new, START))
        return base, self.state.runs(i, low), asked


def _evaluate(
    spec: Spec, asked: list[Asked], keys: Keys, note: Callable[[Results], None] | None = None
) -> Iterator[pa.Table]:
    for base, tables, instances in asked:
        yield from results(spec, base, tables, keys, instances, note)

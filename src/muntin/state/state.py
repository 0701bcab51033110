"""The state of a bucket in its store: header, keys, and runs of pieces.

    header    JSON (muntin.state.header)
    keys      the keys and until when each is needed
    3/17      the pieces of the third base whose slices begin in its block 17
    known     for which keys empty windows are emitted (muntin.state.known)
    revised   how often fired windows were emitted again (muntin.state.corrected)

A step reads the header and the runs that it needs, and writes the runs that it changes. Runs leave
with the last window that needs any slice of their block. A reader may hand in a cache that outlives
it: tokens never stand for two contents, so what is found there is right even after a rollback.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

import numpy as np
import pyarrow as pa

from muntin.kernels.monoids import Array
from muntin.state.corrected import COUNTS, ends
from muntin.state.header import Header, KeptBase, check
from muntin.state.keys import Keys
from muntin.state.known import Known
from muntin.state.merging import adopt, merge_runs, merge_until
from muntin.state.pieces import GROUP, START, longs, merge
from muntin.state.spec import Spec, needed_until
from muntin.state.store import Store, from_bytes, to_bytes
from muntin.state.window_change import begin_after, slice_end, take_over, unchanged

Cache = MutableMapping[str, pa.Table]
"""Tables by token: what was read or written before need not be read again."""


FIRST = -(2**63)
"""Before every slice."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest event time of a whole stream, if it had any row: what no bucket knows alone."""

    newest: int | None


class State:
    """The state, checked against the query and brought to its set of windows."""

    def __init__(
        self, spec: Spec, bucket: int, store: Store, cache: Cache, seen: Seen | None = None
    ) -> None:
        self.spec, self.store, self.cache, self.seen = spec, store, cache, seen
        entry = store.read("header")
        self.header = Header.new(spec, bucket) if entry is None else Header.from_bytes(entry)
        self._keys: Keys | None = None
        self.new = self._unsaved = entry is None
        check(self.header, spec)
        if self.header.technique is None or (
            spec.asked and self.header.technique != spec.technique
        ):
            self.header.technique, self._unsaved = spec.technique, True
        self._settle()
        if self.header.known and spec.fill_for is None:
            self.header.known, self._unsaved = False, True
        if not unchanged(self.header, spec):
            self._change()
        for kept, base in zip(self.header.bases, spec.bases, strict=True):
            self._unsaved |= adopt(kept, base)

    def complete_from(self) -> dict[str, int]:
        """The begin of the first complete instance of every window that joined later, by id."""
        bases = zip(self.spec.bases, self.header.bases, strict=True)
        since = {w.id: kept.since(w) for base, kept in bases for w in base.windows.values()}
        return {id: begin for id, begin in since.items() if begin is not None}

    def keys(self) -> Keys:
        """The keys, which are known once there is a piece."""
        if self._keys is None:
            entry = self.store.read("keys")
            assert entry is not None, "no piece was taken in yet"
            self._keys = Keys(from_bytes(entry))
        return self._keys

    def tell(self) -> bool:
        """Whether results have yet to tell of the history, which this step then does."""
        untold, self.header.untold = self.header.untold, False
        self._unsaved |= untold
        return untold

    def all_runs(self) -> dict[int, pa.Table]:
        """All pieces of each base that has any, sorted by group and start."""
        runs = {i: self.runs(i, FIRST) for i, _ in enumerate(self.header.bases)}
        spec = self.spec
        return {i: merge(own, spec.partials, spec.wraps) for i, own in runs.items() if own}

    def note_newest(self, newest: int | None) -> None:
        """Note the start of the newest piece of a batch, in whichever bucket it is.

        By it, not by their own pieces, all buckets let a new window begin at the same instant.
        """
        known = self.header.newest
        if newest is not None and (known is None or newest > known):
            self.header.newest, self._unsaved = newest, True

    def number_keys(self, pieces: pa.Table, until: Array) -> Array:
        """The number of each piece's key; until when it is needed is noted."""
        if self._keys is None:
            entry = self.store.read("keys")
            none = Keys.empty(pieces, self.spec.keys)
            self._keys = none if entry is None else Keys(from_bytes(entry))
        if self.spec.fill_for is not None and not self.header.known:
            self.put_known(Known.none(pieces.schema))
        self._keys, number = self._keys.number(pieces, until)
        return number

    def run(self, i: int, block: int) -> pa.Table | None:
        """The pieces of a block, sorted by group and start."""
        token = self.header.bases[i].runs.get(block)
        if token is None:
            return None
        if token not in self.cache:
            entry = self.store.read(f"{i}/{block}")
            assert entry is not None, "the header lists the runs that there are"
            self.cache[token] = from_bytes(entry)
        return self.cache[token]

    def runs(self, i: int, since: int, before: int | None = None) -> list[pa.Table]:
        """The runs with slices that begin in a stretch of time, oldest first."""
        base = self.header.bases[i]
        blocks = [
            block
            for block in sorted(base.runs)
            if (block + 1) * base.block > since and (before is None or block * base.block < before)
        ]
        return [table for block in blocks if (table := self.run(i, block)) is not None]

    def put(self, i: int, block: int, table: pa.Table) -> None:
        """Put a run in the place of any before."""
        runs, token = self.header.bases[i].runs, uuid4().hex
        self.cache.pop(runs.get(block, ""), None)
        runs[block], self.cache[token] = token, table
        self.store.write(f"{i}/{block}", to_bytes(table))
        self._unsaved = True

    def counts(self) -> pa.Table:
        """How often fired windows were emitted again."""
        if self.header.revised is None:
            return COUNTS.empty_table()
        entry = self.store.read("revised")
        assert entry is not None, "the header says that there is one"
        return from_bytes(entry)

    def put_counts(self, counts: pa.Table) -> None:
        """Keep the counts of windows that are not settled."""
        end = ends(counts)
        kept = counts.filter(pa.array(end > self.header.settled))
        self.header.revised = int(end.max()) if kept.num_rows else None
        if kept.num_rows:
            self.store.write("revised", to_bytes(kept))
        else:
            self.store.remove("revised")
        self._unsaved = True

    def known(self) -> Known:
        """Which keys are known in which windows."""
        entry = self.store.read("known")
        assert entry is not None, "no piece was taken in yet"
        return Known(from_bytes(entry))

    def put_known(self, known: Known) -> None:
        """Put what is known in the place of what was."""
        self.store.write("known", to_bytes(known.table))
        self.header.known = self._unsaved = True

    def need_keys(self, until: Array) -> None:
        """Keep each key at least so long."""
        keys = self.keys()
        self._keys = keys.with_until(np.maximum(keys.until, until))

    def save(self, watermark: int, changed: bool) -> None:
        """Let slices and keys leave that no window needs after the watermark; write the rest."""
        advanced, self.header.last = watermark > self.header.last, watermark
        self._settle()
        if not (advanced or changed or self._unsaved):
            return
        for i, base in enumerate(self.header.bases):
            self._expire(i, base)
            self._merge(i, base)
        if self.header.revised is not None and self.header.revised <= self.header.settled:
            self.put_counts(COUNTS.empty_table())
        if self._keys is not None:
            stays = self._keys.leaving(self.header.settled)
            if stays is not None:
                self._renumber(self._keys, stays)
            self.store.write("keys", to_bytes(self._keys.table))
        self.store.write("header", self.header.to_bytes())
        self._unsaved = False

    def _settle(self) -> None:
        """Note which windows are final; those that once were stay so, whatever is allowed now."""
        header = self.header
        header.settled = max(header.settled, header.last - (self.spec.lateness or 0))

    def _expire(self, i: int, base: KeptBase) -> None:
        windows, blocks = [k.window for k in base.windows], list(base.runs)
        newest = np.array([(block + 1) * base.block - 1 for block in blocks], dtype=np.int64)
        for block, until in zip(blocks, needed_until(windows, newest), strict=True):
            if until <= self.header.settled:
                self.cache.pop(base.runs.pop(block), None)
                self.store.remove(f"{i}/{block}")

    def _merge(self, i: int, base: KeptBase) -> None:
        """Merge slices that no window can end within any more into coarser ones."""
        until = merge_until(base, self.header.settled)
        if until is None:
            return
        since, base.merged_to = base.merged_to, until
        runs = {
            block: self._known(i, block)
            for block in sorted(base.runs)
            if block * base.block < until and (since is None or (block + 1) * base.block > since)
        }
        if not runs:
            return
        changed = merge_runs(base, runs, until, self.spec.partials, self.spec.wraps)
        for block, table in changed.items():
            if table is not None:
                self.put(i, block, table)
            else:
                self.cache.pop(base.runs.pop(block), None)
                self.store.remove(f"{i}/{block}")

    def _renumber(self, keys: Keys, stays: Array) -> None:
        """Keep only the keys that still have slices which some window needs."""
        number = np.cumsum(stays) - 1
        for i, base in enumerate(self.header.bases):
            for block in list(base.runs):
                table = self._known(i, block)
                here = stays[longs(table, GROUP)]
                kept = table.filter(pa.array(here))
                new = pa.array(number[longs(kept, GROUP)], pa.int32())
                self.put(i, block, kept.set_column(0, GROUP, new))
        if self.header.known:
            self.put_known(self.known().only(stays))
        if self.header.revised is not None:
            counts = self.counts()
            counts = counts.filter(pa.array(stays[longs(counts, GROUP)]))
            new = pa.array(number[longs(counts, GROUP)], pa.int32())
            self.put_counts(counts.set_column(0, COUNTS.field(GROUP), new))
        self._keys = keys.only(stays)

    def _change(self) -> None:
        """Go on with another set of windows (muntin.state.window_change)."""
        bases = self.header.bases
        tables = {
            (i, block): self._known(i, block) for i, b in enumerate(bases) for block in b.runs
        }
        pairs = self._take_over(tables)
        stay = {
            i
            for i, ((fresh, old), own) in enumerate(zip(pairs, bases, strict=False))
            if old is own and fresh.block == own.block
        }
        for i, block in tables:
            if i not in stay:
                self.store.remove(f"{i}/{block}")
        self.header.bases = [fresh for fresh, _ in pairs]
        places = {id(base): i for i, base in enumerate(bases)}
        for i, (fresh, old) in enumerate(pairs):
            if old is not None and i in stay:
                fresh.runs = old.runs
            elif old is not None:
                runs = {block: tables[places[id(old)], block] for block in sorted(old.runs)}
                self._put_all(i, runs if fresh.block == old.block else self._reblock(fresh, runs))
        self._unsaved = True
        if tables:
            self._measure_keys()

    def _take_over(
        self, tables: dict[tuple[int, int], pa.Table]
    ) -> Sequence[tuple[KeptBase, KeptBase | None]]:
        """The new bases, each with the base whose runs it takes over, if there are any."""
        bases, seen = self.header.bases, self.seen
        if seen is not None and seen.newest is None:
            return [(KeptBase.of(base), None) for base in self.spec.bases]
        if seen is not None and seen.newest is not None and not bases:
            return [(begin_after(base, seen.newest + 1), None) for base in self.spec.bases]
        places = {id(base): i for i, base in enumerate(bases)}

        def stand_until(base: KeptBase) -> int | None:
            if seen is not None and seen.newest is not None:
                return seen.newest + 1
            newest = [] if self.header.newest is None else [self.header.newest]
            if base.runs:
                own = longs(tables[places[id(base)], max(base.runs)], START)
                newest.append(int(own.max(initial=0)))
            return slice_end(base.slices, max(newest)) if newest else None

        return take_over(self.header, self.spec, stand_until, early=seen is not None)

    def _reblock(self, fresh: KeptBase, runs: dict[int, pa.Table]) -> dict[int, pa.Table]:
        """The same pieces in blocks of another length."""
        if not runs:
            return {}
        table = merge(list(runs.values()), self.spec.partials, self.spec.wraps)
        block = longs(table, START) // fresh.block
        return {each: table.filter(pa.array(block == each)) for each in np.unique(block).tolist()}

    def _put_all(self, i: int, runs: dict[int, pa.Table]) -> None:
        for block, table in runs.items():
            self.put(i, block, table)

    def _known(self, i: int, block: int) -> pa.Table:
        table = self.run(i, block)
        assert table is not None, "the header lists it"
        return table

    def _measure_keys(self) -> None:
        """How long each key is needed by the new windows."""
        keys = self.keys()
        until = np.zeros(len(keys), dtype=np.int64)
        for i, base in enumerate(self.header.bases):
            windows = [k.window for k in base.windows]
            for block in base.runs:
                table = self._known(i, block)
                np.maximum.at(
                    until, longs(table, GROUP), needed_until(windows, longs(table, START))
                )
        self._keys = keys.with_until(until)

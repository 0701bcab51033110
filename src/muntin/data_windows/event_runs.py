"""The events that later rows may reach, in runs: a step writes about as much as it takes in.

    events/4   events/9   events/12        the older, the larger; each sorted by key and time

order  any       needs  what `kept_events` needs
time   an event is written about log₂(kept / SMALL) times      space  about twice what is needed

A step appends its events as a run. While the run before is not twice as large, or is small, the two
are merged, and what no window needs any more leaves (`kept_events`). A run leaves whole with its
newest event.

Every run is pruned by itself, which drops nothing that all of them together would keep: of the last
n events of a key none is older than the last n of its run, and the partials that stand for older
events of several runs merge at one instant before every other. So of rows=n and lifetimes there
may be one share for each run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from muntin.data_windows.elements import NEVER
from muntin.data_windows.kept_events import keep_events, next_leaving
from muntin.data_windows.record_buffer import renumber_groups, sort_records
from muntin.data_windows.stream_state import Tables
from muntin.kernels.frame_program import FrameProgram
from muntin.kernels.monoids import Array
from muntin.state.pieces import GROUP, longs

SMALL = 1_024
"""Events of a run that is written again rather than left alone: a call to the state costs more."""


class EventRuns:
    """The runs among the tables of a state; `order` are the columns that order equal instants.

    >>> from muntin.model.frames import trailing
    >>> from muntin.state.store import MemoryStore
    >>> program = FrameProgram((trailing("4us"),), "left", (), ())
    >>> runs = EventRuns(Tables(MemoryStore(), {}, {}), program, ())
    >>> runs.add(pa.table({"group": [0, 0, 1], "t": [1, 5, 6]}), now=8)
    >>> [table.to_pydict() for table in runs.of(np.array([0]))], runs.expire(now=8)
    ([{'group': [0], 't': [5]}], 10)
    """

    def __init__(self, tables: Tables, program: FrameProgram, order: Sequence[str]) -> None:
        self._tables, self._program, self._order = tables, program, order

    @property
    def names(self) -> list[str]:
        """The runs, oldest first."""
        own = [name for name in self._tables.tokens if name.startswith("events/")]
        return sorted(own, key=_number)

    def of(self, groups: Array) -> list[pa.Table]:
        """The events of these groups, which are sorted, in every run that has some."""
        found = []
        for name in self.names:
            run = self._run(name)
            group = longs(run, GROUP)
            wanted = groups.astype(group.dtype)
            first = np.searchsorted(group, wanted, "left")
            size = np.searchsorted(group, wanted, "right") - first
            place = np.repeat(first - np.cumsum(size) + size, size) + np.arange(size.sum())
            if len(place):
                found.append(run if len(place) == len(group) else run.take(pa.array(place)))
        return found

    def add(self, events: pa.Table, now: int) -> None:
        """Append sorted events, as far as rows after `now` may reach them."""
        run, names = keep_events(events, self._program, now), self.names
        if not run.num_rows:
            return
        number = _number(names[-1]) + 1 if names else 0
        while names and (last := self._run(names[-1])).num_rows < max(SMALL, 2 * run.num_rows):
            both = pa.concat_tables([last, run]).combine_chunks()
            run = keep_events(sort_records(both, self._order), self._program, now)
            self._tables.drop(names.pop())
        if run.num_rows:
            self._tables.put(f"events/{number}", run)

    def expire(self, now: int) -> int:
        """Let go what time alone ends in whole runs; when the next of them is due."""
        due = NEVER
        for name in self.names:
            run = self._run(name)
            until = next_leaving(run, self._program, now)
            if until == NEVER:
                kept = keep_events(run, self._program, now)
                self._replace(name, run, kept)
            due = min(due, until)
        return due

    def groups(self) -> list[Array]:
        """The groups that have events, run by run."""
        return [longs(self._run(name), GROUP) for name in self.names]

    def renumber(self, number: Array) -> None:
        """Give the groups other numbers, in the same order."""
        for name in self.names:
            self._tables.put(name, renumber_groups(self._run(name), number))

    def _replace(self, name: str, run: pa.Table, kept: pa.Table) -> None:
        """Write what is left of a run, if anything left it."""
        if not kept.num_rows:
            self._tables.drop(name)
        elif kept.num_rows < run.num_rows:
            self._tables.put(name, kept)

    def _run(self, name: str) -> pa.Table:
        run = self._tables.get(name)
        assert run is not None, "tokens name the tables that there are"
        return run


def _number(name: str) -> int:
    return int(name.partition("/")[2])

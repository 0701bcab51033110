"""Triggers and evictions: records kept one by one, in one store for all policies.

order  records of one key in order      needs  a monoid      also known as  RA (section 5.2)
time   log₂ n combines a record and 2·log₂ n a window      space  2n for n records still kept

A policy that cannot tell at once whether a record begins a window ("every 5 seconds, the last 10
records") cannot share slices. Each policy has a place in the store, its oldest record; a trigger
merges from there to the newest. Only what all policies have evicted is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from muntin.aggregates import Aggregate
from muntin.data_windows.held_records import Emission, HeldRecords
from muntin.data_windows.protocol import Policy, Record
from muntin.data_windows.store import STORES
from muntin.incremental import Monoid
from muntin.incremental.protocol import monoid_of
from muntin.model.data_windows import OPEN_LIMIT, DataWindow, UserWindow
from muntin.model.windows import Window

RECORD_LIMIT = 1_000_000
"""How many records may be kept by default."""


class LastRecords(Policy):
    """Every `every` of time, the last `count` records: the paper's example of section 3.2."""

    def __init__(self, count: int, every: int) -> None:
        self.count, self.every = count, every
        self.held = 0
        self.due: int | None = None

    def trigger(self, time: int, record: Record) -> int:
        if self.due is None:
            self.due = time - time % self.every + self.every
        return 0

    def timeout(self) -> int | None:
        return self.due

    def timed_out(self) -> int:
        assert self.due is not None, "a time-out was due"
        self.due += self.every
        return 1

    def evict(self, time: int, record: Record) -> int:
        self.held += 1
        left = max(self.held - self.count, 0)
        self.held -= left
        return left


def record_limit(windows: Iterable[DataWindow | Window]) -> int:
    """The largest limit that user windows were given, or the default."""
    own = [w.limit for w in windows if isinstance(w, UserWindow) and w.limit != OPEN_LIMIT]
    return max(own, default=RECORD_LIMIT)


@dataclass(frozen=True, slots=True)
class Emitted(Emission):
    """A window that a policy emitted, with its result."""

    result: Any


class RecordWindows:
    """
    >>> from muntin.aggregates import sum
    >>> windows = RecordWindows(sum("v"), [LastRecords(count=2, every=5)])
    >>> for time in range(8):
    ...     for emitted in windows.record(time, time, {}): print(time, emitted.result)
    5 7
    """

    def __init__(
        self,
        aggregate: Aggregate | Monoid,
        policies: Sequence[Policy],
        store: str = "eager",
        names: Sequence[str] | None = None,
        limit: int = RECORD_LIMIT,
    ) -> None:
        self.monoid = monoid_of(aggregate)
        self.store = STORES[store](self.monoid)
        own = list(names or (type(p).__name__ for p in policies))
        self._held = HeldRecords(policies, own, limit)

    @property
    def kept(self) -> int:
        return self._held.kept

    def record(self, time: int, value: object, record: Record) -> list[Emitted]:
        """Windows emitted before the record enters; then it enters, and others leave."""
        emitted = []
        for each in self._held.emit(time, record):
            result = self.monoid.lower(self.store.merge(each.first))
            emitted.append(
                Emitted(each.policy, each.start, each.end, each.first, each.stop, result)
            )
        self.store.append(self.monoid.lift(value))
        self.store.remove_up_to(self._held.enter(time, record))
        return emitted

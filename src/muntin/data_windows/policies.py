"""Triggers and evictions: records kept one by one, in one store for all policies.

order  records of one key in order      needs  a monoid      also known as  RA (section 5.2)
time   log₂ n combines a record and 2·log₂ n a window      space  2n for n records still kept

A policy that cannot tell at once whether a record begins a window ("every 5 seconds, the last 10
records") cannot share slices. Each policy has a place in the store, its oldest record; a trigger
merges from there to the newest. Only what all policies have evicted is dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from muntin.aggregates import Aggregate
from muntin.data_windows.protocol import Policy, Record
from muntin.data_windows.store import STORES
from muntin.errors import UserWindowError
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
class Emitted:
    """A window that a policy emitted: its bounds, its records by number, its result."""

    policy: int
    start: int
    end: int
    first: int
    stop: int
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
        self._policies = list(policies)
        self._names = list(names or (type(p).__name__ for p in policies))
        self._heads = [0] * len(self._policies)
        self._times: deque[int] = deque()
        self._dropped = 0
        self._limit = limit

    @property
    def kept(self) -> int:
        return len(self._times)

    def record(self, time: int, value: object, record: Record) -> list[Emitted]:
        """Windows emitted before the record enters; then it enters, and others leave."""
        emitted = self._time_out(time, record)
        for i, policy in enumerate(self._policies):
            count = self._ask(i, partial(policy.trigger, time, record), time, record)
            emitted += self._emit(i, count)
        self.store.append(self.monoid.lift(value))
        self._times.append(time)
        for i, policy in enumerate(self._policies):
            gone = self._ask(i, partial(policy.evict, time, record), time, record)
            if gone > self._held(i):
                raise UserWindowError(
                    f"policy {self._names[i]!r} evicts {gone} records at time {time}, "
                    f"but has {self._held(i)}"
                )
            self._heads[i] += gone
        self._drop()
        return emitted

    def _time_out(self, time: int, record: Record) -> list[Emitted]:
        """Windows that are due without a record before `time`."""
        emitted: list[Emitted] = []
        for i, policy in enumerate(self._policies):
            while (due := policy.timeout()) is not None and due <= time and self._held(i):
                count = self._ask(i, policy.timed_out, time, record)
                emitted += self._emit(i, count)
        return emitted

    def _held(self, i: int) -> int:
        return self._dropped + len(self._times) - self._heads[i]

    def _emit(self, i: int, count: int) -> list[Emitted]:
        if not count or not self._held(i):
            return []
        head, stop = self._heads[i], self._dropped + len(self._times)
        first, last = self._times[head - self._dropped], self._times[-1]
        start, end = self._policies[i].bounds(first, last)
        result = self.monoid.lower(self.store.merge(head))
        return [Emitted(i, start, end, head, stop, result)] * count

    def _drop(self) -> None:
        oldest = min(self._heads)
        self.store.remove_up_to(oldest)
        while self._dropped < oldest:
            self._times.popleft()
            self._dropped += 1
        if self.kept > self._limit:
            slow = self._names[self._heads.index(oldest)]
            raise UserWindowError(
                f"policy {slow!r} keeps {self.kept} records, above the limit of {self._limit}: "
                "evict them, or raise the limit"
            )

    def _ask(self, i: int, question: Callable[[], int], time: int, record: Record) -> int:
        try:
            said = question()
        except Exception as error:
            raise UserWindowError(
                f"policy {self._names[i]!r} raised {error!r} at time {time}, "
                f"record {dict(record)!r}"
            ) from error
        if not isinstance(said, int) or said < 0:
            raise UserWindowError(
                f"policy {self._names[i]!r} said {said!r} at time {time}: say how many"
            )
        return said

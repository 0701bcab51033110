"""Which records policies hold: what they emit, and which of the oldest have left.

    records   4 5 6 7 8 9       by number, in the order of time; those before 4 are gone
    heads     a   b             the oldest record that each policy holds; it holds all from there on

A trigger emits what its policy holds, from the head to the newest. A record is dropped when no
policy holds it. Numbers alone: what the records are is the matter of whoever keeps them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from muntin.data_windows.protocol import Policy, Record, shorten
from muntin.errors import UserWindowError


@dataclass(frozen=True, slots=True)
class Emission:
    """A window that a policy emitted: its bounds, and its records by number, [first, stop)."""

    policy: int
    start: int
    end: int
    first: int
    stop: int


class HeldRecords:
    """
    >>> from muntin.data_windows.policies import LastRecords
    >>> held = HeldRecords([LastRecords(count=2, every=5)], ["last 2"], limit=10)
    >>> for time in (1, 3, 4, 7):
    ...     print(time, [(e.first, e.stop) for e in held.emit(time, {})], held.enter(time, {}))
    1 [] 0
    3 [] 0
    4 [] 1
    7 [(1, 3)] 2
    """

    def __init__(
        self,
        policies: Sequence[Policy],
        names: Sequence[str],
        limit: int,
        times: Sequence[int] = (),
    ) -> None:
        """Go on with records of these times, if given, of which every policy holds all."""
        self._policies, self._names, self._limit = list(policies), list(names), limit
        self._times = deque(times)
        self._heads = [0] * len(self._policies)
        self.dropped = 0

    @property
    def kept(self) -> int:
        """How many records some policy holds."""
        return len(self._times)

    @property
    def due(self) -> int | None:
        """When time makes a policy emit."""
        instants = [p.timeout() for i, p in enumerate(self._policies) if self._held(i)]
        return min((each for each in instants if each is not None), default=None)

    def emit(self, time: int, record: Record) -> list[Emission]:
        """The windows that are emitted before a record enters."""
        emitted = self.pass_time(time, record)
        for i, policy in enumerate(self._policies):
            count = self._ask(i, partial(policy.trigger, time, record), time, record)
            emitted += self._emitted(i, count)
        return emitted

    def enter(self, time: int, record: Record) -> int:
        """Let the record enter and others leave; how many have been dropped so far."""
        self._times.append(time)
        for i, policy in enumerate(self._policies):
            self._leave(i, partial(policy.evict, time, record), time, record)
        self._drop()
        if self.kept > self._limit:
            slow = self._names[self._heads.index(min(self._heads))]
            raise UserWindowError(
                f"policy {slow!r} keeps {self.kept} records, above the limit of {self._limit}: "
                "evict them, or raise the limit with mt.user_window(..., limit=...)"
            )
        return self.dropped

    def pass_time(self, time: int, record: Record) -> list[Emission]:
        """The windows that are due without a record, when no record before `time` will come."""
        emitted: list[Emission] = []
        for i, policy in enumerate(self._policies):
            while self._held(i) and (due := policy.timeout()) is not None and due <= time:
                count = self._ask(i, policy.timed_out, time, record)
                self._leave(i, policy.evict_due, time, record)
                emitted += self._emitted(i, count)
        self._drop()
        return emitted

    def _held(self, i: int) -> int:
        return self.dropped + len(self._times) - self._heads[i]

    def _emitted(self, i: int, count: int) -> list[Emission]:
        if not count or not self._held(i):
            return []
        head, stop = self._heads[i], self.dropped + len(self._times)
        first, last = self._times[head - self.dropped], self._times[-1]
        start, end = self._policies[i].bounds(first, last)
        return [Emission(i, start, end, head, stop)] * count

    def _leave(self, i: int, question: Callable[[], int], time: int, record: Record) -> None:
        gone = self._ask(i, question, time, record)
        if gone > self._held(i):
            raise UserWindowError(
                f"policy {self._names[i]!r} evicts {gone} records at time {time}, "
                f"but has {self._held(i)}"
            )
        self._heads[i] += gone

    def _drop(self) -> None:
        oldest = min(self._heads, default=0)
        while self.dropped < oldest:
            self._times.popleft()
            self.dropped += 1

    def _ask(self, i: int, question: Callable[[], int], time: int, record: Record) -> int:
        try:
            said = question()
        except Exception as error:
            raise UserWindowError(
                f"policy {self._names[i]!r} raised {error!r} at time {time}, "
                f"record {shorten(dict(record))}"
            ) from error
        if not isinstance(said, int) or said < 0:
            raise UserWindowError(
                f"policy {self._names[i]!r} said {said!r} at time {time}: say how many"
            )
        return said

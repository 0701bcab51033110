"""Whom to ask about a record: the functions whose next event it is, found without asking all.

time   one look at each heap a record, log₂ n a function that is asked      space  n entries

A function that declares its next event (`WindowFunction.next_event`) is passed over until then:

    time        a heap of instants: the first record from then on
    records     a heap of counts: after so many more records
    measure     a heap for each column: the first record whose measure, which never falls, is so far
    conditions  the functions that wait for each column: the next record where it holds

Others are asked about every record. The first of a function's events counts; what is left of the
others in a heap is told by comparing with what the function waits for now.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from muntin.data_windows.protocol import NextEvent, Record
from muntin.errors import UserWindowError

Heap = list[tuple[Any, int]]


@dataclass(slots=True)
class _Measure:
    """Where a column stands, and who waits for which value of it."""

    waiting: Heap = field(default_factory=list)
    awaited: dict[int, Any] = field(default_factory=dict)
    position: Any = None


class Schedule:
    """
    >>> schedule = Schedule()
    >>> schedule.wait(0, NextEvent(records=2), None, 0, {})
    >>> schedule.wait(1, NextEvent(conditions=("go",)), 9, 0, {})
    >>> [schedule.due(t, {"go": t == 3}, seen) for seen, t in enumerate((1, 3, 4))]
    [[], [1], [0]]
    """

    def __init__(self) -> None:
        self._always: set[int] = set()
        self._times: Heap = []
        self._counts: Heap = []
        self._time: dict[int, int] = {}
        self._count: dict[int, int] = {}
        self._measures: dict[str, _Measure] = {}
        self._conditions: dict[str, set[int]] = {}

    def wait(
        self,
        number: int,
        event: NextEvent | None,
        deadline: int | None,
        seen: int,
        record: Record,
    ) -> None:
        """Let a function wait for its next event, or for the deadline: when a window ends.

        `seen` records of the key have come so far, this record the last of them. Without an event
        it is asked about each.
        """
        if event is None:
            self._always.add(number)
            return
        instants = [t for t in (event.time, deadline) if t is not None]
        _expect(self._times, self._time, number, min(instants, default=None))
        count = None if event.records is None else seen + event.records
        _expect(self._counts, self._count, number, count)
        if event.measure is not None:
            column, value = event.measure
            measure = self._measures.setdefault(column, _Measure(position=record.get(column)))
            _expect(measure.waiting, measure.awaited, number, value)
        for column in event.conditions:
            self._conditions.setdefault(column, set()).add(number)

    def due(self, time: int, record: Record, seen: int) -> list[int]:
        """The functions to ask about this record, which `seen` others came before."""
        found = self._always
        if found:
            self._always = set()
        times, counts = self._times, self._counts
        if times and times[0][0] <= time:
            found = found | _reached(times, self._time, time)
        if counts and counts[0][0] <= seen:
            found = found | _reached(counts, self._count, seen)
        for column, measure in self._measures.items():
            found = found | self._passed(column, measure, time, record)
        for column, waiting in self._conditions.items():
            if waiting and record[column]:
                found = found | waiting
        if not found:
            return []
        for waiting in self._conditions.values():
            waiting -= found
        return sorted(found)

    def _passed(self, column: str, measure: _Measure, time: int, record: Record) -> set[int]:
        """Who waited for a value that the measure has reached."""
        value = record[column]
        if value is None or value != value:
            return set()
        if measure.position is not None and value < measure.position:
            raise UserWindowError(
                f"{column} falls from {measure.position} to {value} at time {time}: windows over a "
                "measure need one that never falls"
            )
        measure.position = value
        return _reached(measure.waiting, measure.awaited, value)


def _expect(heap: Heap, awaited: dict[int, Any], number: int, value: Any) -> None:
    """Note what a function waits for now; one that already waits for it is in the heap."""
    if value is None:
        awaited.pop(number, None)
    elif awaited.get(number) != value:
        awaited[number] = value
        heappush(heap, (value, number))


def _reached(heap: Heap, awaited: dict[int, Any], value: Any) -> set[int]:
    """Take the functions off the heap that waited for at most this value."""
    found = set()
    while heap and heap[0][0] <= value:
        expected, number = heappop(heap)
        if awaited.get(number) == expected:
            del awaited[number]
            found.add(number)
    return found

"""What a window function says: for each record, how many windows end before it and begin with it.

    f_disc : record → (ends, begins)        section 3.2 of the Cutty paper

The records of one key come in the order of their time. An end closes the window that has been open
longest, so windows leave in the order in which they came (FIFO, section 2.1). Some windows end by
themselves, without a record: `timeout` says from when on, and the function is asked to close them
before it sees a record at or after that instant, or when time is known to have passed it.

A function that can tell of every record at once how many windows begin with it is deterministic,
and its records are shared as slices. `Policy` is the paper's other form, a trigger and an eviction:
where the eviction counts windows that begin, it is a function like any other; where it counts
records that leave, whether a record begins a window shows only later, and records are kept one by
one (`muntin.data_windows.policies`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Record = Mapping[str, Any]
Numbers = npt.NDArray[np.int64]
Columns = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Marks:
    """Ends before a record and begins with it; `bounds` are those of the windows that begin."""

    ends: int = 0
    begins: int = 0
    bounds: tuple[tuple[int, int], ...] = ()


NOTHING = Marks()


@dataclass(frozen=True, slots=True)
class NextEvent:
    """The record that a function must see next: until then it says nothing of any.

    The first of these counts: the first record from `time` on; the one that so many `records` come
    before, from now on; the first whose `measure`, a column that never falls, is at least a value;
    the next one where one of the `conditions`, columns too, holds. A function may be asked sooner.
    """

    time: int | None = None
    records: int | None = None
    measure: tuple[str, Any] | None = None
    conditions: tuple[str, ...] = ()


class WindowFunction(ABC):
    """A window function over the records of one key, `deterministic` unless it is a policy.

    `columns` are what it reads of a record; `incomplete` says whether windows that the data leaves
    open are emitted at its end; `resumes`, that `marks` goes on from what the function remembers,
    so that in a stream it may be given the records of a key in portions.

    >>> class Pairs(WindowFunction):
    ...     seen = 0
    ...     def mark(self, time, record):
    ...         self.seen += 1
    ...         return (self.seen > 2, 1) if self.seen % 2 else (0, 0)
    """

    columns: ClassVar[tuple[str, ...]] = ()
    incomplete: ClassVar[bool] = False
    resumes: ClassVar[bool] = False
    deterministic: ClassVar[bool] = True

    @abstractmethod
    def mark(self, time: int, record: Record) -> Marks | tuple[int, int]:
        """How many windows end before the record, and how many begin with it."""

    def marks(self, times: Numbers, columns: Columns) -> tuple[Numbers, Numbers] | None:
        """All records of a key at once: their ends and begins; None to be asked one by one.

        A function that takes batches has neither time-outs nor declared bounds of single windows.
        """
        return None

    def next_event(self) -> NextEvent | None:
        """Which record it must see next, if that is known; None to be asked about every one.

        Declare it, and it costs nothing until then, however many functions there are. The instant
        of `timeout` need not be repeated: the function is asked then, too.
        """
        return None

    def skip(self, records: int, last: int) -> None:
        """So many records were passed over; `last` is the time of the last of them.

        Told before the function is asked again, if it declares events.
        """
        return

    def timeout(self) -> int | None:
        """The instant from which on no record belongs to the oldest open window, if known."""
        return None

    def timed_out(self) -> int:
        """How many windows end at that instant."""
        return 1

    def bounds(self, first: int, last: int) -> tuple[int, int]:
        """Start and end of a window, by the times of its first and last record."""
        return first, last + 1

    def state(self) -> Any:
        """What the function remembers, as JSON has it; by default its attributes."""
        return dict(vars(self))

    def restore(self, state: Any) -> None:
        """Go on from such a state."""
        vars(self).update(state)


class Policy(WindowFunction):
    """The paper's trigger and eviction over the records of one key.

    `deterministic` policies evict by telling how many windows begin with a record. Others tell how
    many of the oldest records leave once the record is in: a trigger emits what is left. A time-out
    is the instant at which a window is emitted without a record.
    """

    deterministic: ClassVar[bool] = False

    @abstractmethod
    def trigger(self, time: int, record: Record) -> int:
        """How many windows are emitted before the record enters."""

    @abstractmethod
    def evict(self, time: int, record: Record) -> int:
        """Deterministic: how many windows begin with the record; else how many records leave."""

    def evict_due(self) -> int:
        """How many records leave at a time-out, before what is left is emitted."""
        return 0

    def mark(self, time: int, record: Record) -> Marks:
        return Marks(self.trigger(time, record), self.evict(time, record))


def shorten(value: object) -> str:
    """A record or a state as errors show it."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"

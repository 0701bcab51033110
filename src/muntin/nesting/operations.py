"""Operations: one manager for several operations, each with windows of its own.

"We can first distinguish windowed queries into collections according to their prescribed operation,
and then initiate a separate window manager for each collection" (section 4 of the subsumption
paper). A collection is an operation with the windows registered for it: an aggregate of a stream,
the distinct items of a stream, or the join of two streams under one predicate. Requests with equal
operations share a collection, and so groups and stairs; a window that two operations ask for is one
in each, since what they keep differs. Every tuple is handed once to each collection that reads its
stream, all of which have one clock.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from muntin.aggregates import Aggregate
from muntin.errors import QueryError, did_you_mean, shown
from muntin.model.windows import Window
from muntin.nesting.aggregation import NestedAggregate
from muntin.nesting.distinct import NestedDistinct
from muntin.nesting.join import NestedJoin
from muntin.nesting.manager import WindowManager
from muntin.nesting.operator import Nested

Tuple = Mapping[str, Any]
"""A tuple of a stream: values by column."""

Windows = Window | Sequence[Window]
"""A window, or for a join also a pair of them."""


class Operation(ABC):
    """What is computed over windows; equal operations share a collection."""

    @property
    @abstractmethod
    def streams(self) -> tuple[str, ...]:
        """The streams that it reads."""

    @abstractmethod
    def start(self, grouping: str) -> Nested[Any, Any]:
        """A collection without windows."""

    @abstractmethod
    def feed(self, nested: Any, stream: str, time: int, row: Tuple) -> list[Any]:
        """Hand a tuple to the collection; what it answers."""


@dataclass(frozen=True)
class AggregateOf(Operation):
    """An aggregate of one column of a stream."""

    stream: str
    aggregate: Aggregate

    @property
    def streams(self) -> tuple[str, ...]:
        return (self.stream,)

    def start(self, grouping: str) -> NestedAggregate:
        return NestedAggregate(self.aggregate, grouping=grouping)

    def feed(self, nested: NestedAggregate, stream: str, time: int, row: Tuple) -> list[Any]:
        values = [_value(row, name) for name in self.aggregate.arguments]
        return list(nested.insert(time, values[0] if len(values) == 1 else tuple(values)))

    def __str__(self) -> str:
        return f"{self.aggregate.name} of {self.stream}"


@dataclass(frozen=True)
class DistinctOf(Operation):
    """The distinct values of some columns of a stream."""

    stream: str
    items: tuple[str, ...]

    @property
    def streams(self) -> tuple[str, ...]:
        return (self.stream,)

    def start(self, grouping: str) -> NestedDistinct:
        return NestedDistinct(grouping=grouping)

    def feed(self, nested: NestedDistinct, stream: str, time: int, row: Tuple) -> list[Any]:
        values = tuple(_value(row, name) for name in self.items)
        return list(nested.insert(time, values[0] if len(values) == 1 else values))

    def __str__(self) -> str:
        return f"distinct {', '.join(self.items)} of {self.stream}"


@dataclass(frozen=True)
class JoinOf(Operation):
    """Pairs of two streams that are equal in some columns, and for which a predicate holds."""

    left: str
    right: str
    on: tuple[str, ...]
    where: Callable[[Tuple, Tuple], bool] | None = None
    """Of a pair, besides equal columns; None lets all count."""

    @property
    def streams(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.left, self.right)))

    def start(self, grouping: str) -> NestedJoin:
        return NestedJoin(on=self._key, grouping=grouping, where=self.where or _any)

    def feed(self, nested: NestedJoin, stream: str, time: int, row: Tuple) -> list[Any]:
        sides = zip(("left", "right"), (self.left, self.right), strict=True)
        return [
            pair for side, own in sides if own == stream for pair in nested.insert(side, time, row)
        ]

    def _key(self, row: Tuple) -> Hashable:
        return tuple(_value(row, name) for name in self.on)

    def __str__(self) -> str:
        return f"join of {self.left} and {self.right} on {', '.join(self.on)}"


class Outcome(NamedTuple):
    """What an operation answered: an Answer, a Report or a Pair."""

    operation: Operation
    result: Any


class Operations:
    """
    >>> from muntin.aggregates import sum
    >>> many = Operations()
    >>> spent, pages = AggregateOf("clicks", sum("paid")), DistinctOf("clicks", ("page",))
    >>> _ = many.register(Window(4, 2, id="four"), spent)
    >>> _ = many.register(Window(8, 4, id="eight"), spent)
    >>> _ = many.register(Window(4, 4, id="four"), pages)
    >>> for time, page in enumerate("abab"):
    ...     for outcome in many.insert("clicks", time, {"page": page, "paid": time}):
    ...         print(outcome.operation, outcome.result)
    sum(paid) of clicks Answer(window_id='four', start=-2, end=2, value=1)
    >>> for operation, result in many.advance(4):
    ...     print(operation, result.of("four") if operation is pages else tuple(result))
    sum(paid) of clicks ('four', 0, 4, 6)
    sum(paid) of clicks ('eight', -4, 4, 6)
    distinct page of clicks ['b', 'a']
    >>> print(many)
    sum(paid) of clicks: 2 windows in 1 group
    1  slide 2  W(4, 2) ⊂ W(8, 4)
    distinct page of clicks: 1 window in 1 group
    1  slide 4  W(4, 4)
    """

    def __init__(self, grouping: str = "greedy") -> None:
        WindowManager(grouping=grouping)  # refuses an unknown grouping
        self._grouping = grouping
        self._collections: dict[Operation, Nested[Any, Any]] = {}
        self._now: int | None = None
        self._seen = 0
        """The first instant of which no tuple has come yet; it counts once time has begun."""

    @property
    def managers(self) -> dict[Operation, WindowManager]:
        """The window manager of each operation."""
        return {operation: each.manager for operation, each in self._collections.items()}

    def register(self, window: Windows, operation: Operation) -> list[Outcome]:
        """Answer an operation over one more window; pairs that it holds already are returned."""
        if not isinstance(operation, Operation):
            raise QueryError(
                f"{shown(operation)} is not an operation: use AggregateOf('stream', mt.sum('v')), "
                "DistinctOf('stream', ('item',)) or JoinOf('left', 'right', ('key',))"
            )
        collection = self._collections.get(operation)
        if collection is None:
            collection = operation.start(self._grouping)
            if self._now is not None:
                collection.begin(self._now, self._seen)
        results = collection.register(window)  # type: ignore[arg-type]  # a join takes pairs too
        self._collections[operation] = collection
        return [Outcome(operation, result) for result in results]

    def suspend(self, window: Windows | str, operation: Operation) -> None:
        """Answer it no more; a collection without windows is given up."""
        collection = self._of(operation)
        collection.suspend(window)  # type: ignore[arg-type]  # a join takes pairs too
        if not len(collection.manager):
            del self._collections[operation]

    def insert(self, stream: str, time: int, row: Tuple) -> list[Outcome]:
        """A tuple of a stream; what all operations answer up to its time."""
        found = self.advance(time)
        self._seen = time + 1
        for operation, collection in self._collections.items():
            if stream in operation.streams:
                results = operation.feed(collection, stream, time, row)
                found += [Outcome(operation, result) for result in results]
        return found

    def advance(self, instant: int) -> list[Outcome]:
        """Let time pass for all operations; the results of instances that end by then."""
        if self._now is not None and instant < self._now:
            raise QueryError(f"time runs backwards: {instant} after {self._now}")
        self._seen = instant if self._now is None else max(self._seen, instant)
        self._now = instant
        return [
            Outcome(operation, result)
            for operation, collection in self._collections.items()
            for result in collection.advance(instant)
        ]

    def regroup(self, grouping: str = "greedy") -> None:
        """Group the windows of every operation anew; results stay as they would have been."""
        for collection in self._collections.values():
            collection.regroup(grouping)

    def __len__(self) -> int:
        """How many items all collections hold."""
        return sum(map(len, self._collections.values()))

    def __repr__(self) -> str:
        return "\n".join(f"{o}: {manager}" for o, manager in self.managers.items())

    def _of(self, operation: Operation) -> Nested[Any, Any]:
        if operation not in self._collections:
            names = {str(each): each for each in self._collections}
            raise QueryError(
                f"no window is registered for {operation}: {did_you_mean(str(operation), names)}"
            )
        return self._collections[operation]


def _any(left: Tuple, right: Tuple) -> bool:
    return True


def _value(row: Tuple, name: str) -> Any:
    if name not in row:
        raise QueryError(f"the tuple has no {shown(name)}: {did_you_mean(name, list(row))}")
    return row[name]

"""What every technique offers, and the little that it asks of an aggregate.

A technique keeps a first-in-first-out window of values ready for one question: their aggregate.

    insert(value)   the newest value enters            evict()   the oldest value leaves
    query()         the aggregate of all values        query(range)   of the newest `range` values
    slide(value)    evict if the longest range is full, then insert: one step of a sliding window

Ranges are registered when a technique is made; `query_all()` answers all of them together. What is
older than the longest range stays until it is evicted. Partials are always combined (older, newer),
so the monoid need not commute.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import reduce
from typing import Any, ClassVar, Protocol, runtime_checkable

from muntin.aggregates import Aggregate
from muntin.errors import AggregateError, did_you_mean, is_between, is_one_of, shown
from muntin.incremental.chunked_queue import ChunkedQueue

TECHNIQUES: dict[str, type[Technique]] = {}
"""Every technique by the name that users write."""

LONGEST = 10**15
"""How many values a range may have at most."""


@runtime_checkable
class Monoid(Protocol):
    """The algebra of an aggregate; `muntin.aggregates.Function` is one."""

    @property
    def identity(self) -> Any: ...
    @property
    def invertible(self) -> bool: ...
    @property
    def selective(self) -> bool: ...
    @property
    def commutative(self) -> bool: ...
    def lift(self, value: Any) -> Any: ...
    def combine(self, older: Any, newer: Any) -> Any: ...
    def lower(self, partial: Any) -> Any: ...
    def invert(self, whole: Any, older: Any) -> Any: ...


class Technique(ABC):
    """A window of values and its aggregate; a subclass with a name registers itself."""

    name: ClassVar[str]
    several_ranges: ClassVar[bool] = False
    _partials: ChunkedQueue[object]

    def __init_subclass__(cls) -> None:
        if "name" in cls.__dict__:
            TECHNIQUES[cls.name] = cls

    def __init__(
        self,
        aggregate: Aggregate | Monoid,
        ranges: Iterable[int] = (),
        *,
        approximate: bool = False,
    ) -> None:
        self.monoid = monoid_of(aggregate)
        self.ranges = _longest_first(ranges)
        self._known = frozenset(self.ranges)
        self.approximate = approximate
        reason = self.refusal(self.monoid, self.ranges)
        if reason:
            raise AggregateError(f"{self.name} cannot serve {self.monoid!r}: {reason}")
        self._start()

    @classmethod
    def refusal(cls, monoid: Monoid, ranges: Iterable[int] = ()) -> str | None:
        """Why this technique cannot serve the aggregate over these ranges, or None if it can."""
        asked = list(ranges)
        if len(asked) > 1 and not cls.several_ranges:
            return (
                f"it answers one range, not {asked}: "
                f"use one window a range, or one of {_with_several_ranges()}"
            )
        return None

    # What a technique implements ------------------------------------------------------------

    @abstractmethod
    def _start(self) -> None:
        """Make the window empty."""

    @abstractmethod
    def insert(self, value: object) -> None:
        """Add the newest value."""

    @abstractmethod
    def evict(self) -> None:
        """Drop the oldest value."""

    def __len__(self) -> int:
        """How many values the window holds: by default, as many as partials."""
        return len(self._partials)

    def whole(self) -> object:
        """The partial of all values, in order."""
        return self._newest(len(self))

    def _newest(self, range: int) -> object:
        """The partial of the newest `range` values, of which there are more than that."""
        raise AggregateError(
            f"{self.name} answers for its whole window only, which holds {len(self)} values, "
            f"not {range}: evict first, or use one of {_with_several_ranges()}"
        )

    # What all share -------------------------------------------------------------------------

    def query(self, range: int | None = None) -> Any:
        """The aggregate of all values, or of the newest `range` values (fewer if fewer are in)."""
        if range is None:
            return self.monoid.lower(self.whole())
        self._refuse_unknown(range)
        return self.monoid.lower(self.whole() if range >= len(self) else self._newest(range))

    def query_all(self, ranges: Iterable[int] | None = None) -> dict[int, Any]:
        """The answer for each of these ranges, or for every registered one, longest first."""
        return {range: self.query(range) for range in self._check_ranges(ranges)}

    def slide(self, value: object) -> None:
        """Insert a value; the oldest leaves if the longest range is full already."""
        if not self.ranges:
            raise AggregateError(
                f"{self.name} knows no range to slide: make it with ranges=[…], "
                "or call insert() and evict()"
            )
        while len(self) >= self.ranges[0]:
            self.evict()
        self.insert(value)

    def _refuse_empty(self) -> None:
        if not len(self):
            raise AggregateError("evict() from an empty window: insert a value first")

    def _refuse_unknown(self, range: int) -> None:
        if not isinstance(range, int) or range not in self._known:
            wanted = [*self.ranges, *([range] if isinstance(range, int) else [])]
            raise AggregateError(
                f"range {shown(range)} is not registered: "
                f"make the technique with ranges={shown(sorted(wanted))}"
            )

    def _check_ranges(self, ranges: Iterable[int] | None) -> tuple[int, ...]:
        if ranges is None:
            return self.ranges
        asked = tuple(ranges)
        for range in asked:
            self._refuse_unknown(range)
        return tuple(sorted(set(asked), reverse=True))

    def __repr__(self) -> str:
        ranges = f", ranges={list(self.ranges)}" if self.ranges else ""
        return f"<{type(self).__name__} of {self.monoid!r}{ranges}: {len(self)} values>"


def fold(monoid: Monoid, partials: Iterable[object]) -> object:
    """Combine partials from older to newer: one combine fewer than there are partials."""
    rest = iter(partials)
    first = next(rest, rest)
    return monoid.identity if first is rest else reduce(monoid.combine, rest, first)


def monoid_of(aggregate: object) -> Monoid:
    """The algebra of an aggregate, of a function, or of anything with the same methods."""
    if isinstance(aggregate, Aggregate):
        if aggregate.predicate:
            raise AggregateError(
                f"{aggregate.name}: a filter is SQL, which plain values cannot be tested with: "
                "leave it out and insert only the values that pass"
            )
        aggregate = aggregate.function
    if isinstance(aggregate, type) or not isinstance(aggregate, Monoid):
        raise AggregateError(f"{shown(aggregate)} is not an aggregate: use one such as mt.max('v')")
    return aggregate


def _longest_first(ranges: Iterable[int]) -> tuple[int, ...]:
    """Each range once, longest first: the order in which SlickDeque answers them."""
    if not isinstance(ranges, Iterable):
        given = shown(ranges)
        raise AggregateError(f"ranges={given} must be a list: ranges=[{given}]")
    asked = tuple(ranges)
    for range in asked:
        if not isinstance(range, int) or not is_between(range, 1, LONGEST):
            raise AggregateError(
                f"range {shown(range)} must be a whole number of values, at least 1 and at most "
                f"{LONGEST:g}"
            )
    return tuple(sorted(set(asked), reverse=True))


def _with_several_ranges() -> str:
    return ", ".join(t.__name__ for t in TECHNIQUES.values() if t.several_ranges)


def technique_named(name: str) -> type[Technique]:
    """The technique of that name, or an error with the closest known one.

    >>> technique_named("two-stacks").__name__
    'TwoStacks'
    """
    if not is_one_of(name, TECHNIQUES):
        raise AggregateError(f"unknown technique {shown(name)}: {did_you_mean(name, TECHNIQUES)}")
    return TECHNIQUES[name]


def techniques_for(
    aggregate: Aggregate | Monoid, ranges: Iterable[int] = ()
) -> list[type[Technique]]:
    """The techniques that can serve the aggregate over these ranges.

    >>> from muntin.aggregates import max
    >>> [t.name for t in techniques_for(max("v"), ranges=[4, 16])]
    ['b-int', 'flatfat', 'flatfit', 'panes', 'slick-deque']
    """
    monoid, asked = monoid_of(aggregate), tuple(ranges)
    return [t for _, t in sorted(TECHNIQUES.items()) if t.refusal(monoid, asked) is None]

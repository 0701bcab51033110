"""ratio: one aggregate divided by another, such as a volume-weighted average.

Null where the denominator is zero or null, whatever ANSI mode says: a window in which nothing was
counted is no error. The partials are those of both parts, shared with all other aggregates, and
the flags are what both parts have in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

from muntin.aggregates.algebra import (
    Aggregate,
    Function,
    Partial,
    PartialValue,
    Types,
    Value,
    both_hold,
)
from muntin.errors import AggregateError, shown

T = TypeVar("T")
Pair = tuple[PartialValue, PartialValue]


class Ratio(Function):
    """Two functions side by side; a partial is a pair."""

    def __init__(self, above: Function, below: Function) -> None:
        self.above, self.below = above, below
        self.parameters = (above, below)
        self.identity = (above.identity, below.identity)
        self.name = "ratio"
        self.arity = above.arity + below.arity
        self.invertible = above.invertible and below.invertible
        self.idempotent = above.idempotent and below.idempotent
        self.commutative = above.commutative and below.commutative
        self.ordered = above.ordered or below.ordered
        self.holistic = above.holistic or below.holistic
        self.approximate = above.approximate or below.approximate
        self.since = max(above.since, below.since)
        self.by_type = above.by_type or below.by_type

    def partials(self, types: Types) -> tuple[Partial, ...]:
        first, second = self._split(types)
        above, below = self._inputs
        return (
            *_prefix(self.above.partials(first), "above_", above),
            *_prefix(self.below.partials(second), "below_", below),
        )

    def final(self, types: Types) -> str:
        first, second = self._split(types)
        above = self.above.final(first).format(**_names(self.above.partials(first), "above_"))
        below = self.below.final(second).format(**_names(self.below.partials(second), "below_"))
        return f"({above}) / nullif({below}, 0)"

    def unshared(self, types: Types) -> str | None:
        first, second = self._split(types)
        return self.above.unshared(first) or self.below.unshared(second)

    def native(self) -> str:
        below = self.below.native().format(*self._inputs[1])
        return f"({self.above.native()}) / nullif({below}, 0)"

    def _split(self, each: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
        return each[: self.above.arity], each[self.above.arity :]

    @property
    def _inputs(self) -> tuple[Sequence[str], Sequence[str]]:
        """The places of the inputs of both."""
        return self._split([f"{{{i}}}" for i in range(self.arity)])

    def lift(self, value: Sequence[Value]) -> Pair:
        first, second = self._split(value)
        return (
            self.above.lift(first[0] if self.above.arity == 1 else first),
            self.below.lift(second[0] if self.below.arity == 1 else second),
        )

    def combine(self, older: Pair, newer: Pair) -> Pair:
        return (self.above.combine(older[0], newer[0]), self.below.combine(older[1], newer[1]))

    def invert(self, whole: Pair, older: Pair) -> Pair:
        return (self.above.invert(whole[0], older[0]), self.below.invert(whole[1], older[1]))

    def lower(self, partial: Pair) -> Value:
        above, below = self.above.lower(partial[0]), self.below.lower(partial[1])
        if above is None or not below:
            return None
        exact = isinstance(above, Decimal | Fraction) or isinstance(below, Decimal | Fraction)
        return above / below if exact else float(above) / float(below)


def _names(partials: tuple[Partial, ...], prefix: str) -> dict[str, str]:
    return {p.name: f"{{{prefix}{p.name}}}" for p in partials}


def _prefix(partials: tuple[Partial, ...], prefix: str, inputs: Sequence[str]) -> list[Partial]:
    """The partials under names of their own, over these inputs."""
    return [
        replace(
            p.fill(inputs, _names(partials, prefix), "{order}"),
            name=prefix + p.name,
            beside=tuple(prefix + each for each in p.beside),
        )
        for p in partials
    ]


def ratio(above: Aggregate, below: Aggregate) -> Aggregate:
    """One aggregate divided by another; null where the second is zero or null.

    `above` and `below` are aggregates such as mt.sum("x"), each perhaps with a .filter(...);
    those of mt.custom are refused.

    >>> from muntin.aggregates import sum
    >>> ratio(sum("price * volume"), sum("volume")).alias("vwap")
    <vwap>
    """
    for part in (above, below):
        if not isinstance(part, Aggregate) or part.function.in_python:
            raise AggregateError(
                f"ratio takes two aggregates such as mt.sum('x'), not {shown(part)}"
            )
    arguments: list[str] = []
    filters: list[str | None] = []
    for part in (above, below):
        own = part.arguments or ("(1)",)  # count(*) counts a constant
        arguments += own
        filters += [both_hold(f, part.predicate) for f in part.filters or (None,) * len(own)]
    name = f"{above.name} / {below.name}"
    return Aggregate(
        Ratio(above.function, below.function), tuple(arguments), name, filters=tuple(filters)
    )

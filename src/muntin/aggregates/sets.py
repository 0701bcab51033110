"""collect_set and count_distinct: exact, by sets of the distinct values.

space  a partial grows with the distinct values of its piece, up to all of them

A union of sets is idempotent, so pieces may overlap. Both functions of a column share one partial.
As in Spark, NaN is one value and so are 0.0 and -0.0. Sets are given out in order, smallest first;
Spark leaves the order open.
"""

from __future__ import annotations

from typing import Any

from muntin.aggregates.algebra import Aggregate, Function, Partial, Types, make
from muntin.aggregates.ordering import IN_ORDER, is_nan

_NAN = float("nan")


class _Distinct(Function):
    """A partial is a frozenset of values."""

    idempotent = True

    def partials(self, types: Types) -> tuple[Partial, ...]:
        union = "array_distinct(flatten(collect_list({set})))"
        return (Partial("set", "collect_set({0})", union),)

    @property
    def identity(self) -> Any:
        return frozenset()

    def lift(self, value: Any) -> Any:
        if value is None:
            return frozenset()
        return frozenset([_NAN if is_nan(value) else value])

    def combine(self, older: Any, newer: Any) -> Any:
        return older | newer


class CollectSet(_Distinct):
    """The distinct values, as an array in order."""

    name = "collect_set"
    empty = "array()"

    def final(self, types: Types) -> str:
        return "sort_array({set})"

    def native(self) -> str:
        return "sort_array(collect_set({0}))"

    def lower(self, partial: Any) -> Any:
        return sorted(partial, key=IN_ORDER)


class CountDistinct(_Distinct):
    """How many distinct values there are."""

    name = "count_distinct"
    empty = "0"

    def final(self, types: Types) -> str:
        return "CAST(size({set}) AS BIGINT)"

    def native(self) -> str:
        return "count(DISTINCT {0})"

    def lower(self, partial: Any) -> Any:
        return len(partial)


def collect_set(value: str) -> Aggregate:
    """The distinct values."""
    return make(CollectSet(), value)


def count_distinct(value: str) -> Aggregate:
    """How many distinct values there are, exactly."""
    return make(CountDistinct(), value)

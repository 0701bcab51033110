"""collect_set and count_distinct: exact, by sets of the distinct values.

space  a partial grows with the distinct values of its piece, up to all of them

A union of sets is idempotent, so pieces may overlap. Both functions of a column share one partial.
As in Spark, NaN is one value and so are 0.0 and -0.0. Sets are given out in order, smallest first;
Spark leaves the order open.
"""

from __future__ import annotations

from dataclasses import replace

from muntin.aggregates.algebra import Aggregate, Function, Keeper, Partial, Types, Value, make
from muntin.aggregates.extremes import IN_ORDER, is_nan
from muntin.aggregates.signatures import ORDERED, SAME, of_kinds
from muntin.errors import AggregateError

_NAN = float("nan")


class _Distinct(Function):
    """A partial is a set of values."""

    idempotent = True
    identity: frozenset[Value] = frozenset()

    def partials(self, types: Types) -> tuple[Partial, ...]:
        if types[0] and "variant" in types[0]:
            raise AggregateError(
                f"{self.name} of {types[0]} cannot be computed: which values are the same is not "
                "defined for it; give it to_json(...) of the column"
            )
        union = "array_distinct(flatten(collect_list({set})))"
        return (Partial("set", "collect_set({0})", union, keeper=Keeper("set", "{0}")),)

    def lift(self, value: Value) -> frozenset[Value]:
        if value is None:
            return frozenset()
        return frozenset([_NAN if is_nan(value) else value])

    def combine(self, older: frozenset[Value], newer: frozenset[Value]) -> frozenset[Value]:
        return older | newer


class CollectSet(_Distinct):
    name = "collect_set"
    in_frames = "set"
    empty = "array()"
    takes = of_kinds(f"array<{SAME}>", *ORDERED)

    def final(self, types: Types) -> str:
        return "sort_array({set})"

    def native(self) -> str:
        return "sort_array(collect_set({0}))"

    def lower(self, partial: frozenset[Value]) -> list[Value]:
        return sorted(partial, key=IN_ORDER)


class CountDistinct(_Distinct):
    """A combination of several columns is kept as one text, each value with its length before it,
    so that no two combinations have the same; one in which a value is null does not count.
    """

    name = "count_distinct"
    in_frames = "distinct"
    variadic = True
    empty = "0"
    takes = of_kinds("bigint", *ORDERED)

    def partials(self, types: Types) -> tuple[Partial, ...]:
        if self.arity == 1:
            return super().partials(types)
        texts = [_text(self, i, kind) for i, kind in enumerate(types)]
        both = " || ".join(f"CAST(length({text}) AS STRING) || ':' || {text}" for text in texts)
        [union] = super().partials(types)
        return (replace(union, lift=f"collect_set({both})", keeper=Keeper("set", both)),)

    def final(self, types: Types) -> str:
        return "CAST(size({set}) AS BIGINT)"

    def native(self) -> str:
        return f"count(DISTINCT {', '.join(f'{{{i}}}' for i in range(self.arity))})"

    def lift(self, value: Value) -> frozenset[Value]:
        if self.arity == 1:
            return super().lift(value)
        known = tuple(_NAN if is_nan(each) else each for each in value)
        return frozenset() if None in known else frozenset([known])

    def lower(self, partial: frozenset[Value]) -> int:
        return len(partial)


def _text(function: Function, position: int, kind: str | None) -> str:
    """A value as text, distinct where the values are."""
    if kind in ("double", "float"):
        return f"CAST(CAST({{{position}}} AS DOUBLE) + 0D AS STRING)"  # -0.0 counts as 0.0
    if kind == "binary":
        return f"hex({{{position}}})"
    if kind == "timestamp":  # as text, an hour comes twice where clocks are set back
        return f"CAST(unix_micros({{{position}}}) AS STRING)"
    if kind and kind.startswith(("array", "struct", "map", "variant", "string collate")):
        raise AggregateError(
            f"{function.name} of several columns takes no {kind}: count it by itself, or give "
            "its parts"
        )
    return f"CAST({{{position}}} AS STRING)"


def collect_set(value: str) -> Aggregate:
    """The distinct values, as an array in order.

    `value` is a column or an SQL expression; maps and variants are refused. The array is empty
    where all values are null.

    >>> collect_set("country")
    <collect_set(country)>
    """
    return make(CollectSet(), value)


def count_distinct(value: str, *others: str) -> Aggregate:
    """How many distinct values there are, or combinations of values where columns are several.

    `value` and `others` are columns or SQL expressions; maps and variants are refused, and rows
    in which one is null do not count. The sets of values are kept: for very many, take
    mt.approx_count_distinct.

    >>> count_distinct("shop", "till")
    <count_distinct(shop, till)>
    """
    return make(CountDistinct.over(1 + len(others)), value, *others)

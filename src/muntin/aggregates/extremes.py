"""min, max, min_by, max_by: selective and idempotent, so pieces may overlap.

Nulls are passed over. The order of values is Spark's: NaN is larger than every number and equal to
itself. Among ties the older value is kept in process; Spark leaves the choice open for min_by and
max_by.
"""

from __future__ import annotations

from functools import cmp_to_key

from muntin.aggregates.algebra import Aggregate, Partial, Reduction, Types, Value, make, merged_by
from muntin.aggregates.signatures import KINDS, SAME, SELECTED, of_kinds

Placed = tuple[Value, Value]
"""A value and what it is ordered by."""


def is_nan(value: object) -> bool:
    return isinstance(value, float) and value != value


def less(left: Value, right: Value) -> bool:
    """left < right, as Spark orders them.

    >>> less(1.0, float("nan")), less(float("nan"), float("inf")), less(1, 2)
    (True, False, True)
    """
    if is_nan(left):
        return False
    if is_nan(right):
        return True
    return bool(left < right)


IN_ORDER = cmp_to_key(lambda a, b: less(b, a) - less(a, b))
"""The key to sort by."""


class _Extreme(Reduction):
    column = "best"
    idempotent = selective = same_in_duckdb = True
    takes = SELECTED


class Min(_Extreme):
    name = "min"

    def both(self, older: Value, newer: Value) -> Value:
        return newer if less(newer, older) else older


class Max(_Extreme):
    name = "max"

    def both(self, older: Value, newer: Value) -> Value:
        return newer if less(older, newer) else older


class _ExtremeBy(Reduction):
    """A partial is (value, order) or None; rows whose order is null are passed over."""

    column, arity = "value", 2
    idempotent = selective = same_in_duckdb = True
    commutative = False  # among ties the older row is kept; on engines any, as Spark leaves it open
    takes = of_kinds(SAME, *KINDS)

    def partials(self, types: Types) -> tuple[Partial, ...]:
        plain = self.name.removesuffix("_by")
        value, row = f"{self.name}({{0}}, {{1}})", "if({1} IS NOT NULL, {0}, NULL)"
        return (
            merged_by(self.name, "value", value, row, beside=("order",)),
            merged_by(plain, "order", f"{plain}({{1}})", "{1}"),
        )

    def lift(self, value: Placed) -> Placed | None:
        return None if value[1] is None else (value[0], value[1])

    def lower(self, partial: Placed | None) -> Value:
        return None if partial is None else partial[0]


class MinBy(_ExtremeBy):
    name = "min_by"

    def both(self, older: Placed, newer: Placed) -> Placed:
        return newer if less(newer[1], older[1]) else older


class MaxBy(_ExtremeBy):
    name = "max_by"

    def both(self, older: Placed, newer: Placed) -> Placed:
        return newer if less(older[1], newer[1]) else older


def min(value: str) -> Aggregate:
    """The smallest value.

    `value` is a column or an SQL expression of any type that has an order: maps and variants
    are refused. Nulls do not count, and NaN is the largest number.

    >>> min("temperature")
    <min(temperature)>
    """
    return make(Min(), value)


def max(value: str) -> Aggregate:
    """The largest value.

    `value` is a column or an SQL expression of any type that has an order: maps and variants
    are refused. Nulls do not count, and NaN is the largest number.

    >>> max("delay").alias("worst")
    <worst>
    """
    return make(Max(), value)


def min_by(value: str, order: str) -> Aggregate:
    """The value of the row whose order is smallest.

    `value` and `order` are columns or SQL expressions; `order` is of a type that has an order.
    Of several such rows, which one is taken is open, as in Spark.

    >>> min_by("shop", "price")
    <min_by(shop, price)>
    """
    return make(MinBy(), value, order)


def max_by(value: str, order: str) -> Aggregate:
    """The value of the row whose order is largest.

    `value` and `order` are columns or SQL expressions; `order` is of a type that has an order.
    Of several such rows, which one is taken is open, as in Spark.

    >>> max_by("station", "temperature")
    <max_by(station, temperature)>
    """
    return make(MaxBy(), value, order)

"""min, max, min_by, max_by: selective and idempotent, so pieces may overlap.

Nulls are passed over; NaN is the largest number, as in Spark. Among ties the older value is kept
in process; Spark leaves the choice open for min_by and max_by.
"""

from __future__ import annotations

from typing import Any, ClassVar

from muntin.aggregates.algebra import Aggregate, Function, Partial, Types, make, merged_by
from muntin.aggregates.ordering import less
from muntin.aggregates.signatures import KINDS, SAME, SELECTED, Signature, of_kinds


class _Extreme(Function):
    idempotent = selective = same_in_duckdb = True
    takes: ClassVar[Signature] = SELECTED

    def partials(self, types: Types) -> tuple[Partial, ...]:
        return (merged_by(self.name, "best", f"{self.name}({{0}})", "{0}"),)

    def final(self, types: Types) -> str:
        return "{best}"

    @property
    def identity(self) -> Any:
        return None

    def lift(self, value: Any) -> Any:
        return value

    def lower(self, partial: Any) -> Any:
        return partial


class Min(_Extreme):
    """The smallest value."""

    name = "min"

    def combine(self, older: Any, newer: Any) -> Any:
        if older is None or newer is None:
            return newer if older is None else older
        return newer if less(newer, older) else older


class Max(_Extreme):
    """The largest value."""

    name = "max"

    def combine(self, older: Any, newer: Any) -> Any:
        if older is None or newer is None:
            return newer if older is None else older
        return newer if less(older, newer) else older


class _ExtremeBy(Function):
    """A partial is (value, order) or None; rows whose order is null are passed over."""

    arity = 2
    idempotent = selective = same_in_duckdb = True
    commutative = False  # among ties the older row is kept; on engines any, as Spark leaves it open
    takes: ClassVar[Signature] = of_kinds(SAME, *KINDS)

    def partials(self, types: Types) -> tuple[Partial, ...]:
        plain = self.name.removesuffix("_by")
        value, row = f"{self.name}({{0}}, {{1}})", "if({1} IS NOT NULL, {0}, NULL)"
        return (
            merged_by(self.name, "value", value, row, beside=("order",)),
            merged_by(plain, "order", f"{plain}({{1}})", "{1}"),
        )

    def final(self, types: Types) -> str:
        return "{value}"

    @property
    def identity(self) -> Any:
        return None

    def lift(self, value: Any) -> Any:
        return None if value[1] is None else tuple(value)

    def lower(self, partial: Any) -> Any:
        return None if partial is None else partial[0]


class MinBy(_ExtremeBy):
    """The value of the row whose order is smallest."""

    name = "min_by"

    def combine(self, older: Any, newer: Any) -> Any:
        if older is None or newer is None:
            return newer if older is None else older
        return newer if less(newer[1], older[1]) else older


class MaxBy(_ExtremeBy):
    """The value of the row whose order is largest."""

    name = "max_by"

    def combine(self, older: Any, newer: Any) -> Any:
        if older is None or newer is None:
            return newer if older is None else older
        return newer if less(older[1], newer[1]) else older


def min(value: str) -> Aggregate:
    """The smallest value."""
    return make(Min(), value)


def max(value: str) -> Aggregate:
    """The largest value."""
    return make(Max(), value)


def min_by(value: str, order: str) -> Aggregate:
    """The value where `order` is smallest."""
    return make(MinBy(), value, order)


def max_by(value: str, order: str) -> Aggregate:
    """The value where `order` is largest."""
    return make(MaxBy(), value, order)

"""product: the values multiplied, as a double; pieces must be disjoint.

Spark has it for DataFrames but not in SQL, so a lift multiplies the list of a piece's values. It is
not invertible: what a zero has swallowed cannot be taken out again.
"""

from __future__ import annotations

from typing import Any, ClassVar

from muntin.aggregates.algebra import Aggregate, Function, Partial, Types, make
from muntin.aggregates.signatures import NUMERIC, Signature
from muntin.errors import AggregateError

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string", "void")


def _multiplied(values: str) -> str:
    numbers = f"CAST({values} AS DOUBLE)"
    return (
        f"if(count({numbers}) > 0, "
        f"aggregate(collect_list({numbers}), 1D, (a, b) -> a * b), CAST(NULL AS DOUBLE))"
    )


class Product(Function):
    """The product of the values that are not null; null when there is none."""

    name = "product"
    takes: ClassVar[Signature] = NUMERIC

    def partials(self, types: Types) -> tuple[Partial, ...]:
        if types[0] is not None and not types[0].startswith(_NUMBERS):
            raise AggregateError(
                f"product of {types[0]} cannot be computed: give it a number, for instance by a "
                "cast"
            )
        lift, merge = _multiplied("{0}"), _multiplied("{product}")
        return (Partial("product", lift, merge, "product", row="CAST({0} AS DOUBLE)"),)

    def final(self, types: Types) -> str:
        return "{product}"

    def native(self) -> str:
        return _multiplied("{0}")

    @property
    def identity(self) -> Any:
        return None

    def lift(self, value: Any) -> Any:
        return None if value is None else float(value)

    def combine(self, older: Any, newer: Any) -> Any:
        if older is None or newer is None:
            return newer if older is None else older
        return older * newer

    def lower(self, partial: Any) -> Any:
        return partial


def product(value: str) -> Aggregate:
    """The values multiplied."""
    return make(Product(), value)

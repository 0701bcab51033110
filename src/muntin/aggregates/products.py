"""product: the values multiplied, as a double; pieces must be disjoint.

Spark has it for DataFrames but not in SQL, so a lift multiplies the list of a piece's values. It is
not invertible: what a zero has swallowed cannot be taken out again.
"""

from __future__ import annotations

from decimal import Decimal

from muntin.aggregates.algebra import Aggregate, Partial, Reduction, Types, make
from muntin.aggregates.signatures import NUMERIC
from muntin.errors import AggregateError

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string", "void")


def _multiplied(values: str) -> str:
    numbers = f"CAST({values} AS DOUBLE)"
    return (
        f"if(count({numbers}) > 0, "
        f"aggregate(collect_list({numbers}), 1D, (a, b) -> a * b), CAST(NULL AS DOUBLE))"
    )


class Product(Reduction):
    name = column = "product"
    takes = NUMERIC

    def partials(self, types: Types) -> tuple[Partial, ...]:
        if types[0] is not None and not types[0].startswith(_NUMBERS):
            raise AggregateError(
                f"product of {types[0]} cannot be computed: give it a number, for instance by a "
                "cast"
            )
        lift, merge = _multiplied("{0}"), _multiplied("{product}")
        return (Partial("product", lift, merge, "product", row="CAST({0} AS DOUBLE)"),)

    def native(self) -> str:
        return _multiplied("{0}")

    def lift(self, value: float | Decimal | None) -> float | None:
        return None if value is None else float(value)

    def both(self, older: float, newer: float) -> float:
        return older * newer


def product(value: str) -> Aggregate:
    """The product of the values that are not null; null when there is none.

    `value` is a column or an SQL expression of numbers; text is read as numbers, and other
    types are refused.

    >>> product("1 + interest")
    <product(1 + interest)>
    """
    return make(Product(), value)

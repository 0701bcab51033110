"""sum, count, count_if, avg: invertible over exact types, so pieces must be disjoint.

Spark widens as it adds (int to bigint, decimal by ten digits); `final` narrows a merged decimal
sum back to Spark's own result type. The average of a decimal is rounded once, as Spark does it.

With ANSI mode off a sum that exceeds 38 digits is null, and so is every sum that it is part of; but
the null of a piece without values is passed over. Where digits can run out, a partial `lost` tells
one from the other.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

from muntin.aggregates.algebra import (
    Aggregate,
    Function,
    Partial,
    Types,
    Value,
    counted,
    make,
    merged_by,
    number_in,
)
from muntin.aggregates.signatures import (
    COUNTED,
    INTERVALS,
    SAME,
    Signature,
    of_kinds,
    result_type,
)
from muntin.errors import AggregateError

Total = tuple[int, Value]
"""A partial of sum and avg: how many values there are, and their sum."""

_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


def _decimal(kind: str | None) -> tuple[int, int] | None:
    match = _DECIMAL.fullmatch(kind or "")
    return (int(match[1]), int(match[2])) if match else None


_LOST = Partial(
    "lost",
    "count({0}) > 0 AND sum({0}) IS NULL",
    "bool_or({lost}) OR (count({sum}) > 0 AND sum({sum}) IS NULL)",
    "lost",
    ("sum",),
    row="false",
    bounded=True,
)


def _may_overflow(kind: str | None) -> bool:
    """Whether a sum has no ten digits to spare, as Spark would give it."""
    decimal = _decimal(kind)
    return decimal is not None and decimal[0] + 10 > 38


class Sum(Function):
    name = "sum"
    invertible = True
    identity: Total = (0, 0)
    takes: ClassVar[Signature] = {
        "whole numbers": "bigint",
        **of_kinds("double", "floats", "text", "timestamps"),
        "decimals": "decimal(p+10,s)",
        **of_kinds(SAME, "months", "intervals"),
    }

    def partials(self, types: Types) -> tuple[Partial, ...]:
        kind = result_type(Sum.takes, types[0] or "")
        own = merged_by("sum", "sum", "sum({0})", "{0}", kind=kind)
        return (own, _LOST) if _may_overflow(types[0]) else (own,)

    def final(self, types: Types) -> str:
        decimal = _decimal(types[0])
        if decimal is None:
            return "{sum}"
        precision, scale = decimal
        total = f"CAST({{sum}} AS DECIMAL({min(38, precision + 10)}, {scale}))"
        return f"CASE WHEN NOT {{lost}} THEN {total} END" if _may_overflow(types[0]) else total

    def lift(self, value: Value) -> Total:
        return (0, 0) if value is None else (1, value)

    def combine(self, older: Total, newer: Total) -> Total:
        return (older[0] + newer[0], older[1] + newer[1])

    def invert(self, whole: Total, older: Total) -> Total:
        return (whole[0] - older[0], whole[1] - older[1])

    def lower(self, partial: Total) -> Value:
        return partial[1] if partial[0] else None


class Count(Function):
    name = "count"
    invertible = same_in_duckdb = True
    empty = "0"
    identity: int = 0
    takes = COUNTED

    def partials(self, types: Types) -> tuple[Partial, ...]:
        return (counted("count", "{0}" if types else None),)

    def final(self, types: Types) -> str:
        return "{count}"

    def native(self) -> str:
        return "count({0})"

    def lift(self, value: Value) -> int:
        return 0 if value is None else 1

    def combine(self, older: int, newer: int) -> int:
        return older + newer

    def invert(self, whole: int, older: int) -> int:
        return whole - older

    def lower(self, partial: int) -> int:
        return partial


class CountIf(Count):
    name = "count_if"
    same_in_duckdb = False
    takes = of_kinds("bigint", "booleans", "text")

    def partials(self, types: Types) -> tuple[Partial, ...]:
        return (merged_by("sum", "count", "count_if({0})", "if({0}, 1, 0)", kind="bigint"),)

    def native(self) -> str:
        return "count_if({0})"

    def lift(self, value: Value) -> int:
        return 1 if value else 0


class Avg(Sum):
    name = "avg"
    by_type = True
    takes: ClassVar[Signature] = {
        **of_kinds("double", "whole numbers", "floats", "text", "timestamps"),
        "decimals": "decimal(p+4,s+4)",
        **INTERVALS,
    }

    def partials(self, types: Types) -> tuple[Partial, ...]:
        kind = types[0] or ""
        exact = _decimal(kind) or kind == "double" or kind.startswith("interval")
        value = "{0}" if exact else "CAST({0} AS DOUBLE)"
        summed = result_type(Sum.takes, kind if exact else "double")
        own = (
            merged_by("sum", "sum", f"sum({value})", value, kind=summed),
            counted("count", number_in(kind)),
        )
        return (*own, _LOST) if _may_overflow(kind) else own

    def final(self, types: Types) -> str:
        decimal = _decimal(types[0])
        mean = "{sum} / {count}" if decimal is None else _decimal_mean(*decimal)
        known = "{count} > 0 AND NOT {lost}" if _may_overflow(types[0]) else "{count} > 0"
        return f"CASE WHEN {known} THEN {mean} END"

    def final_in_duckdb(self, types: Types) -> str | None:
        decimal = _decimal(types[0])
        return None if decimal is None else _decimal_mean_in_duckdb(*decimal)

    def unshared(self, types: Types) -> str | None:
        precision, scale = _decimal(types[0]) or (0, 0)
        wide = precision > 32 or (precision > 24 and scale > 24)
        return _too_many_digits(precision, scale) if wide else None

    def lower(self, partial: Total) -> Value:
        count, total = partial
        if not count:
            return None
        if isinstance(total, Decimal | Fraction):
            return total / count
        return float(total) / count


def _decimal_mean(precision: int, scale: int) -> str:
    """Spark divides at a scale of four more digits and rounds once; a plain cast rounds twice.

    A sum that may be too wide to be divided so is taken apart: its whole quotient, which is exact,
    and the quotient of the remainder, which is short. Both have the same digits after the point, so
    rounding them down leaves a difference that is whole.
    """
    result = f"DECIMAL({min(38, precision + 4)}, {min(38, scale + 4)})"
    if precision <= 22:
        return f"CAST({_quotient('{sum}', scale)} AS {result})"
    if scale > 24:
        raise AggregateError(f"avg cannot be shared: it {_too_many_digits(precision, scale)}")
    total, count = f"CAST({{sum}} AS DECIMAL(38, {scale}))", "CAST({count} AS DECIMAL(20, 0))"
    rest = f"CAST({total} % {count} AS DECIMAL(34, {scale}))"
    whole = f"CAST((floor({total}) - floor({rest})) / {count} AS DECIMAL({33 - scale}, 0))"
    part = f"CAST({_quotient(rest, scale)} AS DECIMAL({scale + 5}, {scale + 4}))"
    return f"CAST({whole} + {part} AS {result})"


def _decimal_mean_in_duckdb(precision: int, scale: int) -> str:
    """The same in whole numbers, since DuckDB divides decimals as doubles.

    With U the unscaled sum and C the count, the result has four more digits: U·10⁴/C rounded half
    away from zero. With U = qC + r that is q·10⁴ + (r·2·10⁴ + C) // 2C, which is never longer than
    the result; its digits become a decimal by way of text.
    """
    digits = scale + 4
    unscaled = "CAST(replace(CAST(abs({sum}) AS VARCHAR), '.', '') AS HUGEINT)"
    rounded = f"(({unscaled} % {{count}}) * 20000 + {{count}}) // (2 * {{count}})"
    whole = f"CAST(({unscaled} // {{count}}) * 10000 + {rounded} AS VARCHAR)"
    padded = f"('{'0' * digits}' || {whole})"
    minus = "CASE WHEN {sum} < 0 THEN '-' ELSE '' END"
    text = f"{minus} || left({padded}, -{digits}) || '.' || right({padded}, {digits})"
    result = f"DECIMAL({min(38, precision + 4)}, {digits})"
    return f"CASE WHEN {{count}} > 0 THEN CAST({text} AS {result}) END"


def _too_many_digits(precision: int, scale: int) -> str:
    return (
        f"is of decimal({precision},{scale}), whose digits do not fit beside a count; cast the "
        f"column first, such as CAST(x AS DECIMAL(32, {min(scale, 24)}))"
    )


def _quotient(total: str, scale: int) -> str:
    """A total by the count, in a type of which Spark keeps exactly four more digits."""
    if scale >= 2:
        return f"CAST({total} AS DECIMAL(34, {scale})) / CAST({{count}} AS DECIMAL(20, 0))"
    shifted = f"CAST(CAST({total} AS DECIMAL(32, {scale})) / 100 AS DECIMAL(34, {scale + 2}))"
    return f"{shifted} / CAST({{count}} AS DECIMAL(20, 0)) * 100"


def sum(value: str) -> Aggregate:
    """The sum of the values that are not null; null when there is none.

    `value` is a column or an SQL expression of numbers or intervals. Whole numbers give a
    bigint, decimals ten digits more, floats a double. What Spark's own sum refuses is refused.

    >>> sum("price * volume").alias("turnover")
    <turnover>
    """
    return make(Sum(), value)


def count(value: str | None = None) -> Aggregate:
    """How many rows, or how many rows whose value is not null.

    `value` is a column or an SQL expression of any type; without one, rows are counted. The
    result is a bigint and never null.

    >>> count(), count("delay"), count().filter("delay > 15").alias("late")
    (<count>, <count(delay)>, <late>)
    """
    if value is None or (isinstance(value, str) and value.strip() in ("*", "1")):
        return Aggregate(Count(), ())
    return make(Count(), value)


def count_if(condition: str) -> Aggregate:
    """In how many rows the condition holds.

    `condition` is an SQL predicate; where it is null it does not hold.

    >>> count_if("delay > 15")
    <count_if(delay > 15)>
    """
    return make(CountIf(), condition)


def avg(value: str) -> Aggregate:
    """The mean of the values that are not null.

    `value` is a column or an SQL expression of numbers or intervals. Null where there is none.
    What Spark's own avg refuses is refused.

    >>> avg("delay").alias("mean_delay")
    <mean_delay>
    """
    return make(Avg(), value)


def mean(value: str) -> Aggregate:
    """The mean of the values: another name of avg.

    `value` is a column or an SQL expression of numbers or intervals.

    >>> mean("t").name
    'mean(t)'
    """
    return make(Avg(), value, written="mean")

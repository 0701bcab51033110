"""bool_and, bool_or, bit_and, bit_or, bit_xor, with nulls passed over.

All are idempotent but bit_xor, which takes out again whatever it was given twice: it is its own
inverse.
"""

from __future__ import annotations

from muntin.aggregates.algebra import Aggregate, Reduction, make
from muntin.aggregates.signatures import BITS, TRUE_OR_FALSE

Counted = tuple[int, int]
"""The partial of bit_xor: how many values there are, and their bits."""


class _Logical(Reduction):
    column = "all"
    idempotent = same_in_duckdb = True
    takes = BITS


class BitAnd(_Logical):
    name = "bit_and"

    def both(self, older: int, newer: int) -> int:
        return older & newer


class BoolAnd(BitAnd):
    name = "bool_and"
    selective = True
    takes = TRUE_OR_FALSE


class BitOr(_Logical):
    name = "bit_or"

    def both(self, older: int, newer: int) -> int:
        return older | newer


class BoolOr(BitOr):
    name = "bool_or"
    selective = True
    takes = TRUE_OR_FALSE


class BitXor(_Logical):
    name = "bit_xor"
    idempotent = same_in_duckdb = False
    invertible = True
    identity: Counted = (0, 0)

    def lift(self, value: int | None) -> Counted:
        return (0, 0) if value is None else (1, value)

    def both(self, older: Counted, newer: Counted) -> Counted:
        return (older[0] + newer[0], older[1] ^ newer[1])

    def invert(self, whole: Counted, older: Counted) -> Counted:
        return (whole[0] - older[0], whole[1] ^ older[1])

    def lower(self, partial: Counted) -> int | None:
        return partial[1] if partial[0] else None


def bool_and(value: str) -> Aggregate:
    """Whether all values are true.

    `value` is an SQL predicate or a column of booleans; other types are refused. Nulls do not
    count.

    >>> bool_and("paid")
    <bool_and(paid)>
    """
    return make(BoolAnd(), value)


def bool_or(value: str) -> Aggregate:
    """Whether any value is true.

    `value` is an SQL predicate or a column of booleans; other types are refused. Nulls do not
    count.

    >>> bool_or("amount > 1000")
    <bool_or(amount > 1000)>
    """
    return make(BoolOr(), value)


def bit_and(value: str) -> Aggregate:
    """The bits that all values have.

    `value` is a column or an SQL expression of whole numbers; other types are refused. Null
    where there is none.

    >>> bit_and("flags")
    <bit_and(flags)>
    """
    return make(BitAnd(), value)


def bit_or(value: str) -> Aggregate:
    """The bits that any value has.

    `value` is a column or an SQL expression of whole numbers; other types are refused. Null
    where there is none.

    >>> bit_or("flags")
    <bit_or(flags)>
    """
    return make(BitOr(), value)


def bit_xor(value: str) -> Aggregate:
    """The bits that an odd number of values has.

    `value` is a column or an SQL expression of whole numbers; other types are refused. Null
    where there is none.

    >>> bit_xor("flags")
    <bit_xor(flags)>
    """
    return make(BitXor(), value)

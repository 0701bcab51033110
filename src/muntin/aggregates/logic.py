"""bool_and, bool_or, bit_and, bit_or, bit_xor, with nulls passed over.

All are idempotent but bit_xor, which takes out again whatever it was given twice: it is its own
inverse.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from muntin.aggregates.algebra import Aggregate, Function, Partial, Types, make, merged_by
from muntin.aggregates.signatures import BITS, TRUE_OR_FALSE, Signature


class _Logical(Function):
    """A partial is a value or None."""

    idempotent = same_in_duckdb = True

    def partials(self, types: Types) -> tuple[Partial, ...]:
        return (merged_by(self.name, "all", f"{self.name}({{0}})", "{0}"),)

    def final(self, types: Types) -> str:
        return "{all}"

    @property
    def identity(self) -> Any:
        return None

    def lift(self, value: Any) -> Any:
        return value

    def lower(self, partial: Any) -> Any:
        return partial

    def combine(self, older: Any, newer: Any) -> Any:
        if older is None or newer is None:
            return newer if older is None else older
        return self.both(older, newer)

    @abstractmethod
    def both(self, older: Any, newer: Any) -> Any:
        """Combine two values that are not null."""


class BoolAnd(_Logical):
    """Whether all values are true."""

    name = "bool_and"
    selective = True
    takes: ClassVar[Signature] = TRUE_OR_FALSE

    def both(self, older: Any, newer: Any) -> Any:
        return older and newer


class BoolOr(_Logical):
    """Whether any value is true."""

    name = "bool_or"
    selective = True
    takes: ClassVar[Signature] = TRUE_OR_FALSE

    def both(self, older: Any, newer: Any) -> Any:
        return older or newer


class BitAnd(_Logical):
    """The bits that all values have."""

    name = "bit_and"
    takes: ClassVar[Signature] = BITS

    def both(self, older: Any, newer: Any) -> Any:
        return older & newer


class BitOr(_Logical):
    """The bits that any value has."""

    name = "bit_or"
    takes: ClassVar[Signature] = BITS

    def both(self, older: Any, newer: Any) -> Any:
        return older | newer


class BitXor(_Logical):
    """The bits that an odd number of values has. A partial is (how many values, bits)."""

    name = "bit_xor"
    idempotent = same_in_duckdb = False
    invertible = True
    takes: ClassVar[Signature] = BITS

    @property
    def identity(self) -> Any:
        return (0, 0)

    def lift(self, value: Any) -> Any:
        return (0, 0) if value is None else (1, value)

    def combine(self, older: Any, newer: Any) -> Any:
        return (older[0] + newer[0], self.both(older[1], newer[1]))

    def both(self, older: Any, newer: Any) -> Any:
        return older ^ newer

    def invert(self, whole: Any, older: Any) -> Any:
        return (whole[0] - older[0], whole[1] ^ older[1])

    def lower(self, partial: Any) -> Any:
        return partial[1] if partial[0] else None


def bool_and(value: str) -> Aggregate:
    """Whether all values are true."""
    return make(BoolAnd(), value)


def bool_or(value: str) -> Aggregate:
    """Whether any value is true."""
    return make(BoolOr(), value)


def bit_and(value: str) -> Aggregate:
    """The bits that all values have."""
    return make(BitAnd(), value)


def bit_or(value: str) -> Aggregate:
    """The bits that any value has."""
    return make(BitOr(), value)


def bit_xor(value: str) -> Aggregate:
    """The bits that an odd number of values has."""
    return make(BitXor(), value)

"""Undo a combine without losing anything, or refuse.

A running aggregate that subtracts what leaves is right only if nothing was rounded when it came in:
after 1e16 + 1.0 - 1e16 a float sum is 0.0, and one NaN stays for ever. So partials that hold floats
are refused unless the user asks for `approximate=True`, and decimals are refused where a sum needs
more digits than the context keeps. Types are known only when values come: the check is made on
each lifted partial (a count of floats is exact).

An approximate aggregate may be off by rounding errors; it is never poisoned. Once it is not finite
(NaN, infinity, overflow) subtracting means nothing, so it is folded anew from what is left in the
window: O(n) for each value that leaves while NaN or infinity is in the window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal, Inexact, localcontext
from functools import reduce
from math import isfinite
from numbers import Complex, Rational
from typing import Any

from muntin.errors import AggregateError
from muntin.incremental.protocol import Monoid

Operation = Callable[[object, object], object]
Rest = Callable[[], Iterable[object]]


class Inverse:
    """The combine and invert of a running aggregate, guarded."""

    __slots__ = ("_approximate", "_decimals", "_monoid", "_technique")

    def __init__(self, monoid: Monoid, approximate: bool, technique: str) -> None:
        self._monoid = monoid
        self._approximate = approximate
        self._technique = technique
        self._decimals = False

    def lift(self, value: object) -> object:
        """The partial of a value that may be inverted later."""
        partial = self._monoid.lift(value)
        if not self._approximate:
            self._refuse_inexact(value, partial)
        return partial

    def _refuse_inexact(self, value: object, partial: object) -> None:
        if type(partial) is int:
            return
        for number in _numbers(partial):
            if isinstance(number, Decimal):
                self._decimals = True
                exact = number.is_finite()
            else:
                exact = isinstance(number, Rational)
            if not exact:
                raise AggregateError(
                    f"{self._technique} takes values out by inverting {self._monoid!r}, which is "
                    f"not exact for {value!r} ({type(number).__name__}): use TwoStacks or DABA, "
                    "or approximate=True if rounding errors may pile up"
                )

    def add(self, total: object, newer: object) -> object:
        """The running aggregate with a value that enters."""
        if self._decimals:
            return self._apply_exactly(self._monoid.combine, total, newer)
        return self._monoid.combine(total, newer)

    def remove(self, total: object, older: object, rest: Rest) -> object:
        """The running aggregate without its oldest value; `rest` are the partials that stay."""
        if self._approximate and not _finite(total):
            return reduce(self._monoid.combine, rest(), self._monoid.identity)
        if self._decimals:
            return self._apply_exactly(self._monoid.invert, total, older)
        return self._monoid.invert(total, older)

    def _apply_exactly(self, operation: Operation, left: object, right: object) -> object:
        with localcontext() as context:
            context.traps[Inexact] = True
            try:
                return operation(left, right)
            except Inexact:
                raise AggregateError(
                    f"{self._technique}: {self._monoid!r} of these decimals needs more than "
                    f"{context.prec} digits: raise decimal.getcontext().prec"
                ) from None


def _numbers(partial: object) -> list[Complex | Decimal]:
    if type(partial) is tuple:
        return [number for part in partial for number in _numbers(part)]
    return [partial] if isinstance(partial, Complex | Decimal) else []


def _finite(partial: Any) -> bool:
    kind = type(partial)  # asked for every value that leaves, so the usual types come first
    if kind is float:
        return isfinite(partial)
    if kind is int:
        return True
    if kind is tuple:
        return all(map(_finite, partial))
    if kind is Decimal:
        return bool(partial.is_finite())
    return not isinstance(partial, Complex) or isfinite(abs(partial))

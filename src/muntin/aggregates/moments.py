"""Variance and standard deviation, merged by Chan's formula: (n, mean, M2).

M2 is the sum of squared deviations from the mean. Two partials merge as

    n = n1 + n2    δ = mean2 - mean1    mean = mean1 + δ·n2/n    M2 = M2₁ + M2₂ + δ²·n1·n2/n

so nothing large is subtracted: values near 1e9 with deviation 1 stay right, where sums of squares
lose every digit (Chan, Golub and LeVeque, 1979). In SQL the partial is one struct, folded in order
over the pieces of an instance.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, ClassVar

from muntin.aggregates.algebra import (
    Aggregate,
    Function,
    Partial,
    Types,
    make,
    number_in,
    one_if,
)
from muntin.aggregates.signatures import NUMERIC, Signature

_X = "CAST({0} AS DOUBLE)"
_MERGED = (
    "named_struct('n', a.n + b.n, 'mean', a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)), "
    "'m2', a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * a.n * b.n / (a.n + b.n))"
)
_MERGE = (
    "aggregate(collect_list({moments}), named_struct('n', 0D, 'mean', 0D, 'm2', 0D), (a, b) -> "
    f"CASE WHEN a.n = 0 THEN b WHEN b.n = 0 THEN a ELSE {_MERGED} END)"
)


class _Spread(Function):
    """A partial is (n, mean, M2); `missing` values are left out of the divisor."""

    missing = 0
    root = False
    takes: ClassVar[Signature] = NUMERIC

    def partials(self, types: Types) -> tuple[Partial, ...]:
        n = number_in(types[0])
        lift = (
            f"named_struct('n', CAST(count({n}) AS DOUBLE), 'mean', coalesce(avg({_X}), 0D), "
            f"'m2', coalesce(var_pop({_X}) * count({n}), 0D))"
        )
        row = (
            f"named_struct('n', CAST({one_if(n)} AS DOUBLE), 'mean', coalesce({_X}, 0D), "
            f"'m2', coalesce({_X} - {_X}, 0D))"
        )
        return (Partial("moments", lift, _MERGE, "moments", row=row),)

    def final(self, types: Types) -> str:
        divisor = "{moments}.n" if not self.missing else "({moments}.n - 1)"
        value = f"{{moments}}.m2 / {divisor}"
        value = f"sqrt({value})" if self.root else value
        return f"CASE WHEN {{moments}}.n > {self.missing} THEN {value} END"

    @property
    def identity(self) -> Any:
        return (0, 0.0, 0.0)

    def lift(self, value: Any) -> Any:
        if value is None:
            return self.identity
        number = float(value)
        return (1, number, number - number)  # NaN for an infinity, which has no deviation

    def combine(self, older: Any, newer: Any) -> Any:
        (n1, mean1, spread1), (n2, mean2, spread2) = older, newer
        if n1 == 0 or n2 == 0:  # else an infinite or very large mean times 0 would be NaN
            return newer if n1 == 0 else older
        n = n1 + n2
        delta = mean2 - mean1
        return (n, mean1 + delta * (n2 / n), spread1 + spread2 + delta * delta * n1 * n2 / n)

    def lower(self, partial: Any) -> Any:
        n, _, spread = partial
        if n <= self.missing:
            return None
        variance = spread / (n - self.missing)
        return sqrt(variance) if self.root else variance


class VarPop(_Spread):
    """The variance of the values."""

    name = "var_pop"


class VarSamp(_Spread):
    """The variance of the population that the values are a sample of; null for one value."""

    name = "var_samp"
    missing = 1


class StddevPop(_Spread):
    """The standard deviation of the values."""

    name = "stddev_pop"
    root = True


class StddevSamp(_Spread):
    """The standard deviation of the population that the values are a sample of."""

    name = "stddev_samp"
    missing = 1
    root = True


def var_pop(value: str) -> Aggregate:
    """The population variance."""
    return make(VarPop(), value)


def var_samp(value: str) -> Aggregate:
    """The sample variance."""
    return make(VarSamp(), value)


def stddev_pop(value: str) -> Aggregate:
    """The population standard deviation."""
    return make(StddevPop(), value)


def stddev_samp(value: str) -> Aggregate:
    """The sample standard deviation."""
    return make(StddevSamp(), value)


def variance(value: str) -> Aggregate:
    """The sample variance: another name of var_samp, as in Spark."""
    return make(VarSamp(), value, written="variance")


def stddev(value: str) -> Aggregate:
    """The sample standard deviation: another name of stddev_samp, as in Spark."""
    return make(StddevSamp(), value, written="stddev")


def std(value: str) -> Aggregate:
    """The sample standard deviation: another name of stddev_samp, as in Spark."""
    return make(StddevSamp(), value, written="std")

"""Variance, standard deviation, skewness and kurtosis, merged by central moments (n, mean, M2, …).

M_k is the sum of k-th powers of deviations from the mean. With n = n1 + n2 and δ = mean2 - mean1,
two partials merge as (Chan, Golub and LeVeque, 1979; Pébay, 2008, equations 2.1 to 2.5)

    mean = mean1 + δ·n2/n
    M2 = M2₁ + M2₂ + δ²·n1·n2/n
    M3 = M3₁ + M3₂ + δ³·n1·n2·(n1 - n2)/n² + 3·δ·(n1·M2₂ - n2·M2₁)/n
    M4 = M4₁ + M4₂ + δ⁴·n1·n2·(n1² - n1·n2 + n2²)/n³ + 6·δ²·(n1²·M2₂ + n2²·M2₁)/n²
         + 4·δ·(n1·M3₂ - n2·M3₁)/n

so nothing large is subtracted: values near 1e9 with deviation 1 stay right, where sums of squares
lose every digit. In SQL the partial is one struct, folded in order over the pieces of an instance.

Spark keeps the same moments inside but gives out only what is made of them; M3 and M4 are taken
back out of its skewness and kurtosis, which are scale-free. Their mean is kept between the smallest
and the largest value: so it is exact for equal values, whose spread must stay 0. Then both results
are null, as Spark's are.
"""

from __future__ import annotations

from abc import abstractmethod
from math import sqrt

from muntin.aggregates.algebra import (
    Aggregate,
    Function,
    Partial,
    Types,
    Value,
    make,
    number_in,
    one_if,
)
from muntin.aggregates.signatures import NUMERIC

Moments = tuple[float, ...]
"""n, mean, M2 and, where they are needed, M3 and M4."""

_X = "CAST({0} AS DOUBLE)"
_SPREAD = f"coalesce({_X} - {_X}, 0D)"
"""Of one value: 0, but NaN for an infinity."""
_N, _D = "(a.n + b.n)", "(b.mean - a.mean)"
_MERGED = {
    "n": "a.n + b.n",
    "mean": f"a.mean + {_D} * (b.n / {_N})",
    "m2": f"a.m2 + b.m2 + {_D} * {_D} * a.n * b.n / {_N}",
}
_MERGED_SHAPE = {
    "m3": f"a.m3 + b.m3 + {_D} * {_D} * {_D} * a.n * b.n * (a.n - b.n) / ({_N} * {_N}) "
    f"+ 3D * {_D} * (a.n * b.m2 - b.n * a.m2) / {_N}",
    "m4": f"a.m4 + b.m4 + {_D} * {_D} * {_D} * {_D} * a.n * b.n "
    f"* (a.n * a.n - a.n * b.n + b.n * b.n) / ({_N} * {_N} * {_N}) "
    f"+ 6D * {_D} * {_D} * (a.n * a.n * b.m2 + b.n * b.n * a.m2) / ({_N} * {_N}) "
    f"+ 4D * {_D} * (a.n * b.m3 - b.n * a.m3) / {_N}",
}


def struct(**fields: str) -> str:
    """A struct of these fields.

    >>> struct(n="1D", mean="v")
    "named_struct('n', 1D, 'mean', v)"
    """
    inside = ", ".join(f"'{name}', {sql}" for name, sql in fields.items())
    return f"named_struct({inside})"


def fold(column: str, merged: dict[str, str]) -> str:
    """The structs of a column folded in order: `merged` are the fields of a and b together."""
    nothing = struct(**dict.fromkeys(merged, "0D"))
    return (
        f"aggregate(collect_list({{{column}}}), {nothing}, (a, b) -> "
        f"CASE WHEN a.n = 0 THEN b WHEN b.n = 0 THEN a ELSE {struct(**merged)} END)"
    )


class _Spread(Function):
    """`missing` values are left out of the divisor."""

    missing = 0
    root = False
    takes = NUMERIC
    identity: Moments = (0, 0.0, 0.0)

    def partials(self, types: Types) -> tuple[Partial, ...]:
        n = number_in(types[0])
        lift = struct(
            n=f"CAST(count({n}) AS DOUBLE)",
            mean=f"coalesce(avg({_X}), 0D)",
            m2=f"coalesce(var_pop({_X}) * count({n}), 0D)",
        )
        row = struct(n=f"CAST({one_if(n)} AS DOUBLE)", mean=f"coalesce({_X}, 0D)", m2=_SPREAD)
        return (Partial("moments", lift, fold("moments", _MERGED), "moments", row=row),)

    def final(self, types: Types) -> str:
        divisor = "{moments}.n" if not self.missing else "({moments}.n - 1)"
        value = f"{{moments}}.m2 / {divisor}"
        value = f"sqrt({value})" if self.root else value
        return f"CASE WHEN {{moments}}.n > {self.missing} THEN {value} END"

    def lift(self, value: Value) -> Moments:
        if value is None:
            return self.identity
        number = float(value)
        spread = number - number  # NaN for an infinity, which has no deviation
        return (1, number, *[spread] * len(self.identity[2:]))

    def combine(self, older: Moments, newer: Moments) -> Moments:
        (a, mean_a, a2), (b, mean_b, b2) = older, newer
        if a == 0 or b == 0:  # else an infinite or very large mean times 0 would be NaN
            return newer if a == 0 else older
        n, d = a + b, mean_b - mean_a
        return (n, mean_a + d * (b / n), a2 + b2 + d * d * a * b / n)

    def lower(self, partial: Moments) -> float | None:
        n, _, spread = partial
        if n <= self.missing:
            return None
        variance = spread / (n - self.missing)
        return sqrt(variance) if self.root else variance


class VarPop(_Spread):
    name = "var_pop"


class VarSamp(_Spread):
    name = "var_samp"
    missing = 1


class StddevPop(_Spread):
    name = "stddev_pop"
    root = True


class StddevSamp(_Spread):
    name = "stddev_samp"
    missing = 1
    root = True


class _Shape(_Spread):
    result: str
    identity = (0, 0.0, 0.0, 0.0, 0.0)

    def partials(self, types: Types) -> tuple[Partial, ...]:
        n = number_in(types[0])
        m2 = f"(var_pop({_X}) * count({n}))"
        lift = struct(
            n=f"CAST(count({n}) AS DOUBLE)",
            mean=f"coalesce(greatest(least(avg({_X}), max({_X})), min({_X})), 0D)",
            m2=f"coalesce({m2}, 0D)",
            m3=f"coalesce(skewness({_X}) * {m2} * sqrt(var_pop({_X})), 0D)",
            m4=f"coalesce((kurtosis({_X}) + 3D) * {m2} * var_pop({_X}), 0D)",
        )
        row = struct(
            n=f"CAST({one_if(n)} AS DOUBLE)",
            mean=f"coalesce({_X}, 0D)",
            **dict.fromkeys(("m2", "m3", "m4"), _SPREAD),
        )
        merge = fold("moments", {**_MERGED, **_MERGED_SHAPE})
        reason = "DuckDB's skewness and kurtosis lose their digits where values are large"
        return (Partial("moments", lift, merge, "four_moments", row=row, not_in_duckdb=reason),)

    def final(self, types: Types) -> str:
        return f"CASE WHEN {{moments}}.n > 0 AND {{moments}}.m2 <> 0 THEN {self.result} END"

    def combine(self, older: Moments, newer: Moments) -> Moments:
        (a, mean_a, a2, a3, a4), (b, mean_b, b2, b3, b4) = older, newer
        if a == 0 or b == 0:
            return newer if a == 0 else older
        n, d = a + b, mean_b - mean_a
        return (
            *super().combine(older[:3], newer[:3]),
            a3 + b3 + d * d * d * a * b * (a - b) / (n * n) + 3 * d * (a * b2 - b * a2) / n,
            a4
            + b4
            + d * d * d * d * a * b * (a * a - a * b + b * b) / (n * n * n)
            + 6 * d * d * (a * a * b2 + b * b * a2) / (n * n)
            + 4 * d * (a * b3 - b * a3) / n,
        )

    def lower(self, partial: Moments) -> float | None:
        return None if partial[0] == 0 or partial[2] == 0 else self.of(*partial)

    @abstractmethod
    def of(self, n: float, mean: float, m2: float, m3: float, m4: float) -> float:
        """The result where there is a spread."""


class Skewness(_Shape):
    name = "skewness"
    result = "sqrt({moments}.n) * {moments}.m3 / ({moments}.m2 * sqrt({moments}.m2))"

    def of(self, n: float, mean: float, m2: float, m3: float, m4: float) -> float:
        return float(n**0.5 * m3 / (m2 * m2**0.5))


class Kurtosis(_Shape):
    name = "kurtosis"
    result = "{moments}.n * {moments}.m4 / ({moments}.m2 * {moments}.m2) - 3D"

    def of(self, n: float, mean: float, m2: float, m3: float, m4: float) -> float:
        return n * m4 / (m2 * m2) - 3


def var_pop(value: str) -> Aggregate:
    """The variance of the values.

    `value` is a column or an SQL expression of numbers; text is read as numbers, and other
    types are refused.

    >>> var_pop("amount")
    <var_pop(amount)>
    """
    return make(VarPop(), value)


def var_samp(value: str) -> Aggregate:
    """The variance of the population that the values are a sample of; null for one value.

    `value` is a column or an SQL expression of numbers; text is read as numbers, and other
    types are refused.

    >>> var_samp("amount")
    <var_samp(amount)>
    """
    return make(VarSamp(), value)


def stddev_pop(value: str) -> Aggregate:
    """The standard deviation of the values.

    `value` is a column or an SQL expression of numbers; text is read as numbers, and other
    types are refused.

    >>> stddev_pop("amount")
    <stddev_pop(amount)>
    """
    return make(StddevPop(), value)


def stddev_samp(value: str) -> Aggregate:
    """The standard deviation of the population that the values are a sample of.

    `value` is a column or an SQL expression of numbers; text is read as numbers, and other
    types are refused.

    >>> stddev_samp("amount")
    <stddev_samp(amount)>
    """
    return make(StddevSamp(), value)


def variance(value: str) -> Aggregate:
    """The sample variance: another name of var_samp, as in Spark.

    `value` is a column or an SQL expression of numbers; text is read as numbers, and other
    types are refused.

    >>> variance("amount")
    <variance(amount)>
    """
    return make(VarSamp(), value, written="variance")


def stddev(value: str) -> Aggregate:
    """The sample standard deviation: another name of stddev_samp, as in Spark.

    `value` is a column or an SQL expression of numbers; text is read as numbers, and other
    types are refused.

    >>> stddev("amount")
    <stddev(amount)>
    """
    return make(StddevSamp(), value, written="stddev")


def std(value: str) -> Aggregate:
    """The sample standard deviation: another name of stddev_samp, as in Spark.

    `value` is a column or an SQL expression of numbers; text is read as numbers, and other
    types are refused.

    >>> std("amount")
    <std(amount)>
    """
    return make(StddevSamp(), value, written="std")


def skewness(value: str) -> Aggregate:
    """How far the values lean to one side: √n·M3 / M2^1.5; null where they do not vary.

    `value` is a column or an SQL expression of numbers; text is read as numbers, and other
    types are refused.

    >>> skewness("amount")
    <skewness(amount)>
    """
    return make(Skewness(), value)


def kurtosis(value: str) -> Aggregate:
    """How heavy the tails are, 0 for a normal distribution: n·M4 / M2² - 3.

    `value` is a column or an SQL expression of numbers; text is read as numbers, and other
    types are refused.

    >>> kurtosis("amount")
    <kurtosis(amount)>
    """
    return make(Kurtosis(), value)

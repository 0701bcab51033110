"""skewness and kurtosis, merged by central moments (n, mean, M2, M3, M4).

M_k is the sum of k-th powers of deviations from the mean. With n = n1 + n2 and δ = mean2 - mean1,
two partials merge as (Pébay, 2008, equations 2.1 to 2.5)

    M3 = M3₁ + M3₂ + δ³·n1·n2·(n1 - n2)/n² + 3·δ·(n1·M2₂ - n2·M2₁)/n
    M4 = M4₁ + M4₂ + δ⁴·n1·n2·(n1² - n1·n2 + n2²)/n³ + 6·δ²·(n1²·M2₂ + n2²·M2₁)/n²
         + 4·δ·(n1·M3₂ - n2·M3₁)/n

so nothing large is subtracted. Spark keeps the same moments inside but gives out only what is made
of them; M3 and M4 are taken back out of its skewness and kurtosis, which are scale-free. Between
its smallest and largest value a mean is exact for equal values, whose spread must stay 0: then
both results are null, as Spark's are.
"""

from __future__ import annotations

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
_MEAN = f"coalesce(greatest(least(avg({_X}), max({_X})), min({_X})), 0D)"
_SPREAD = f"coalesce({_X} - {_X}, 0D)"
"""Of one value: 0, but NaN for an infinity."""
_N, _D = "(a.n + b.n)", "(b.mean - a.mean)"
_MERGED = (
    f"named_struct('n', {_N}, 'mean', a.mean + {_D} * (b.n / {_N}), "
    f"'m2', a.m2 + b.m2 + {_D} * {_D} * a.n * b.n / {_N}, "
    f"'m3', a.m3 + b.m3 + {_D} * {_D} * {_D} * a.n * b.n * (a.n - b.n) / ({_N} * {_N}) "
    f"+ 3D * {_D} * (a.n * b.m2 - b.n * a.m2) / {_N}, "
    f"'m4', a.m4 + b.m4 + {_D} * {_D} * {_D} * {_D} * a.n * b.n "
    f"* (a.n * a.n - a.n * b.n + b.n * b.n) / ({_N} * {_N} * {_N}) "
    f"+ 6D * {_D} * {_D} * (a.n * a.n * b.m2 + b.n * b.n * a.m2) / ({_N} * {_N}) "
    f"+ 4D * {_D} * (a.n * b.m3 - b.n * a.m3) / {_N})"
)
_NOTHING = "named_struct('n', 0D, 'mean', 0D, 'm2', 0D, 'm3', 0D, 'm4', 0D)"
_MERGE = (
    f"aggregate(collect_list({{moments}}), {_NOTHING}, (a, b) -> "
    f"CASE WHEN a.n = 0 THEN b WHEN b.n = 0 THEN a ELSE {_MERGED} END)"
)


def _lift(n: str) -> str:
    m2 = f"(var_pop({_X}) * count({n}))"
    return (
        f"named_struct('n', CAST(count({n}) AS DOUBLE), 'mean', {_MEAN}, "
        f"'m2', coalesce({m2}, 0D), "
        f"'m3', coalesce(skewness({_X}) * {m2} * sqrt(var_pop({_X})), 0D), "
        f"'m4', coalesce((kurtosis({_X}) + 3D) * {m2} * var_pop({_X}), 0D))"
    )


def _row(n: str) -> str:
    return (
        f"named_struct('n', CAST({one_if(n)} AS DOUBLE), 'mean', coalesce({_X}, 0D), "
        f"'m2', {_SPREAD}, 'm3', {_SPREAD}, 'm4', {_SPREAD})"
    )


class _Shape(Function):
    """A partial is (n, mean, M2, M3, M4)."""

    takes: ClassVar[Signature] = NUMERIC
    result: str

    def partials(self, types: Types) -> tuple[Partial, ...]:
        n = number_in(types[0])
        reason = "DuckDB's skewness and kurtosis lose their digits where values are large"
        return (
            Partial("moments", _lift(n), _MERGE, "four_moments", row=_row(n), not_in_duckdb=reason),
        )

    def final(self, types: Types) -> str:
        m = "{moments}"
        return f"CASE WHEN {m}.n > 0 AND {m}.m2 <> 0 THEN {self.result} END"

    @property
    def identity(self) -> Any:
        return (0, 0.0, 0.0, 0.0, 0.0)

    def lift(self, value: Any) -> Any:
        if value is None:
            return self.identity
        number = float(value)
        spread = number - number  # NaN for an infinity, which has no deviation
        return (1, number, spread, spread, spread)

    def combine(self, older: Any, newer: Any) -> Any:
        if older[0] == 0 or newer[0] == 0:
            return newer if older[0] == 0 else older
        return _merged(older, newer)

    def lower(self, partial: Any) -> Any:
        return None if partial[0] == 0 or partial[2] == 0 else self.of(partial)

    def of(self, partial: Any) -> float:
        """The result where there is a spread."""
        raise NotImplementedError


def _merged(older: Any, newer: Any) -> Any:
    (a, mean_a, a2, a3, a4), (b, mean_b, b2, b3, b4) = older, newer
    n, d = a + b, mean_b - mean_a
    return (
        n,
        mean_a + d * (b / n),
        a2 + b2 + d * d * a * b / n,
        a3 + b3 + d * d * d * a * b * (a - b) / (n * n) + 3 * d * (a * b2 - b * a2) / n,
        a4
        + b4
        + d * d * d * d * a * b * (a * a - a * b + b * b) / (n * n * n)
        + 6 * d * d * (a * a * b2 + b * b * a2) / (n * n)
        + 4 * d * (a * b3 - b * a3) / n,
    )


class Skewness(_Shape):
    """How far the values lean to one side: √n·M3 / M2^1.5; null where they do not vary."""

    name = "skewness"
    result = "sqrt({moments}.n) * {moments}.m3 / ({moments}.m2 * sqrt({moments}.m2))"

    def of(self, partial: Any) -> float:
        n, _, m2, m3, _ = partial
        return float(n**0.5 * m3 / (m2 * m2**0.5))


class Kurtosis(_Shape):
    """How heavy the tails are, 0 for a normal distribution: n·M4 / M2² - 3."""

    name = "kurtosis"
    result = "{moments}.n * {moments}.m4 / ({moments}.m2 * {moments}.m2) - 3D"

    def of(self, partial: Any) -> float:
        n, _, m2, _, m4 = partial
        return float(n * m4 / (m2 * m2) - 3)


def skewness(value: str) -> Aggregate:
    """How far the values lean to one side."""
    return make(Skewness(), value)


def kurtosis(value: str) -> Aggregate:
    """How heavy the tails of the values are."""
    return make(Kurtosis(), value)

"""Covariance and correlation, merged by (n, means, M2 of each, C): Chan's formula in two columns.

C is the sum of products of both deviations. With δx and δy the differences of the means,

    C = C₁ + C₂ + δx·δy·n1·n2/n

and M2 of each column as in `moments`. Rows where either value is null are passed over. A lift is
made of Spark's regr_ functions, which see only rows where both are there.
"""

from __future__ import annotations

from math import sqrt

from muntin.aggregates.algebra import Aggregate, Function, Partial, Types, Value, make
from muntin.aggregates.moments import fold, struct
from muntin.aggregates.signatures import NUMERIC

Comoments = tuple[float, float, float, float, float, float]

_X, _Y = "CAST({0} AS DOUBLE)", "CAST({1} AS DOUBLE)"
_BOTH = f"({_Y}, {_X})"
_ONLY_X, _ONLY_Y = (f"if({{0}} IS NULL OR {{1}} IS NULL, NULL, {v})" for v in (_X, _Y))


def _mean(regr: str, value: str) -> str:
    """Between the extremes, so that the mean of equal values is exactly theirs."""
    return f"coalesce(greatest(least({regr}{_BOTH}, max({value})), min({value})), 0D)"


_LIFT = struct(
    n=f"CAST(regr_count{_BOTH} AS DOUBLE)",
    x=_mean("regr_avgx", _ONLY_X),
    y=_mean("regr_avgy", _ONLY_Y),
    xx=f"coalesce(regr_sxx{_BOTH}, 0D)",
    yy=f"coalesce(regr_syy{_BOTH}, 0D)",
    xy=f"coalesce(regr_sxy{_BOTH}, 0D)",
)
_THERE = f"{_X} IS NOT NULL AND {_Y} IS NOT NULL"
_ROW = struct(
    n=f"if({_THERE}, 1D, 0D)",
    x=f"coalesce({_ONLY_X}, 0D)",
    y=f"coalesce({_ONLY_Y}, 0D)",
    xx=f"if({_THERE}, {_X} - {_X}, 0D)",
    yy=f"if({_THERE}, {_Y} - {_Y}, 0D)",
    xy=f"if({_THERE}, ({_X} - {_X}) * ({_Y} - {_Y}), 0D)",
)
_PART = "a.n * b.n / (a.n + b.n)"
_MERGED = {
    "n": "a.n + b.n",
    "x": "a.x + (b.x - a.x) * (b.n / (a.n + b.n))",
    "y": "a.y + (b.y - a.y) * (b.n / (a.n + b.n))",
    "xx": f"a.xx + b.xx + (b.x - a.x) * (b.x - a.x) * {_PART}",
    "yy": f"a.yy + b.yy + (b.y - a.y) * (b.y - a.y) * {_PART}",
    "xy": f"a.xy + b.xy + (b.x - a.x) * (b.y - a.y) * {_PART}",
}


class _TwoColumns(Function):
    """A partial is (n, mean of x, mean of y, M2 of x, M2 of y, C)."""

    arity = 2
    takes = NUMERIC
    identity: Comoments = (0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def partials(self, types: Types) -> tuple[Partial, ...]:
        return (Partial("both", _LIFT, fold("both", _MERGED), "comoments", row=_ROW),)

    def lift(self, value: tuple[Value, Value]) -> Comoments:
        if value[0] is None or value[1] is None:
            return self.identity
        x, y = map(float, value)
        return (1, x, y, x - x, y - y, (x - x) * (y - y))

    def combine(self, older: Comoments, newer: Comoments) -> Comoments:
        (a, xa, ya, xxa, yya, xya), (b, xb, yb, xxb, yyb, xyb) = older, newer
        if a == 0 or b == 0:
            return newer if a == 0 else older
        dx, dy, part = xb - xa, yb - ya, a * b / (a + b)
        return (
            a + b,
            xa + dx * (b / (a + b)),
            ya + dy * (b / (a + b)),
            xxa + xxb + dx * dx * part,
            yya + yyb + dy * dy * part,
            xya + xyb + dx * dy * part,
        )


class CovarPop(_TwoColumns):
    name = "covar_pop"
    missing = 0

    def final(self, types: Types) -> str:
        divisor = "({both}.n - 1)" if self.missing else "{both}.n"
        return f"CASE WHEN {{both}}.n > {self.missing} THEN {{both}}.xy / {divisor} END"

    def lower(self, partial: Comoments) -> float | None:
        n = partial[0]
        return partial[5] / (n - self.missing) if n > self.missing else None


class CovarSamp(CovarPop):
    name = "covar_samp"
    missing = 1


class Covar(CovarSamp):
    name = "covar"

    def native(self) -> str:
        return "covar_samp({0}, {1})"


class Corr(_TwoColumns):
    name = "corr"

    def final(self, types: Types) -> str:
        b = "{both}"
        varies = f"{b}.n > 1 AND {b}.xx <> 0 AND {b}.yy <> 0"
        return f"CASE WHEN {varies} THEN {b}.xy / (sqrt({b}.xx) * sqrt({b}.yy)) END"

    def lower(self, partial: Comoments) -> float | None:
        n, _, _, xx, yy, xy = partial
        return xy / (sqrt(xx) * sqrt(yy)) if n > 1 and xx != 0 and yy != 0 else None


def covar_pop(x: str, y: str) -> Aggregate:
    """The covariance of two columns: C / n.

    `x` and `y` are columns or SQL expressions of numbers; rows where one is null do not count.

    >>> covar_pop("height", "weight")
    <covar_pop(height, weight)>
    """
    return make(CovarPop(), x, y)


def covar_samp(x: str, y: str) -> Aggregate:
    """The covariance of the population that the rows are a sample of; null for one row.

    `x` and `y` are columns or SQL expressions of numbers; rows where one is null do not count.

    >>> covar_samp("height", "weight")
    <covar_samp(height, weight)>
    """
    return make(CovarSamp(), x, y)


def covar(x: str, y: str) -> Aggregate:
    """covar_samp under a short name, as Spark's variance is var_samp.

    `x` and `y` are columns or SQL expressions of numbers; rows where one is null do not count.

    >>> covar("height", "weight")
    <covar(height, weight)>
    """
    return make(Covar(), x, y)


def corr(x: str, y: str) -> Aggregate:
    """Pearson's correlation; null where a column does not vary.

    `x` and `y` are columns or SQL expressions of numbers; rows where one is null do not count.

    >>> corr("price", "volume")
    <corr(price, volume)>
    """
    return make(Corr(), x, y)

"""Covariance and correlation, merged by (n, means, M2 of each, C): Chan's formula in two columns.

C is the sum of products of both deviations. With δx and δy the differences of the means,

    C = C₁ + C₂ + δx·δy·n1·n2/n

and M2 of each column as in `moments`. Rows where either value is null are passed over. A lift is
made of Spark's regr_ functions, which see only rows where both are there.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, ClassVar

from muntin.aggregates.algebra import Aggregate, Function, Partial, Types, make
from muntin.aggregates.signatures import NUMERIC, Signature

_X, _Y = "CAST({0} AS DOUBLE)", "CAST({1} AS DOUBLE)"
_BOTH = f"({_Y}, {_X})"
_ONLY_X, _ONLY_Y = (f"if({{0}} IS NULL OR {{1}} IS NULL, NULL, {v})" for v in (_X, _Y))


def _mean(regr: str, value: str) -> str:
    """Between the extremes, so that the mean of equal values is exactly theirs."""
    return f"coalesce(greatest(least({regr}{_BOTH}, max({value})), min({value})), 0D)"


_LIFT = (
    f"named_struct('n', CAST(regr_count{_BOTH} AS DOUBLE), "
    f"'x', {_mean('regr_avgx', _ONLY_X)}, 'y', {_mean('regr_avgy', _ONLY_Y)}, "
    f"'xx', coalesce(regr_sxx{_BOTH}, 0D), 'yy', coalesce(regr_syy{_BOTH}, 0D), "
    f"'xy', coalesce(regr_sxy{_BOTH}, 0D))"
)
_THERE = f"{_X} IS NOT NULL AND {_Y} IS NOT NULL"
_ROW = (
    f"named_struct('n', if({_THERE}, 1D, 0D), "
    f"'x', coalesce({_ONLY_X}, 0D), 'y', coalesce({_ONLY_Y}, 0D), "
    f"'xx', if({_THERE}, {_X} - {_X}, 0D), 'yy', if({_THERE}, {_Y} - {_Y}, 0D), "
    f"'xy', if({_THERE}, ({_X} - {_X}) * ({_Y} - {_Y}), 0D))"
)
_PART = "a.n * b.n / (a.n + b.n)"
_MERGED = (
    "named_struct('n', a.n + b.n, "
    "'x', a.x + (b.x - a.x) * (b.n / (a.n + b.n)), 'y', a.y + (b.y - a.y) * (b.n / (a.n + b.n)), "
    f"'xx', a.xx + b.xx + (b.x - a.x) * (b.x - a.x) * {_PART}, "
    f"'yy', a.yy + b.yy + (b.y - a.y) * (b.y - a.y) * {_PART}, "
    f"'xy', a.xy + b.xy + (b.x - a.x) * (b.y - a.y) * {_PART})"
)
_NOTHING = "named_struct('n', 0D, 'x', 0D, 'y', 0D, 'xx', 0D, 'yy', 0D, 'xy', 0D)"
_MERGE = (
    f"aggregate(collect_list({{both}}), {_NOTHING}, (a, b) -> "
    f"CASE WHEN a.n = 0 THEN b WHEN b.n = 0 THEN a ELSE {_MERGED} END)"
)


class _TwoColumns(Function):
    """A partial is (n, mean of x, mean of y, M2 of x, M2 of y, C)."""

    arity = 2
    takes: ClassVar[Signature] = NUMERIC

    def partials(self, types: Types) -> tuple[Partial, ...]:
        return (Partial("both", _LIFT, _MERGE, "comoments", row=_ROW),)

    @property
    def identity(self) -> Any:
        return (0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def lift(self, value: Any) -> Any:
        if value[0] is None or value[1] is None:
            return self.identity
        x, y = map(float, value)
        return (1, x, y, x - x, y - y, (x - x) * (y - y))

    def combine(self, older: Any, newer: Any) -> Any:
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
    """The covariance of two columns: C / n."""

    name = "covar_pop"

    def final(self, types: Types) -> str:
        return "CASE WHEN {both}.n > 0 THEN {both}.xy / {both}.n END"

    def lower(self, partial: Any) -> Any:
        return partial[5] / partial[0] if partial[0] else None


class CovarSamp(_TwoColumns):
    """The covariance of the population that the rows are a sample of; null for one row."""

    name = "covar_samp"

    def final(self, types: Types) -> str:
        return "CASE WHEN {both}.n > 1 THEN {both}.xy / ({both}.n - 1) END"

    def lower(self, partial: Any) -> Any:
        return partial[5] / (partial[0] - 1) if partial[0] > 1 else None


class Covar(CovarSamp):
    """covar_samp under a short name, as Spark's variance is var_samp."""

    name = "covar"

    def native(self) -> str:
        return "covar_samp({0}, {1})"


class Corr(_TwoColumns):
    """Pearson's correlation; null where a column does not vary."""

    name = "corr"

    def final(self, types: Types) -> str:
        b = "{both}"
        varies = f"{b}.n > 1 AND {b}.xx <> 0 AND {b}.yy <> 0"
        return f"CASE WHEN {varies} THEN {b}.xy / (sqrt({b}.xx) * sqrt({b}.yy)) END"

    def lower(self, partial: Any) -> Any:
        n, _, _, xx, yy, xy = partial
        return xy / (sqrt(xx) * sqrt(yy)) if n > 1 and xx != 0 and yy != 0 else None


def covar_pop(x: str, y: str) -> Aggregate:
    """The population covariance."""
    return make(CovarPop(), x, y)


def covar_samp(x: str, y: str) -> Aggregate:
    """The sample covariance."""
    return make(CovarSamp(), x, y)


def covar(x: str, y: str) -> Aggregate:
    """The sample covariance, under a short name."""
    return make(Covar(), x, y)


def corr(x: str, y: str) -> Aggregate:
    """Pearson's correlation."""
    return make(Corr(), x, y)

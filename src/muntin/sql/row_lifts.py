"""The partial of one row: what a lift, which aggregates many rows, is worth for a single one.

A stream engine that groups rows outside SQL needs the partial of each row as a plain expression.
Every aggregate function of a lift is replaced by its value over one row:

    sum, min, max, avg, bool_…, bit_…   the value itself
    count                               1 where there is a value, else 0
    min_by, max_by                      the value where its order is not null
    var_pop, skewness, kurtosis, regr_s the value less itself: 0, but NaN for an infinity
    collect_list                        the list of the one value, or of none

A lift with any other aggregate (a sketch, a set) has no such form.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp, parse_one

from muntin.sql.expressions import AnsiSpark
from muntin.sql.spark_text import SparkWriter


def row_lift(lift: str) -> str | None:
    """SQL for the partial of one row, or None where there is none.

    >>> row_lift("sum(CAST(v0 AS DOUBLE))"), row_lift("count(v0)")
    ('CAST(`v0` AS DOUBLE)', 'if(NOT `v0` IS NULL, 1, 0)')
    >>> row_lift("max_by(v0, v1)"), row_lift("hll_sketch_agg(v0, 12)")
    ('if(NOT `v1` IS NULL, `v0`, NULL)', None)
    """
    tree = parse_one(lift, read=AnsiSpark)
    if any(_unknown(node) for node in tree.walk()):
        return None
    replaced = tree.transform(lambda node: _ONE_ROW.get(type(node), _same)(node))
    return SparkWriter().expression(replaced)


def _unknown(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) or (
        isinstance(node, exp.AggFunc) and type(node) not in _ONE_ROW
    )


def _same(node: exp.Expr) -> exp.Expr:
    return node


def _value(node: exp.Expr) -> exp.Expr:
    return _copy(node.this)


def _counted(node: exp.Expr) -> exp.Expr:
    return _if(_present(node.this), exp.Literal.number(1), exp.Literal.number(0))


def _counted_if(node: exp.Expr) -> exp.Expr:
    return _if(_copy(node.this), exp.Literal.number(1), exp.Literal.number(0))


def _by(node: exp.Expr) -> exp.Expr:
    return _if(_present(node.expression), _copy(node.this), exp.Null())


def _no_spread(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.Sub(this=_copy(node.this), expression=_copy(node.this)))


def _both(value: Callable[[exp.Expr, exp.Expr], exp.Expr]) -> Callable[[exp.Expr], exp.Expr]:
    """Over the rows where both arguments, y and x, are there."""

    def replaced(node: exp.Expr) -> exp.Expr:
        y, x = node.this, node.expression
        return _if(exp.and_(_present(y), _present(x)), value(y, x), exp.Null())

    return replaced


def _less_itself(of: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.Sub(this=_copy(of), expression=_copy(of)))


def _counted_both(node: exp.Expr) -> exp.Expr:
    both = exp.and_(_present(node.this), _present(node.expression))
    return _if(both, exp.Literal.number(1), exp.Literal.number(0))


def _listed(node: exp.Expr) -> exp.Expr:
    one = exp.Array(expressions=[_copy(node.this)])
    return exp.func("array_compact", one, dialect=AnsiSpark)


def _present(value: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=_copy(value), expression=exp.Null()))


def _if(condition: exp.Expr, yes: exp.Expr, no: exp.Expr) -> exp.Expr:
    return exp.If(this=condition, true=yes, false=no)


def _copy(node: exp.Expr) -> exp.Expr:
    return node.copy()


_ONE_ROW: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Sum: _value,
    exp.Min: _value,
    exp.Max: _value,
    exp.Avg: _value,
    exp.Count: _counted,
    exp.CountIf: _counted_if,
    exp.ArgMin: _by,
    exp.ArgMax: _by,
    exp.LogicalAnd: _value,
    exp.LogicalOr: _value,
    exp.BitwiseAndAgg: _value,
    exp.BitwiseOrAgg: _value,
    exp.BitwiseXorAgg: _value,
    exp.VariancePop: _no_spread,
    exp.Skewness: _no_spread,
    exp.Kurtosis: _no_spread,
    exp.RegrCount: _counted_both,
    exp.RegrAvgx: _both(lambda y, x: _copy(x)),
    exp.RegrAvgy: _both(lambda y, x: _copy(y)),
    exp.RegrSxx: _both(lambda y, x: _less_itself(x)),
    exp.RegrSyy: _both(lambda y, x: _less_itself(y)),
    exp.RegrSxy: _both(lambda y, x: exp.Mul(this=_less_itself(y), expression=_less_itself(x))),
    exp.ArrayAgg: _listed,
}
"""The value over one row, by the aggregate function."""

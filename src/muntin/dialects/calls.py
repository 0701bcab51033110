"""ASA's aggregates as ours: MIN(x), COUNT(*), STDEVP(x), and every function by its own name.

Arguments are T-SQL expressions and become Spark SQL, the language of all expressions in a query.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from muntin.aggregates import ALIASES, FUNCTIONS, Aggregate, aggregate_named
from muntin.errors import AggregateError, did_you_mean

_NAMES: dict[str, str] = {
    **{"STDEV": "stddev_samp", "STDEVP": "stddev_pop"},
    **{"VAR": "var_samp", "VARP": "var_pop", "VARIANCE_POP": "var_pop"},
    **{
        "LOGICAL_AND": "bool_and",
        "LOGICAL_OR": "bool_or",
        "APPROX_DISTINCT": "approx_count_distinct",
    },
    **{alias.upper(): name for alias, name in ALIASES.items()},
    **{"ARG_MIN": "min_by", "ARG_MAX": "max_by", "COUNT_BIG": "count"},
    **{"BITWISE_AND_AGG": "bit_and", "BITWISE_OR_AGG": "bit_or", "BITWISE_XOR_AGG": "bit_xor"},
}
"""Names of functions, as ASA or sqlglot has them, where ours differ."""

Fault = Callable[[exp.Expr, str, str], Exception]
"""Makes an error about a node: the problem and a hint."""


def call_name(node: exp.Expr) -> str | None:
    """The name of the function that a node calls, as we call it; None if it is no call."""
    if isinstance(node, exp.Anonymous):
        written = str(node.this).upper()
    elif isinstance(node, exp.Func) and not isinstance(node, (exp.Cast, exp.Case, exp.If)):
        written = node.sql_name().upper()
    else:
        return None
    return _NAMES.get(written, written.lower())


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is a call of one of our aggregates, filtered or not."""
    inner = node.this if isinstance(node, exp.Filter) else node
    return isinstance(inner, exp.AggFunc) or call_name(inner) in FUNCTIONS


def aggregate_of(node: exp.Expr, fault: Fault) -> Aggregate:
    """The aggregate that a call stands for."""
    if isinstance(node, exp.Filter):
        return aggregate_of(node.this, fault).filter(spark_sql(node.expression.this))
    name, arguments = call_name(node), list(_arguments(node))
    if arguments and isinstance(arguments[0], exp.Distinct):
        name, arguments = f"{name}_distinct", list(arguments[0].expressions)
    if name not in FUNCTIONS:
        raise fault(node, f"unknown aggregate {name!r}", did_you_mean(name, FUNCTIONS))
    if any(each.find(exp.AggFunc) for each in arguments):
        raise fault(node, "an aggregate of an aggregate has no meaning here", "take the inner away")
    try:
        return aggregate_named(name, *(spark_sql(each) for each in arguments))
    except AggregateError as error:
        raise fault(node, str(error), "see mt." + name) from None


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    given = [value for value in node.args.values() if isinstance(value, exp.Expr)]
    return [*given, *(v for value in node.args.values() if isinstance(value, list) for v in value)]


def spark_sql(node: exp.Expr) -> str:
    """A T-SQL expression as Spark SQL; a table's name before a column's is left out.

    A name written in brackets or quotes stays quoted, since it may be no plain word.
    """
    plain = node.copy()
    for column in plain.find_all(exp.Column):
        column.set("table", None)
        column.set("db", None)
    return plain.sql("spark", comments=False)

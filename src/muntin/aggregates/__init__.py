"""Aggregates: functions with their algebra, one family a file."""

from muntin.aggregates.algebra import (
    FUNCTIONS,
    Aggregate,
    Function,
    Partial,
    aggregate_named,
    function_named,
    parse_aggregate,
)
from muntin.aggregates.extremes import max, max_by, min, min_by
from muntin.aggregates.logic import bit_and, bit_or, bool_and, bool_or
from muntin.aggregates.moments import stddev_pop, stddev_samp, var_pop, var_samp
from muntin.aggregates.sums import avg, count, count_if, sum

__all__ = [
    "FUNCTIONS",
    "Aggregate",
    "Function",
    "Partial",
    "aggregate_named",
    "avg",
    "bit_and",
    "bit_or",
    "bool_and",
    "bool_or",
    "count",
    "count_if",
    "function_named",
    "max",
    "max_by",
    "min",
    "min_by",
    "parse_aggregate",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var_pop",
    "var_samp",
]

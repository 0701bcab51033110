"""Aggregates: functions with their algebra, one family a file."""

from muntin.aggregates.algebra import FUNCTIONS, Aggregate, Function, Partial
from muntin.aggregates.comoments import corr, covar, covar_pop, covar_samp
from muntin.aggregates.custom import custom
from muntin.aggregates.extremes import max, max_by, min, min_by
from muntin.aggregates.holistic import median, percentile
from muntin.aggregates.logic import bit_and, bit_or, bit_xor, bool_and, bool_or
from muntin.aggregates.moments import (
    kurtosis,
    skewness,
    std,
    stddev,
    stddev_pop,
    stddev_samp,
    var_pop,
    var_samp,
    variance,
)
from muntin.aggregates.products import product
from muntin.aggregates.ratio import ratio
from muntin.aggregates.sets import collect_set, count_distinct
from muntin.aggregates.sketches import approx_count_distinct, approx_percentile
from muntin.aggregates.sums import avg, count, count_if, mean, sum
from muntin.aggregates.text import ALIASES, aggregate_named, function_named, parse_aggregate

__all__ = [
    "ALIASES",
    "FUNCTIONS",
    "Aggregate",
    "Function",
    "Partial",
    "aggregate_named",
    "approx_count_distinct",
    "approx_percentile",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "collect_set",
    "corr",
    "count",
    "count_distinct",
    "count_if",
    "covar",
    "covar_pop",
    "covar_samp",
    "custom",
    "function_named",
    "kurtosis",
    "max",
    "max_by",
    "mean",
    "median",
    "min",
    "min_by",
    "parse_aggregate",
    "percentile",
    "product",
    "ratio",
    "skewness",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
]

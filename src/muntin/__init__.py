"""Muntin: many window aggregates over one stream, computed together, in one pass, on Spark."""

from muntin.aggregates import (
    Aggregate,
    avg,
    bit_and,
    bit_or,
    bool_and,
    bool_or,
    count,
    count_if,
    max,
    max_by,
    min,
    min_by,
    stddev_pop,
    stddev_samp,
    sum,
    var_pop,
    var_samp,
)
from muntin.api import Plan, aggregate, demo_flights, optimize, parse_sql, sql, verify
from muntin.errors import MuntinError
from muntin.query import Query, query
from muntin.windows import Window, hopping, tumbling

__version__ = "0.1.0"

__all__ = [
    "Aggregate",
    "MuntinError",
    "Plan",
    "Query",
    "Window",
    "aggregate",
    "avg",
    "bit_and",
    "bit_or",
    "bool_and",
    "bool_or",
    "count",
    "count_if",
    "demo_flights",
    "hopping",
    "max",
    "max_by",
    "min",
    "min_by",
    "optimize",
    "parse_sql",
    "query",
    "sql",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "tumbling",
    "var_pop",
    "var_samp",
    "verify",
]

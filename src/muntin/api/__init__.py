"""What users call, each name from where it belongs: these are the names of `muntin` itself.

`import muntin` loads them when one is first used. Spark's workers import the package, too, and need
none of them, which saves each of them a fifth of a second.
"""

from muntin.aggregates import (
    Aggregate,
    approx_count_distinct,
    approx_percentile,
    avg,
    bit_and,
    bit_or,
    bit_xor,
    bool_and,
    bool_or,
    collect_set,
    corr,
    count,
    count_distinct,
    count_if,
    covar,
    covar_pop,
    covar_samp,
    custom,
    kurtosis,
    max,
    max_by,
    mean,
    median,
    min,
    min_by,
    percentile,
    product,
    ratio,
    skewness,
    std,
    stddev,
    stddev_pop,
    stddev_samp,
    sum,
    var_pop,
    var_samp,
    variance,
)
from muntin.api import sinks
from muntin.api.aggregate import aggregate, explain
from muntin.api.as_of import as_of
from muntin.api.history import History
from muntin.api.nested import distinct, join
from muntin.api.optimize import optimize
from muntin.api.plan import Plan
from muntin.api.plans import Plans
from muntin.api.spark import demo_flights, progress
from muntin.api.sql import parse_sql, sql
from muntin.api.statistics import statistics
from muntin.api.stream_options import PlanOptions, StreamOptions
from muntin.api.verify import verify
from muntin.cost import Statistics
from muntin.errors import MuntinError
from muntin.model.data_windows import (
    DataWindow,
    count_window,
    hopping_by,
    landmark,
    punctuation,
    session,
    snapshot,
    threshold,
    user_window,
)
from muntin.model.frames import lifetime, trailing
from muntin.model.query import Query, query
from muntin.model.windows import Window, hopping, tumbling
from muntin.state.control import Control

__all__ = [
    "Aggregate",
    "Control",
    "DataWindow",
    "History",
    "MuntinError",
    "Plan",
    "PlanOptions",
    "Plans",
    "Query",
    "Statistics",
    "StreamOptions",
    "Window",
    "aggregate",
    "approx_count_distinct",
    "approx_percentile",
    "as_of",
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
    "count_window",
    "covar",
    "covar_pop",
    "covar_samp",
    "custom",
    "demo_flights",
    "distinct",
    "explain",
    "hopping",
    "hopping_by",
    "join",
    "kurtosis",
    "landmark",
    "lifetime",
    "max",
    "max_by",
    "mean",
    "median",
    "min",
    "min_by",
    "optimize",
    "parse_sql",
    "percentile",
    "product",
    "progress",
    "punctuation",
    "query",
    "ratio",
    "session",
    "sinks",
    "skewness",
    "snapshot",
    "sql",
    "statistics",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "threshold",
    "trailing",
    "tumbling",
    "user_window",
    "var_pop",
    "var_samp",
    "variance",
    "verify",
]

"""statistics: what planning should know of the data, from a sample or from its files."""

from __future__ import annotations

from typing import get_args

from muntin.api.engine import engine_of
from muntin.cost import Statistics
from muntin.errors import StrategyError, is_between, is_one_of, shown, unknown
from muntin.model.choices import Sampling
from muntin.model.query import Query

LEAST = 1e-9
"""Of all rows, what a sample must take at least."""


def statistics(
    data: object, query: Query, how: Sampling = "sample", fraction: float = 0.01, keys: float = 1
) -> Statistics:
    """Rows, distinct keys and events per second of the data that a query reads.

    "sample" runs one small job over this fraction of the rows; "metadata" runs none, and takes the
    rows and the times from the footers of local parquet files and the number of `keys` from you.
    Tables in process are counted as a whole. For `mt.optimize(query, statistics=...)`.
    """
    if not isinstance(query, Query):
        raise StrategyError(f"statistics takes a query from mt.query(...), not {shown(query)}")
    if not is_one_of(how, get_args(Sampling)):
        raise StrategyError(unknown("statistics", how, get_args(Sampling)))
    if not is_between(fraction, LEAST, 1):
        raise StrategyError(f"fraction {shown(fraction)} must be a number from {LEAST:g} to 1")
    Statistics(keys=keys)  # refuses a number of keys that cannot be
    return engine_of(data).statistics(data, query, how, fraction, keys)

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

    data      what mt.aggregate takes: a DataFrame of Spark or pandas, an Arrow table, a relation
    query     from mt.query: its keys, its time and its `where` decide what is counted
    how       "sample" runs one small job over a `fraction` of the rows; "metadata" runs none, and
              takes rows and times from the footers of local parquet files
    fraction  of the rows, from a billionth to 1
    keys      with "metadata", how many distinct keys there are: footers do not tell

    Tables in process are counted as a whole. A stream has no statistics and is refused. Returns a
    Statistics, for `mt.optimize(query, statistics=...)`; mt.aggregate and mt.explain take
    `statistics="sample"` and ask for themselves.

    >>> import muntin as mt, pyarrow as pa
    >>> from datetime import datetime
    >>> times = [datetime(2026, 1, 1, 0, 0, s) for s in range(11)]
    >>> rows = pa.table({"ts": times, "device": ["a", "b"] * 5 + ["a"]})
    >>> asked = mt.query("ts", [mt.tumbling("1 minute")], [mt.count()], keys="device")
    >>> found = mt.statistics(rows, asked)
    >>> found.rows, found.keys, round(found.rate, 1)
    (11, 2, 1.1)
    """
    if not isinstance(query, Query):
        raise StrategyError(f"statistics takes a query from mt.query(...), not {shown(query)}")
    if not is_one_of(how, get_args(Sampling)):
        raise StrategyError(unknown("statistics", how, get_args(Sampling)))
    if not is_between(fraction, LEAST, 1):
        raise StrategyError(f"fraction {shown(fraction)} must be a number from {LEAST:g} to 1")
    Statistics(keys=keys)  # refuses a number of keys that cannot be
    return engine_of(data).statistics(data, query, how, fraction, keys)

"""duckdb: a table in process, against DuckDB's own single window, DuckDB without us, and Polars.

Every side reads the same Arrow table and hands over a table:

    floor      ONE tumbling window of 60 s with the same aggregates, in DuckDB: whole numbers
               instead of time_bucket, which takes more than twice as long
    ours       mt.aggregate, told nothing, the whole call with planning and types
    rewritten  the text of plan.to_sql("duckdb"), planned before
    naive      one query a window, as a good user of DuckDB writes it: every record with every
               instance that it falls into (a small table of numbers, cross joined), grouped
    Polars     one group_by_dynamic a window, put together

Where a side would copy every record a thousand times, it reads a sample of the events and its time
is given as it is; no ratio to the whole is claimed beyond that sample.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from lab.benchmarks.workload import SETS, Events, query_of
from lab.registry import Options
from lab.report import new_table
from lab.timing import Times, machine, race
from muntin.api import aggregate, optimize
from muntin.dialects import render
from muntin.engines.duckdb import connect
from muntin.model.query import Query
from muntin.model.windows import Window

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TYPES = {"ts": "timestamp", "device": "int", "value": "double"}
SAMPLED = {"overlap": 50}
"""Sets whose naive side and whose Polars read one of so many events."""
KNOWN = ("mixed", "overlap")
MINUTE = 60_000_000
FLOOR = f"""
SELECT make_timestamptz(minute * {MINUTE}) AS start, device, low, high, mean FROM (
  SELECT epoch_us(ts) // {MINUTE} AS minute, device,
    min(value) AS low, max(value) AS high, avg(value) AS mean
  FROM events GROUP BY ALL)
"""


def run(options: Options, console: Console) -> None:
    """Time all sides on each set and print medians and ratios to the floor."""
    names = options.choose(KNOWN, "set")
    with console.status(f"events: {options.rows:,} rows"):
        whole = pq.read_table(Events(rows=options.rows).file(options.data))
    console.print(f"{options.rows:,} events, 100 keys, min/max/avg; {machine()}; {_versions()}")
    for name in names:
        console.print(_table(name, _measure(name, whole, options), options))


def _versions() -> str:
    import duckdb

    if find_spec("polars") is None:
        return f"DuckDB {duckdb.__version__}; Polars is not installed, so it does not run"
    import polars

    return f"DuckDB {duckdb.__version__}, Polars {polars.__version__}"


def _measure(name: str, whole: pa.Table, options: Options) -> dict[str, Times]:
    query = query_of(name)
    rate = Events().rate
    plan = optimize(query, options.strategy, rate=rate, distinct_keys=100, engine="sql")
    connection = connect()
    connection.register("events", whole)
    text = render(plan.as_sql(), query, "duckdb", "events", TYPES)
    sides: dict[str, Callable[[], int]] = {
        "floor": _runner(connection, FLOOR),
        "ours": lambda: _ours(whole, query, options),
        f"rewritten ({plan.strategy})": _runner(connection, text),
    }
    few, of = whole, ""
    if name in SAMPLED:
        rows = options.rows // SAMPLED[name]
        few, of = pq.read_table(Events(rows=rows, rate=rate).file(options.data)), ", sample"
        connection.register("sample", few)
        sides[f"ours{of}"] = lambda: _ours(few, query, options)
    sides[f"naive{of}"] = _runner(connection, naive(query, "sample" if of else "events"))
    if find_spec("polars") is not None:
        sides[f"Polars{of}"] = lambda: polars_rows(few, query).height
    return race(sides, options.repeat, name)


def _ours(table: pa.Table, query: Query, options: Options) -> int:
    asked = query.windows, query.aggregates
    found = aggregate(table, "ts", *asked, keys=["device"], strategy=options.strategy)
    return int(found.num_rows)


def _runner(connection: DuckDBPyConnection, text: str) -> Callable[[], int]:
    return lambda: int(connection.sql(text).to_arrow_table().num_rows)


def naive(query: Query, table: str) -> str:
    """One query a window, in a union."""
    parts = []
    for window in query.windows:
        start = f"(epoch_us(ts) // {window.slide} - i) * {window.slide}"
        parts.append(
            f"SELECT '{window.id}' AS window_id, {{'start': make_timestamptz({start}), "
            f"'end': make_timestamptz({start} + {window.range})}} AS \"window\", device, "
            "min(value) AS low, max(value) AS high, avg(value) AS mean\n"
            f"FROM {table} CROSS JOIN range({window.range // window.slide}) AS instances(i)\n"
            f"GROUP BY {start}, device"
        )
    return "\nUNION ALL\n".join(parts)


def polars_rows(table: pa.Table, query: Query) -> Any:
    """One group_by_dynamic a window, with its id, in one DataFrame of Polars."""
    import polars as pl

    events = pl.from_arrow(table)
    assert isinstance(events, pl.DataFrame)
    value = pl.col("value")

    def grouped(window: Window) -> pl.DataFrame:
        groups = events.group_by_dynamic(
            "ts",
            every=f"{window.slide}us",
            period=f"{window.range}us",
            offset=f"-{window.range - window.slide}us",  # begins before the first event too
            group_by="device",
        )
        found = groups.agg(low=value.min(), high=value.max(), mean=value.mean())
        return found.select(pl.lit(window.id).alias("window_id"), pl.all())

    return pl.concat([grouped(window) for window in query.windows])


def _table(name: str, times: dict[str, Times], options: Options) -> Table:
    windows = ", ".join(w.id for w in SETS[name])
    columns = ("<side", "rows out", "median", "all rounds", "to the floor", "to ours")
    table = new_table(f"{name}: {windows}", *columns)
    for side, each in times.items():
        sampled = side.endswith(", sample")
        ours = times["ours, sample" if sampled else "ours"]
        floor = "" if sampled else f"{each.median / times['floor'].median:.2f}×"
        row = (side, f"{each.rows:,}", f"{each.median:.3f} s", each.rounds, floor)
        table.add_row(*row, f"{each.median / ours.median:.1f}×")
    if name in SAMPLED:
        many = options.rows // SAMPLED[name]
        table.caption = f"sample: {many:,} events at the same rate, so a shorter time"
    return table

"""duckdb: the rewritten query against one naive query a window, both in DuckDB.

The naive side is what a good user of DuckDB writes: for each window, every record with every
instance that it falls into (a small table of numbers, cross joined), grouped; whole numbers instead
of time_bucket, which is three times slower. Both sides read the same parquet file and hand over an
Arrow table. Where a naive query would copy every record a thousand times, it reads a sample of the
events, its time is given as it is, and no ratio to the whole is claimed beyond that sample.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from lab.benchmarks.workload import SETS, Events, query_of
from lab.registry import Options
from lab.report import new_table
from lab.timing import Times, machine, race
from muntin.api import optimize
from muntin.dialects import render
from muntin.engines.duckdb import connect
from muntin.model.query import Query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TYPES = {"ts": "timestamp", "device": "int", "value": "double"}
SAMPLED = {"overlap": 50}
"""Sets whose naive side reads one of so many events."""
KNOWN = ("mixed", "overlap")


def run(options: Options, console: Console) -> None:
    """Time both sides on each set and print medians and ratios."""
    names = options.choose(KNOWN, "set")
    with console.status(f"events: {options.rows:,} rows"):
        whole = Events(rows=options.rows).file(options.data)
    console.print(f"{options.rows:,} events, 100 keys, min/max/avg; {machine()}")
    for name in names:
        console.print(_table(name, _measure(name, whole, options), options))


def _measure(name: str, whole: Path, options: Options) -> dict[str, Times]:
    query = query_of(name)
    rate = Events().rate
    plan = optimize(query, options.strategy, rate=rate, distinct_keys=100, engine="sql")
    connection = connect()
    _view(connection, "events", whole)
    ours = render(plan.as_sql(), query, "duckdb", "events", TYPES)
    sides = {f"rewritten ({plan.strategy})": _runner(connection, ours)}
    if name in SAMPLED:
        fewer = Events(rows=options.rows // SAMPLED[name], rate=rate).file(options.data)
        _view(connection, "sample", fewer)
        sample = render(plan.as_sql(), query, "duckdb", "sample", TYPES)
        sides["naive, sample"] = _runner(connection, naive(query, "sample"))
        sides["rewritten, sample"] = _runner(connection, sample)
    else:
        sides["naive"] = _runner(connection, naive(query, "events"))
    return race(sides, options.repeat, name)


def _view(connection: DuckDBPyConnection, name: str, path: Path) -> None:
    quoted = str(path).replace("'", "''")
    connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{quoted}')")


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


def _table(name: str, times: dict[str, Times], options: Options) -> Table:
    windows = ", ".join(w.id for w in SETS[name])
    columns = ("<side", "rows out", "median", "all rounds", "ratio")
    table = new_table(f"{name}: {windows}", *columns)
    sampled = "rewritten, sample" in times
    base = times["rewritten, sample"] if sampled else next(iter(times.values()))
    for side, each in times.items():
        comparable = side.endswith("sample") or not sampled
        ratio = f"{each.median / base.median:.1f}×" if comparable else ""
        table.add_row(side, f"{each.rows:,}", f"{each.median:.2f} s", each.rounds, ratio)
    if sampled:
        many = options.rows // SAMPLED[name]
        table.caption = f"sample: {many:,} events at the same rate, so a shorter time"
    return table

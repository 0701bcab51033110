"""Windows that the data decides, in process: DuckDB sorts and aggregates, NumPy finds the windows.

    DuckDB   the records under plain names, sorted by key, time and what decides among equal times
    NumPy    runs of records, and the pieces between their begins and ends
    DuckDB   each piece once, then every window from its pieces

So the aggregates are those of the SQL plans, and Spark is not needed.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.data_windows.array_windows import runs_of
from muntin.data_windows.elements import Runs
from muntin.data_windows.partitions import batch_of, groups
from muntin.dialects import Reading
from muntin.dialects.programs import select
from muntin.dialects.rendering import records_sql
from muntin.engines.duckdb.bound_query import check_encodable, run
from muntin.kernels.spans import Cuts
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window
from muntin.physical import PhysicalPlan

if TYPE_CHECKING:
    import duckdb


_NUMBERS = count(1)


def cutty_sql(
    plan: PhysicalPlan,
    read: Reading,
    relation: duckdb.DuckDBPyRelation,
    connection: duckdb.DuckDBPyConnection,
) -> str:
    """Find the windows now; the text merges their records, in `connection`."""
    inputs = list(read.query.window_inputs)
    table = _sort_records(read, relation, inputs)
    windows = {
        node.number: node.shape
        for node in plan.outputs
        if isinstance(node.shape, Window | DataWindow)
    }
    pieces, runs = _cut(table, read, windows, {text: f"u{i}" for i, text in enumerate(inputs)})
    ids = pa.table({"node": list(windows), "id": [check_encodable(w.id) for w in windows.values()]})
    names = [f"muntin_{what}_{next(_NUMBERS)}" for what in ("records", "runs", "ids")]
    for name, each in zip(names, (pieces, runs, ids), strict=True):
        connection.register(name, each)
    return _merging_sql(read, *names)


def _sort_records(read: Reading, relation: duckdb.DuckDBPyRelation, inputs: list[str]) -> pa.Table:
    extra = {f"o{i}": text for i, text in enumerate(read.query.order_by)}
    extra |= {f"u{i}": text for i, text in enumerate(inputs)}
    values = [f"v{i}" for i, _ in enumerate(read.columns.inputs)]
    order = ", ".join([*read.keys, "t", *extra, *values])
    text = f"SELECT * FROM (\n{records_sql(read, '  ', extra)}\n)\nORDER BY {order}"
    return run(relation, text).to_arrow_table().combine_chunks()


def _cut(
    table: pa.Table,
    read: Reading,
    windows: dict[int, Window | DataWindow],
    inputs: dict[str, str],
) -> tuple[pa.Table, pa.Table]:
    """The records with the number of their piece, and the windows with those of theirs."""
    found: dict[int, Runs] = {}
    if table.num_rows:
        batch = batch_of(table, groups(table, tuple(read.keys)), inputs)
        found = {i: runs_of(window, batch) for i, window in windows.items()}
    cuts = Cuts.of([(r.first, r.stop) for r in found.values()], table.num_rows)
    piece = np.searchsorted(cuts.at, np.arange(table.num_rows), side="right") - 1
    first = _concatenate([r.first for r in found.values()])
    columns = {
        "node": np.repeat(list(found), [len(r.first) for r in found.values()]).astype(np.int64),
        "start": _concatenate([r.start for r in found.values()]),
        "until": _concatenate([r.end for r in found.values()]),
        "low": np.searchsorted(cuts.at, first),
        "high": np.searchsorted(cuts.at, _concatenate([r.stop for r in found.values()])),
        "run": np.arange(len(first)),
    }
    runs = pa.table(columns)
    for key in read.keys:
        runs = runs.append_column(key, table.column(key).take(pa.array(first)))
    return table.append_column("piece", pa.array(piece)), runs


def _concatenate(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _merging_sql(read: Reading, records: str, runs: str, ids: str) -> str:
    writer, kind = read.writer, read.time_kind
    lifts = ", ".join(["piece", *(f"{p.lift} AS {p.name}" for p in read.columns.partials)])
    merges = ", ".join(["run", *(f"{p.merge} AS {p.name}" for p in read.columns.partials)])
    window = writer.bounds(writer.instant("start", kind), writer.instant("until", kind))
    keys = [f"runs.k{i} AS {writer.quoted(k)}" for i, k in enumerate(read.query.keys)]
    results = [f"{r.final} AS {writer.quoted(r.name)}" for r in read.columns.results]
    columns = [
        f"(SELECT any_value(id) FROM {ids} AS ids WHERE ids.node = runs.node) AS window_id",
        f"{window} AS {writer.quoted('window')}",
        *keys,
        *results,
    ]
    return (
        f"WITH pieces AS (SELECT {lifts} FROM {records} GROUP BY piece),\n"
        f"wanted AS (SELECT run, unnest(range(low, high)) AS piece FROM {runs}),\n"
        f"merged AS (SELECT {merges} FROM wanted JOIN pieces USING (piece) GROUP BY run)\n"
        f"{select(columns)}\nFROM {runs} AS runs JOIN merged USING (run)"
    )

"""Compare our rows with DuckDB's direct evaluation: every window, every key, every value.

Both results are stacked and grouped by window and keys, as on Spark. Floating-point values count as
equal within a relative tolerance, since the order of addition differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from muntin.dialects import Reading, render_direct
from muntin.engines.duckdb.bound_query import reading_of, run
from muntin.engines.duckdb.faults import translate_errors, whole_query
from muntin.engines.duckdb.tables import Source
from muntin.engines.verification import SAMPLE, TOLERANCE, Verification, describe
from muntin.model.query import Query

if TYPE_CHECKING:
    import duckdb


def compare(source: Source, query: Query, ours: str) -> Verification:
    """Run our SQL and the direct query over the same table, and compare."""
    with translate_errors(whole_query):
        return _compare(source.relation, reading_of(source, query), ours)


def _compare(relation: duckdb.DuckDBPyRelation, read: Reading, ours: str) -> Verification:
    result = run(relation, ours)
    types = dict(zip(result.columns, map(str, result.types), strict=True))
    grouped = _grouped(read, ours, render_direct(read))
    differs = " OR ".join(
        ["len(ours) != 1", "len(theirs) != 1", "ours IS NULL", "theirs IS NULL"]
        + [_differs(a.name, types[a.name], read) for a in read.query.aggregates]
    )
    marked = f"SELECT *, coalesce({differs}, true) AS differs FROM (\n{grouped}\n)"
    [found] = run(relation, f"SELECT count(*), count_if(differs) FROM ({marked})").fetchall()
    sample: list[dict[str, Any]] = []
    if found[1]:
        first = f'ORDER BY window_id, "window", keys LIMIT {SAMPLE}'
        some = run(relation, f"SELECT * FROM ({marked}) WHERE differs {first}")
        sample = some.to_arrow_table().to_pylist()
    words, judge = tuple(map(_in_words, sample)), "those of DuckDB's direct evaluation"
    return Verification(int(found[0]), int(found[1]), tuple(sample), words, judge)


def _in_words(row: dict[str, Any]) -> str:
    window = row["window"]
    where = f"{row['window_id']} [{window['start']}, {window['end']}) {row['keys']}"
    return f"{where}: {describe(row['ours'] or [], row['theirs'] or [], 'DuckDB')}"


def _grouped(read: Reading, ours: str, theirs: str) -> str:
    quoted = read.writer.quoted
    keys = _struct(read.query.keys, read)
    values = _struct([a.name for a in read.query.aggregates], read)

    def side(number: int, text: str) -> str:
        columns = f"window_id, {quoted('window')}, {keys} AS keys, {values} AS values_"
        return f"SELECT {columns}, {number} AS side FROM (\n{text}\n) AS side{number}"

    return (
        f"SELECT window_id, {quoted('window')}, keys, "
        "list(values_) FILTER (WHERE side = 1) AS ours, "
        "list(values_) FILTER (WHERE side = 0) AS theirs "
        f"FROM (\n{side(1, ours)}\nUNION ALL\n{side(0, theirs)}\n) AS both_sides GROUP BY ALL"
    )


def _struct(names: Sequence[str], read: Reading) -> str:
    writer = read.writer
    fields = [f"{writer.literal(name)}: {writer.quoted(name)}" for name in names]
    return "{" + ", ".join(fields) + "}" if fields else "{'all': true}"


def _differs(name: str, kind: str, read: Reading) -> str:
    ours, theirs = (f"{side}[1].{read.writer.quoted(name)}" for side in ("ours", "theirs"))
    if kind not in ("DOUBLE", "FLOAT"):
        return f"({ours} IS DISTINCT FROM {theirs})"
    scale = f"greatest(abs({ours}), abs({theirs}))"
    close = f"coalesce(abs({ours} - {theirs}) <= {scale} * {TOLERANCE}, false)"
    return f"({ours} IS DISTINCT FROM {theirs} AND NOT {close})"

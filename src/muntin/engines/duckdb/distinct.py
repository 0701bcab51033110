"""Distinct items of nested windows in process: one statement, and no copy of a row for a window.

    lasts    of each item and stretch between two ends the last appearance
    reigns   until when it counts: the next appearance of the same item
    fired    the ends between the two at which a window holds it
    held     and the windows that do

as on a batch of Spark (`engines.spark.operators.distinct`), by the same expressions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from muntin.dialects import Reading
from muntin.dialects.lists import DuckdbLists
from muntin.dialects.nested import FOREVER, NestedText
from muntin.dialects.programs import select, slice_start
from muntin.dialects.rendering import records_sql
from muntin.engines.duckdb.bound_query import reading_of, run
from muntin.engines.duckdb.faults import translate_errors, whole_query
from muntin.engines.duckdb.nested_results import give
from muntin.engines.duckdb.tables import open_source
from muntin.nesting.questions import DistinctItems
from muntin.physical.operators.distinct import BATCH_STEPS, describe, stretches

TEXT = NestedText(DuckdbLists())


@dataclass(frozen=True, slots=True)
class InProcessDistinct:
    """A question about distinct items, bound to a table in process."""

    data: object
    asked: DistinctItems

    def run(self) -> Any:
        """The rows, as the kind of table given."""
        query = self.asked.query
        source = open_source(self.data, query)
        with translate_errors(whole_query):
            found = run(source.relation, distinct_sql(self.asked, reading_of(source, query)))
            return give(found, source, query, source.frame)

    def explain(self) -> list[str]:
        """How rows become items of windows, and the groups."""
        query = self.asked.query
        source = open_source(self.data, query)
        with translate_errors(whole_query):  # what would be refused is refused here, too
            run(source.relation, distinct_sql(self.asked, reading_of(source, query)))
        return describe(self.asked, "in process", f"{BATCH_STEPS}; one statement of DuckDB's")


def distinct_sql(asked: DistinctItems, read: Reading) -> str:
    """The statement."""
    groups, keys = asked.groups, read.keys
    each = ", ".join(keys)
    stretch = slice_start(stretches(groups), "t", read.writer)
    after = f"lead(last, 1, {FOREVER}) OVER (PARTITION BY {each} ORDER BY last)"
    steps = {
        "records": records_sql(read),
        "lasts": f"SELECT {each}, {stretch} AS stretch, max(t) AS last\nFROM records\nGROUP BY ALL",
        "reigns": f"SELECT {each}, last, {after} AS until\nFROM lasts",
        "fired": f"SELECT {each}, last, unnest({TEXT.group_ends(groups, 'last', 'until')}) AS f\n"
        "FROM reigns",
        "ended": f"SELECT {each}, last, f.g AS g, f.stop AS stop\nFROM fired",
        "held": f"SELECT {each}, last, stop, {TEXT.holders(groups)} AS held\nFROM ended",
    }
    parts = [f"{name} AS (\n{sql}\n)" for name, sql in steps.items()]
    return f"WITH {', '.join(parts)}\n{_result(asked, read)}"


def _result(asked: DistinctItems, read: Reading) -> str:
    quoted = read.writer.quoted

    def at(sql: str) -> str:
        return read.writer.instant(sql, read.time_kind)

    names = zip(read.keys, asked.query.keys, strict=True)
    items = [f"{k} AS {quoted(name)}" for k, name in names]
    last = f"{at('last')} AS last_seen"
    if asked.layout == "long":
        bounds = read.writer.bounds(at("stop - w.reach"), at("stop"))
        columns = ["w.id AS window_id", f'{bounds} AS "window"', *items, last]
        return f"{select(columns)}\nFROM (SELECT *, unnest(held) AS w FROM held) AS each_window"
    columns = [
        "held[1].id AS window_id",
        f"{at('stop')} AS window_end",
        *items,
        last,
        f"{at('last + held[1].reach')} AS expires",
        "[w.id for w in held] AS windows",
    ]
    return f"{select(columns)}\nFROM held"

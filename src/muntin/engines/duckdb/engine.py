"""Run a plan in process: as one SQL text, or by arrays; give back the kind of table that was given.

The types of inputs are asked of DuckDB itself, so that results have Spark's types wherever DuckDB
has them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.cost import Statistics
from muntin.dialects import in_one_sql, own_sql, render_reading, writer_named
from muntin.dialects.rendering import records_sql
from muntin.engines.duckdb.arrays import evaluate_sql
from muntin.engines.duckdb.as_of import InProcessAsOf
from muntin.engines.duckdb.bound_query import find_stranger, reading_of, run
from muntin.engines.duckdb.distinct import InProcessDistinct
from muntin.engines.duckdb.faults import Compute, find_fault, translate_errors, whole_query
from muntin.engines.duckdb.join import InProcessJoin
from muntin.engines.duckdb.tables import Source, count_rows, open_source, read_for, sample_rows
from muntin.engines.duckdb.verify import compare
from muntin.engines.engine import CONTROL_ON_BATCH, HISTORY_ON_BATCH
from muntin.engines.verification import Verification
from muntin.errors import ColumnError, StrategyError
from muntin.model.as_of import AsOf
from muntin.model.choices import Engine
from muntin.model.queries import Member, SharingSet, check_types
from muntin.model.query import Query
from muntin.nesting.questions import DistinctItems, WindowJoin
from muntin.physical.operators.arrays import ARRAYS
from muntin.physical.question import Facts
from muntin.planner.choice import Choice

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Bound:
    """A query and the table it is asked of."""

    data: object
    query: Query

    @cached_property
    def source(self) -> Source:
        """The table as DuckDB reads it: the columns of the query."""
        return open_source(self.data, self.query)

    @property
    def refusals(self) -> dict[str, str]:
        """Why the data rules out an operator."""
        if self.source.connection is not None:
            return {}
        return {ARRAYS.name: "a relation stays lazy, and arrays are computed at once"}

    @property
    def stranger(self) -> str | None:
        """Why NumPy cannot merge values of these types, or None."""
        functions = [aggregate.function for aggregate in self.query.aggregates]
        if self.query.data_windows or any(f.holistic or f.in_python for f in functions):
            return None
        with translate_errors(whole_query):
            return find_stranger(self.source, self.query)


class InProcess:
    """DuckDB relations, Arrow tables and pandas DataFrames."""

    name: Engine = "duckdb"

    def bind(self, data: object, query: Query, **stream: object) -> Bound:
        """The table as DuckDB reads it; a batch ignores what only a stream is told."""
        if stream.get("control") is not None:
            raise StrategyError(CONTROL_ON_BATCH)
        if stream.get("history") is not None:
            raise StrategyError(HISTORY_ON_BATCH)
        return Bound(data, query)

    def facts(self, bound: Bound, operator: str | None) -> Facts:
        """A relation rules out arrays, and so do types that NumPy has no merge for."""
        refused = bound.refusals
        return Facts(None if refused else bound.stranger, refused, forced=operator)

    def run(self, choice: Choice, bound: Bound, layout: str, empty: str) -> Any:
        """The long result, as the kind of table given."""
        query = bound.query
        compute = partial(_compute, bound.source, choice)
        with translate_errors(partial(find_fault, [(compute, query)])):
            return bound.source.give(compute(query), query)

    def deliver(
        self,
        sets: Sequence[SharingSet],
        choices: Sequence[Choice],
        bounds: Sequence[Bound],
        shape: tuple[str, str],
        deliver: str,
    ) -> Any:
        """One result of all queries, or one of each."""
        queries = [member.query for each in sets for member in each.members]
        source = read_for(open_source(bounds[0].data, *queries), *queries)
        if deliver == "one":
            return _run_in_one(source, sets, choices, queries)
        return {
            member.id: _run_own(choice, each.query, source, member)
            for each, choice in zip(sets, choices, strict=True)
            for member in each.members
        }

    def compare(self, choice: Choice, bound: Bound, member: Member | None = None) -> Verification:
        """Our rows against DuckDB's direct evaluation."""
        query = bound.query
        if query.data_windows:
            raise StrategyError(
                f"DuckDB has no window of its own to compare {query.data_windows[0].id!r} "
                "with: verify sessions on Spark, others with muntin.data_windows.evaluate"
            )
        if member is None:
            return compare(bound.source, query, _sql(bound.source, choice, query))
        source = open_source(bound.data, query, member.query)
        return compare(source, member.query, _own_sql(source, choice, query, member))

    def bind_as_of(
        self, rows: object, asked: AsOf, events: object, operator: str, **stream: Any
    ) -> InProcessAsOf:
        """NumPy computes the windows; DuckDB reads the tables."""
        if operator == "range":
            raise StrategyError(
                "operator 'range' is Spark's own: in process leave it out, or write 'auto'"
            )
        return InProcessAsOf(rows, asked, events)

    def bind_distinct(self, data: object, asked: DistinctItems, **stream: Any) -> InProcessDistinct:
        """One statement of DuckDB's; a table ignores a stream's words."""
        return InProcessDistinct(data, asked)

    def bind_join(
        self, left: object, right: object, asked: WindowJoin, **stream: Any
    ) -> InProcessJoin:
        """DuckDB finds the pairs."""
        if stream.get("control") is not None:
            raise StrategyError(CONTROL_ON_BATCH)
        return InProcessJoin(left, right, asked)

    def glance(self, data: object, query: Query, assumed: Statistics) -> Statistics:
        """The number of rows, and what some of them tell; nothing of a relation, which is lazy."""
        rows = count_rows(data)
        if not rows:
            return assumed
        found: dict[str, float | None] = {"keys": None, "rate": None}
        with suppress(pa.ArrowException):  # of values that Arrow has no type for, or no code
            sample = sample_rows(data, (query.time, *query.keys))
            seconds = sample.seconds(query.time)
            found = {"keys": sample.count_keys(query.keys), "rate": seconds and rows / seconds}
        known = {name: value for name, value in found.items() if value is not None}
        unknown = tuple(name for name in found if name not in known)
        return replace(assumed, rows=rows, **known, origin="from some rows", unknown=unknown)

    def statistics(
        self, data: object, query: Query, how: str, fraction: float, keys: float
    ) -> Statistics:
        """Rows, distinct keys and rate: all rows are counted, since that takes DuckDB no time."""
        source = open_source(data, query)
        with translate_errors(whole_query):
            read = reading_of(source, query)
            distinct = f"count(DISTINCT ({', '.join(read.keys)},))" if read.keys else "1"
            columns = f"count(*), {distinct}, max(t) - min(t)"
            text = f"SELECT {columns} FROM (\n{records_sql(read)}\n) AS records"
            [(rows, found, span)] = run(source.relation, text).fetchall()
        if not rows:
            raise ColumnError("the table has no rows: give rows=, keys= and rate=")
        return Statistics(rows, max(found, 1), rows / max(span / 1e6, 1e-6), "from all rows")


ENGINE = InProcess()


def _run_in_one(
    source: Source,
    sets: Sequence[SharingSet],
    choices: Sequence[Choice],
    queries: Sequence[Query],
) -> Any:
    """One result for several queries, from the plan of each set's combined query."""
    pairs = [(choice, each.query) for choice, each in zip(choices, sets, strict=True)]
    attempts: list[tuple[Compute, Query]] = [(partial(_compute, source, c), q) for c, q in pairs]
    with translate_errors(partial(find_fault, attempts)):
        texts = [_sql(source, choice, query) for choice, query in pairs]
        found = [run(source.relation, text) for text in texts]
        check_types(sets, [dict(zip(r.columns, map(str, r.types), strict=True)) for r in found])
        together = in_one_sql(texts, sets, writer_named("duckdb"))
        return source.give(run(source.relation, together), *queries)


def _run_own(choice: Choice, combined: Query, source: Source, member: Member) -> Any:
    """The result of one query of a set."""
    with translate_errors(partial(find_fault, [(partial(_compute, source, choice), combined)])):
        text = _own_sql(source, choice, combined, member)
        return source.give(run(source.relation, text), member.query)


def _compute(source: Source, choice: Choice, query: Query) -> duckdb.DuckDBPyRelation:
    own = read_for(source, query)
    return run(own.relation, _sql(own, choice, query))


def _own_sql(source: Source, choice: Choice, combined: Query, member: Member) -> str:
    """SQL for the result of one query of a set, over this table."""
    return own_sql(_sql(source, choice, combined), member, writer_named("duckdb"))


def _sql(source: Source, choice: Choice, query: Query) -> str:
    """The text that gives the rows: the whole plan, or what is left when arrays have run."""
    read = reading_of(source, query)
    if query.data_windows:
        from muntin.engines.duckdb.data_windows import cutty_sql

        assert source.connection is not None, "read for data windows"
        return cutty_sql(choice.physical, read, source.relation, source.connection)
    if choice.operator is ARRAYS:
        return evaluate_sql(choice.physical, read, source)
    return render_reading(choice.physical, read)

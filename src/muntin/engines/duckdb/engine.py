"""Run a plan in DuckDB: render it for the input's types, run the text, return the same kind.

The types of inputs are asked of DuckDB itself, so that results have Spark's types wherever DuckDB
has them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from muntin.cost import Statistics
from muntin.dialects import in_one_sql, own_sql, render_reading, writer_named
from muntin.engines.duckdb.blame import blamed
from muntin.engines.duckdb.bound_query import reading_of, run
from muntin.engines.duckdb.faults import told
from muntin.engines.duckdb.statistics import counted
from muntin.engines.duckdb.tables import Source, connect, opened
from muntin.engines.duckdb.verify import Verification, compare
from muntin.errors import StrategyError
from muntin.model.choices import Engine
from muntin.model.delivery import check_types
from muntin.model.queries import Member, SharingSet
from muntin.model.query import Query
from muntin.physical import PhysicalPlan
from muntin.physical.question import Facts
from muntin.planner.choice import Choice

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Bound:
    """A query and the table it is asked of."""

    data: Any
    query: Query

    @cached_property
    def source(self) -> Source:
        """The table as DuckDB reads it: the columns of the query."""
        return opened(self.data, self.query)

    def reading(self, *queries: Query) -> Source:
        """The same table with the columns of these queries."""
        return opened(self.data, *queries)


class InProcess:
    """DuckDB relations, Arrow tables and pandas DataFrames."""

    name: Engine = "sql"

    def bind(self, data: Any, query: Query, **stream: Any) -> Bound:
        """The table as DuckDB reads it; a batch ignores what only a stream is told."""
        if stream.get("control") is not None:
            raise StrategyError(
                "control needs a streaming DataFrame: a batch has no time at which windows could "
                "come or go; leave it out"
            )
        return Bound(data, query)

    def facts(self, bound: Bound, operator: str | None) -> Facts:
        """Nothing is ruled out."""
        return Facts(forced=operator)

    def run(self, choice: Choice, bound: Bound, layout: str, empty: str) -> Any:
        """The long result, as the kind of table given."""
        source, query = bound.source, bound.query
        computed = partial(_computed, source, choice.physical)
        with told(partial(blamed, [(computed, query)])):
            return source.give(computed(query), query)

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
        source = bounds[0].reading(*queries)
        plans = [choice.physical for choice in choices]
        if deliver == "one":
            return _in_one(source, plans, sets, queries)
        return {
            member.id: _own(bound.reading(bound.query), choice.physical, bound.query, member)
            for each, choice, bound in zip(sets, choices, bounds, strict=True)
            for member in each.members
        }

    def compare(self, choice: Choice, bound: Bound, member: Member | None = None) -> Verification:
        """Our rows against DuckDB's direct evaluation."""
        if bound.query.data_windows:
            raise StrategyError(
                f"DuckDB has no window of its own to compare {bound.query.data_windows[0].id!r} "
                "with: verify sessions on Spark, others with muntin.data_windows.evaluate"
            )
        if member is None:
            return compare(
                bound.source, bound.query, text_of(bound.source, choice.physical, bound.query)
            )
        source = bound.reading(bound.query, member.query)
        return compare(source, member.query, own_text(source, choice.physical, bound.query, member))

    def statistics(
        self, data: Any, query: Query, how: str, fraction: float, keys: float
    ) -> Statistics:
        """All rows are counted."""
        return counted(data, query)


ENGINE = InProcess()


def _in_one(
    source: Source,
    plans: Sequence[PhysicalPlan],
    sets: Sequence[SharingSet],
    queries: Sequence[Query],
) -> Any:
    """One result for several queries, from the plan of each set's combined query."""
    each_alone = [
        (partial(_computed, source, plan), each.query)
        for plan, each in zip(plans, sets, strict=True)
    ]
    with told(partial(blamed, each_alone)):
        found = [computed(query) for computed, query in each_alone]
        check_types(sets, [dict(zip(r.columns, map(str, r.types), strict=True)) for r in found])
        texts = [text_of(source, p, each.query) for p, each in zip(plans, sets, strict=True)]
        together = in_one_sql(texts, sets, writer_named("duckdb"))
        return source.give(run(source.relation, together), *queries)


def _own(source: Source, plan: PhysicalPlan, combined: Query, member: Member) -> Any:
    """The result of one query of a set."""
    with told(partial(blamed, [(partial(_computed, source, plan), combined)])):
        text = own_text(source, plan, combined, member)
        return source.give(run(source.relation, text), member.query)


def own_text(source: Source, tree: PhysicalPlan, combined: Query, member: Member) -> str:
    """SQL for the result of one query of a set, over this table."""
    return own_sql(text_of(source, tree, combined), member, writer_named("duckdb"))


def _computed(source: Source, plan: PhysicalPlan, query: Query) -> duckdb.DuckDBPyRelation:
    if not query.data_windows:
        return run(source.relation, text_of(source, plan, query))
    from muntin.engines.duckdb.data_windows import by_cutty

    return by_cutty(plan, reading_of(source, query), source.relation, connect())


def text_of(source: Source, plan: PhysicalPlan, query: Query) -> str:
    return render_reading(plan, reading_of(source, query))

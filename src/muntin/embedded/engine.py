"""Run a plan in DuckDB: render it for the input's types, run the text, return the same kind.

The types of inputs are asked of DuckDB itself, so that results have Spark's types wherever DuckDB
has them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from muntin.delivery import check_types
from muntin.embedded.blame import blamed
from muntin.embedded.faults import told
from muntin.embedded.reading import reading_of, run
from muntin.embedded.tables import Source, connect, opened
from muntin.plan import SharingPlan
from muntin.queries import Member, SharingSet
from muntin.query import Query
from muntin.sql import in_one_sql, own_sql, render_reading, writer_named

if TYPE_CHECKING:
    import duckdb


def apply(plan: SharingPlan, query: Query, data: Any) -> Any:
    """The long result of the query, computed as the plan says, as the kind of table given."""
    source = opened(data, query)
    computed = partial(_computed, source, plan)
    with told(partial(blamed, [(computed, query)])):
        return source.give(computed(query), query)


def apply_all(trees: Sequence[SharingPlan], sets: Sequence[SharingSet], data: Any) -> Any:
    """One result for several queries, from the plan of each set's combined query."""
    queries = [member.query for each in sets for member in each.members]
    source = opened(data, *queries)
    each_alone = [
        (partial(_computed, source, tree), each.query)
        for tree, each in zip(trees, sets, strict=True)
    ]
    with told(partial(blamed, each_alone)):
        found = [computed(query) for computed, query in each_alone]
        check_types(sets, [dict(zip(r.columns, map(str, r.types), strict=True)) for r in found])
        texts = [_text(source, tree, each.query) for tree, each in zip(trees, sets, strict=True)]
        together = in_one_sql(texts, sets, writer_named("duckdb"))
        return source.give(run(source.relation, together), *queries)


def apply_own(tree: SharingPlan, combined: Query, member: Member, data: Any) -> Any:
    """The result of one query of a set."""
    source = opened(data, combined)
    with told(partial(blamed, [(partial(_computed, source, tree), combined)])):
        text = own_text(source, tree, combined, member)
        return source.give(run(source.relation, text), member.query)


def own_text(source: Source, tree: SharingPlan, combined: Query, member: Member) -> str:
    """SQL for the result of one query of a set, over this table."""
    return own_sql(_text(source, tree, combined), member, writer_named("duckdb"))


def _computed(source: Source, plan: SharingPlan, query: Query) -> duckdb.DuckDBPyRelation:
    if not query.data_windows:
        return run(source.relation, _text(source, plan, query))
    from muntin.embedded.data_windows import by_cutty

    return by_cutty(plan, reading_of(source, query), source.relation, connect())


def _text(source: Source, plan: SharingPlan, query: Query) -> str:
    return render_reading(plan, reading_of(source, query))

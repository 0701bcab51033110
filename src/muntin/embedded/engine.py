"""Run a plan in DuckDB: render it for the input's types, run the text, return the same kind.

The types of inputs are asked of DuckDB itself, so that results have Spark's types wherever DuckDB
has them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from muntin.aggregates.columns import Input, distinct_inputs
from muntin.delivery import check_types
from muntin.embedded.tables import NAME, as_given, as_relation
from muntin.embedded.types import spark_type
from muntin.errors import ColumnError, MuntinError, did_you_mean
from muntin.plan import SharingPlan
from muntin.queries import Member, SharingSet
from muntin.query import Query
from muntin.sql import Reading, in_one_sql, own_sql, reading, render_reading, writer_named
from muntin.sql.rendering import records_sql

if TYPE_CHECKING:
    import duckdb


def connect() -> duckdb.DuckDBPyConnection:
    """A fresh DuckDB in memory, in UTC."""
    try:
        import duckdb
    except ImportError:
        raise MuntinError(
            "DuckDB is not installed: install muntin with its extra, muntin[duckdb]"
        ) from None
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def apply(plan: SharingPlan, query: Query, data: Any) -> Any:
    """The long result of the query, computed as the plan says, as the kind of table given."""
    relation = as_relation(data, connect())
    if query.data_windows:
        from muntin.embedded.data_windows import by_cutty

        read = reading_of(relation, query)
        return as_given(by_cutty(plan, read, relation, connect()), data)
    return as_given(run(relation, _text(relation, plan, query)), data)


def apply_all(trees: Sequence[SharingPlan], sets: Sequence[SharingSet], data: Any) -> Any:
    """One result for several queries, from the plan of each set's combined query."""
    relation = as_relation(data, connect())
    texts = [_text(relation, tree, s.query) for tree, s in zip(trees, sets, strict=True)]
    found = [run(relation, text) for text in texts]
    check_types(sets, [dict(zip(r.columns, map(str, r.types), strict=True)) for r in found])
    return as_given(run(relation, in_one_sql(texts, sets, writer_named("duckdb"))), data)


def apply_own(tree: SharingPlan, combined: Query, member: Member, data: Any) -> Any:
    """The result of one query of a set."""
    relation = as_relation(data, connect())
    return as_given(run(relation, own_text(relation, tree, combined, member)), data)


def own_text(
    relation: duckdb.DuckDBPyRelation, tree: SharingPlan, combined: Query, member: Member
) -> str:
    """SQL for the result of one query of a set, over this relation."""
    return own_sql(_text(relation, tree, combined), member, writer_named("duckdb"))


def _text(relation: duckdb.DuckDBPyRelation, plan: SharingPlan, query: Query) -> str:
    return render_reading(plan, reading_of(relation, query))


def reading_of(relation: duckdb.DuckDBPyRelation, query: Query) -> Reading:
    """The query over this relation, with every type that DuckDB knows."""
    kinds = _columns(relation, query)
    guessed = reading(query, "duckdb", NAME, kinds)
    typed = run(relation, records_sql(guessed))
    found = dict(zip(typed.columns, map(str, typed.types), strict=True))
    inputs = distinct_inputs(query.aggregates)
    types: dict[Input, str | None] = {
        each: spark_type(found[f"v{i}"]) for i, each in enumerate(inputs)
    }
    return reading(query, "duckdb", NAME, kinds, types.__getitem__)


def _columns(relation: duckdb.DuckDBPyRelation, query: Query) -> dict[str, str | None]:
    """The types of the columns; names that the query spells in another case are added."""
    names = [str(name) for name in relation.columns]
    kinds = dict(zip(names, (spark_type(str(t)) for t in relation.types), strict=True))
    same = {name.lower(): name for name in names}
    for name, what in [(query.time, "time"), *((key, "key") for key in query.keys)]:
        if name.lower() not in same:
            raise ColumnError(f"{what} {name!r} is not a column: {did_you_mean(name, names)}")
        kinds.setdefault(name, kinds[same[name.lower()]])
    if kinds[query.time] not in ("timestamp", "timestamp_ntz", "timestamp_ns", "date"):
        found = relation.types[names.index(same[query.time.lower()])]
        raise ColumnError(
            f"time column {query.time!r} is {found}, not a timestamp: convert it first, for "
            f"instance with to_timestamp({query.time}) for Unix seconds"
        )
    return kinds


def run(relation: duckdb.DuckDBPyRelation, text: str) -> duckdb.DuckDBPyRelation:
    """Run our SQL over a relation; what DuckDB cannot bind is the query's fault."""
    import duckdb

    try:
        result = relation.query(NAME, text)
    except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException) as error:
        line = str(error).strip().splitlines()[0]
        raise ColumnError(f"the query cannot be computed: {line}") from None
    assert result is not None, "a SELECT gives a relation"
    return result

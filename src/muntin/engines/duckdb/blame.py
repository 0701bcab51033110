"""What is to blame when DuckDB fails over a query: its condition, or one of its aggregates.

Each is computed by itself, which is done only after a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.aggregates import Aggregate, count
from muntin.aggregates.columns import inputs_of
from muntin.engines.duckdb.faults import first_line, whole_query
from muntin.engines.duckdb.parts import Part
from muntin.errors import ColumnError, MuntinError
from muntin.model.query import Query

if TYPE_CHECKING:
    import duckdb

Compute = Callable[[Query], "duckdb.DuckDBPyRelation"]
"""How a query is computed, also with other aggregates."""


def blamed(attempts: Sequence[tuple[Compute, Query]], error: Exception) -> MuntinError:
    """The error that names what fails, of queries and how each is computed."""
    faults = (found for computed, query in attempts for found in _faults(computed, query))
    return next(faults, whole_query(error))


def _faults(computed: Compute, query: Query) -> Iterator[MuntinError]:
    alone = _failure(computed, replace(query, aggregates=(count(),)))
    if alone is not None:
        if query.where is not None:
            yield Part("where", query.where).fails(first_line(alone))
        return
    for aggregate in query.aggregates:
        failure = _failure(computed, replace(query, aggregates=(aggregate,)))
        if failure is not None:
            inputs = _inputs_alone(computed, query, aggregate)
            reason = first_line(inputs or failure)
            if inputs is None and _too_large(failure):
                reason = f"a value does not fit its type: cast what it is given ({reason})"
            yield ColumnError(f"{aggregate.name} cannot be computed: {reason}")


def _inputs_alone(computed: Compute, query: Query, aggregate: Aggregate) -> Exception | None:
    """How the inputs of an aggregate fail, where they do without being aggregated."""
    counts = []
    for number, each in enumerate(inputs_of(aggregate)):
        counted = count(each.argument).alias(f"input {number}")
        counts.append(counted.filter(each.predicate) if each.predicate else counted)
    return _failure(computed, replace(query, aggregates=tuple(counts))) if counts else None


def _failure(computed: Compute, query: Query) -> Exception | None:
    import duckdb

    try:
        computed(query).to_arrow_table()
    except duckdb.Error as error:
        return error
    return None


def _too_large(error: Exception) -> bool:
    import duckdb

    return isinstance(error, duckdb.OutOfRangeException | duckdb.ConversionException)

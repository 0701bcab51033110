"""DuckDB's refusals and failures as sentences of ours: no exception of its own is passed on.

When DuckDB fails over a query, its parts are tried one by one, so that the sentence names the part:
whether it can be read at all (`bound_query`), then whether it can be computed (`find_fault`): the
condition, or one of the aggregates, each computed by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.aggregates import Aggregate, count
from muntin.aggregates.columns import inputs_of
from muntin.engines.duckdb.parts import Part
from muntin.errors import ColumnError, MuntinError
from muntin.model.query import Query

if TYPE_CHECKING:
    import duckdb

Compute = Callable[[Query], "duckdb.DuckDBPyRelation"]
"""How a query is computed, also with other aggregates."""


@contextmanager
def translate_errors(blame: Callable[[Exception], MuntinError]) -> Iterator[None]:
    """Whatever DuckDB raises inside the block becomes an error of ours."""
    import duckdb

    found: MuntinError | None = None
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        found = blame(error)
    if found is not None:
        raise found  # outside, since DuckDB's own error would keep the tables alive with it


def first_line(error: Exception) -> str:
    """What DuckDB says, without where in our SQL it stands."""
    return str(error).strip().splitlines()[0]


def whole_query(error: Exception) -> MuntinError:
    """Where no part is to blame by itself."""
    return ColumnError(f"the query cannot be computed: {first_line(error)}")


def find_fault(attempts: Sequence[tuple[Compute, Query]], error: Exception) -> MuntinError:
    """The error that names what fails, of queries and how each is computed."""
    faults = (found for compute, query in attempts for found in _faults(compute, query))
    return next(faults, whole_query(error))


def _faults(compute: Compute, query: Query) -> Iterator[MuntinError]:
    alone = _failure(compute, replace(query, aggregates=(count(),)))
    if alone is not None:
        if query.where is not None:
            yield Part("where", query.where).fails(first_line(alone))
        return
    for aggregate in query.aggregates:
        failure = _failure(compute, replace(query, aggregates=(aggregate,)))
        if failure is not None:
            inputs = _inputs_alone(compute, query, aggregate)
            reason = first_line(inputs or failure)
            if inputs is None and _too_large(failure):
                reason = f"a value does not fit its type: cast what it is given ({reason})"
            yield ColumnError(f"{aggregate.name} cannot be computed: {reason}")


def _inputs_alone(compute: Compute, query: Query, aggregate: Aggregate) -> Exception | None:
    """How the inputs of an aggregate fail, where they do without being aggregated."""
    counts = []
    for number, each in enumerate(inputs_of(aggregate)):
        counted = count(each.argument).alias(f"input {number}")
        counts.append(counted.filter(each.predicate) if each.predicate else counted)
    return _failure(compute, replace(query, aggregates=tuple(counts))) if counts else None


def _failure(compute: Compute, query: Query) -> Exception | None:
    import duckdb

    try:
        compute(query).to_arrow_table()
    except duckdb.Error as error:
        return error
    return None


def _too_large(error: Exception) -> bool:
    import duckdb

    return isinstance(error, duckdb.OutOfRangeException | duckdb.ConversionException)

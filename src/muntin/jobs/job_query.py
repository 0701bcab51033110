"""What a job asks: its windows and aggregates as the rest of the library knows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from muntin.aggregates import parse_aggregate
from muntin.errors import MuntinError, QueryError, did_you_mean, shown
from muntin.jobs.job import Job
from muntin.model.as_of import AsOf, as_of_query
from muntin.model.choices import Closed
from muntin.model.query import Query, query
from muntin.model.window_text import parse_any_window, parse_trailing
from muntin.planner.strategies import STRATEGIES

T = TypeVar("T")

LONGEST_TEXT = 10_000
"""Letters of a window or an aggregate."""


def parse_query(job: Job) -> Query:
    """What a job asks; an error begins with the key that it comes from."""
    asked = job.query
    assert asked is not None, "it asks for windows of the clock"
    if asked.strategy != "auto" and asked.strategy not in STRATEGIES:
        raise QueryError(
            f"query.strategy is {shown(asked.strategy)}: "
            f"{did_you_mean(asked.strategy[:80], ['auto', *STRATEGIES])}"
        )
    windows = _parse_each("query.windows", asked.windows, parse_any_window)
    aggregates = _parse_each("query.aggregates", asked.aggregates, parse_aggregate)
    try:
        parts = (asked.time, windows, aggregates, asked.keys, asked.where)
        return query(*parts, order_by=asked.order_by)
    except MuntinError as error:
        raise QueryError(f"query is not valid: {error}") from None


def parse_as_of(job: Job) -> AsOf:
    """What a job asks as of each row."""
    asked = job.as_of
    assert asked is not None, "it asks for trailing windows"
    windows = _parse_each("as_of.windows", asked.windows, parse_trailing)
    aggregates = _parse_each("as_of.aggregates", asked.aggregates, parse_aggregate)
    if asked.events_time is not None and job.events is None:
        raise QueryError("as_of.events_time is given, but there is no section [events]")
    try:
        return as_of_query(
            asked.time,
            windows,
            aggregates,
            asked.keys,
            asked.where,
            cast(Closed, asked.closed),
            asked.events_time,
            job.events is not None,
            asked.order_by,
        )
    except MuntinError as error:
        raise QueryError(f"as_of is not valid: {error}") from None


def _parse_each(what: str, texts: tuple[str, ...], read: Callable[[str], T]) -> list[T]:
    found = []
    for place, text in enumerate(texts, start=1):
        if len(text) > LONGEST_TEXT:
            raise QueryError(
                f"{what} has, as entry {place}, a text of {len(text):,} letters: write at "
                f"most {LONGEST_TEXT:,}"
            )
        try:
            found.append(read(text))
        except (MuntinError, ValueError, ArithmeticError, RecursionError) as error:
            reason = str(error) if isinstance(error, MuntinError) else "it cannot be read"
            raise QueryError(f"{what} has, as entry {place}, {shown(text)}: {reason}") from None
    return found

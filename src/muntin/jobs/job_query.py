"""The query of a job: its windows and aggregates as the rest of the library knows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from muntin.aggregates import parse_aggregate
from muntin.errors import MuntinError, QueryError, did_you_mean, shown
from muntin.jobs.job import Job
from muntin.jobs.window_text import parse_any_window
from muntin.model.query import Query, query
from muntin.planner.strategies import STRATEGIES

T = TypeVar("T")

LONGEST_TEXT = 10_000
"""Letters of a window or an aggregate."""


def parse_query(job: Job) -> Query:
    """What a job asks; an error begins with the key that it comes from."""
    asked = job.query
    if asked.strategy != "auto" and asked.strategy not in STRATEGIES:
        raise QueryError(
            f"query.strategy is {shown(asked.strategy)}: "
            f"{did_you_mean(asked.strategy[:80], ['auto', *STRATEGIES])}"
        )
    windows = _parse_each("windows", asked.windows, parse_any_window)
    aggregates = _parse_each("aggregates", asked.aggregates, parse_aggregate)
    try:
        parts = (asked.time, windows, aggregates, asked.keys, asked.where)
        return query(*parts, order_by=asked.order_by)
    except MuntinError as error:
        raise QueryError(f"query cannot be asked: {error}") from None


def _parse_each(what: str, texts: tuple[str, ...], read: Callable[[str], T]) -> list[T]:
    found = []
    for place, text in enumerate(texts, start=1):
        if len(text) > LONGEST_TEXT:
            raise QueryError(
                f"query.{what} has, as entry {place}, a text of {len(text):,} letters: write at "
                f"most {LONGEST_TEXT:,}"
            )
        try:
            found.append(read(text))
        except (MuntinError, ValueError, ArithmeticError, RecursionError) as error:
            reason = str(error) if isinstance(error, MuntinError) else "it cannot be read"
            raise QueryError(
                f"query.{what} has, as entry {place}, {shown(text)}: {reason}"
            ) from None
    return found

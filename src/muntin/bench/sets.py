"""The window sets of the benchmarks, each one kind of sharing."""

from __future__ import annotations

from muntin.aggregates import Aggregate, avg, max, min
from muntin.query import Query, query
from muntin.windows import Window

SECOND = 1_000_000


def _windows(*pairs: tuple[int, int]) -> tuple[Window, ...]:
    return tuple(Window(length * SECOND, slide * SECOND) for length, slide in pairs)


SETS: dict[str, tuple[Window, ...]] = {
    "mixed": _windows((60, 60), (120, 60), (300, 60), (600, 60), (3600, 300)),
    "overlap": _windows((300, 60), (900, 60), (3600, 60), (21600, 60), (86400, 60)),
}
"""mixed: what dashboards ask for. overlap: every record in up to 1,440 instances of one window."""

AGGREGATES: tuple[Aggregate, ...] = (
    min("value").alias("low"),
    max("value").alias("high"),
    avg("value").alias("mean"),
)


def query_of(name: str) -> Query:
    """The benchmark query over a set of windows.

    >>> [w.id for w in query_of("mixed").windows][-1]
    '1 hour/5 minutes'
    """
    return query("ts", SETS[name], AGGREGATES, keys=["device"])

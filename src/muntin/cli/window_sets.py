"""The window sets of the benchmarks, each one kind of sharing."""

from __future__ import annotations

from random import Random

from muntin.aggregates import Aggregate, avg, max, min
from muntin.model.query import Query, query
from muntin.model.windows import Window

SECOND = 1_000_000


def _windows(*pairs: tuple[int, int]) -> tuple[Window, ...]:
    return tuple(Window(length * SECOND, slide * SECOND) for length, slide in pairs)


def _hundred() -> tuple[Window, ...]:
    """A hundred different windows: slides of whole minutes, up to 24 slides long."""
    random = Random(100)
    shapes: dict[tuple[int, int], None] = {}
    while len(shapes) < 100:
        slide = 60 * random.choice((1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60))
        shapes[(slide * random.randint(1, 24), slide)] = None
    return _windows(*shapes)


SETS: dict[str, tuple[Window, ...]] = {
    "mixed": _windows((60, 60), (120, 60), (300, 60), (600, 60), (3600, 300)),
    "overlap": _windows((300, 60), (900, 60), (3600, 60), (21600, 60), (86400, 60)),
    "hundred": _hundred(),
    "uneven": (
        Window("70 seconds", "60 seconds"),
        Window("5 minutes", "2 minutes", "30 seconds"),
        Window("1 hour", "7 minutes"),
        Window("90 minutes", "10 minutes", "3 minutes"),
        Window("6 hours", "25 minutes", "-10 minutes"),
    ),
    "single": _windows((60, 60)),
}
"""What each set is for:

mixed     what dashboards ask for
overlap   every record in up to 1,440 instances of one window
hundred   many windows at once
uneven    ranges that are no multiple of the slide, and offsets
single    one tumbling window, where there is nothing to share
"""

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

"""Random tables and queries for comparisons on Spark, each made from one seed.

Rows come unsorted and with ties; times, keys and values may be null; instants lie before and after
1970; doubles hold NaN, infinities, both zeros and 1e16. `order` is different in every row, since
Spark leaves open which row min_by takes among equals.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import inf, nan
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from muntin.aggregates import Aggregate, aggregate_named, count
from muntin.model.query import Query, query
from muntin.model.windows import Window
from muntin_testing.values import all_cases
from muntin_testing.windows import random_window

MICROSECOND, SECOND, MINUTE, HOUR = 1, 1_000_000, 60_000_000, 3_600_000_000
DAY = 24 * HOUR

SCHEMA = (
    "time {kind}, key string, part int, level double, "
    "whole bigint, money decimal(10,2), x double, y double, small int, flag boolean, "
    "word string, order bigint"
)
COLUMN = {
    "bigint": "whole",
    "decimal(10,2)": "money",
    "double": "x",
    "int": "small",
    "boolean": "flag",
    "string": "word",
}
SECOND_COLUMN = {"bigint": "order", "double": "y"}
KEYS = ["key", "part", "level"]
FILTERS = ["small > 0", "flag", "word IS NULL OR x < 5", "part = 1 AND NOT flag", "false"]
KINDS = ["timestamp", "timestamp_ntz", "date"]
BASES = [0, -3 * DAY, 1_700_000_000 * SECOND, -62_000_000_000 * SECOND, 200_000_000_000 * SECOND]
"""Begins of tables in microseconds: 1970, before it, 2023, the year 5 and the year 8307."""


@dataclass(frozen=True)
class Scenario:
    """A query and the table that it is asked of."""

    query: Query
    kind: str
    rows: list[tuple[Any, ...]]

    def table(self, spark: SparkSession) -> DataFrame:
        return spark.createDataFrame(self.rows, SCHEMA.format(kind=self.kind))


def scenario(seed: str) -> Scenario:
    """The scenario of this seed."""
    random = Random(seed)
    kind = random.choice([*KINDS, "timestamp"])
    unit = random.choice([DAY, 6 * HOUR]) if kind == "date" else _unit(random)
    base = random.choice(BASES) // DAY * DAY
    rows = random_rows(random, kind, base, 40 * unit, random.choice([0, 1, 30, 80, 80]))
    asked = query(
        time="time",
        windows=_windows(random, unit),
        aggregates=random_aggregates(random),
        keys=random.sample(KEYS, random.randrange(len(KEYS) + 1)),
        where=random.choice([None, None, "small IS NULL OR small <> 3"]),
    )
    return Scenario(asked, kind, rows)


def _unit(random: Random) -> int:
    return random.choice([MICROSECOND, SECOND, MINUTE, 7 * MINUTE + 13, DAY])


def _windows(random: Random, unit: int) -> list[Window]:
    count = random.randrange(2, 5)
    known: dict[Window, None] = {}
    while len(known) < count:
        known[random_window(random, unit)] = None
    if random.random() < 0.2:  # more copies of a row than are written out one by one
        known[Window(70 * unit, unit)] = None
    return list(known)


def random_aggregates(random: Random) -> list[Aggregate]:
    """Some functions, in half of the queries idempotent ones alone; some are filtered."""
    known = [aggregate_of(name, case.types) for name, case in all_cases()]
    if random.random() < 0.5:
        known = [a for a in known if a.function.idempotent]
    chosen = random.sample(known, min(6, len(known)))
    if not all(a.function.idempotent for a in chosen):
        chosen.append(count())
    found = [a.filter(random.choice(FILTERS)) if random.random() < 0.3 else a for a in chosen]
    return [a.alias(f"a{i}") for i, a in enumerate(found)]


def aggregate_of(name: str, types: tuple[str, ...]) -> Aggregate:
    """The function over the columns of these types."""
    first, *others = types
    return aggregate_named(name, COLUMN[first], *(SECOND_COLUMN[t] for t in others))


def random_rows(
    random: Random, kind: str, base: int, span: int, count: int
) -> list[tuple[Any, ...]]:
    instants = [base + random.randrange(span) for _ in range(count)]
    instants[count // 2 :] = random.choices(instants, k=count - count // 2)  # ties
    random.shuffle(instants)
    orders = random.sample(range(10 * count + 1), count)
    return [
        (_time(random, kind, instant), *_keys(random), *_values(random), order)
        for instant, order in zip(instants, orders, strict=True)
    ]


def _time(random: Random, kind: str, instant: int) -> Any:
    if random.random() < 0.06:
        return None
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant)
    if kind == "date":
        return at.date()
    return at if kind == "timestamp" else at.replace(tzinfo=None)


def _keys(random: Random) -> tuple[Any, ...]:
    return (
        random.choice([None, "", "a", "b", "it's"]),
        random.choice([None, 1, 2]),
        random.choice([None, nan, 0.0, -0.0, inf, 1.5]),
    )


def _values(random: Random) -> tuple[Any, ...]:
    return (
        _or_null(random, random.randrange(-(10**12), 10**12)),
        _or_null(random, Decimal(random.randrange(-(10**10) + 1, 10**10)).scaleb(-2)),
        _or_null(random, _double(random)),
        _or_null(random, _double(random)),
        _or_null(random, random.randrange(-5, 6)),
        _or_null(random, random.random() < 0.5),
        _or_null(random, random.choice(["", "a", "ä", "'", '"', "\\", "z z"])),
    )


def _double(random: Random) -> float:
    if random.random() < 0.05:
        return random.choice([nan, inf, -inf, 1e16, 0.0, -0.0])
    return random.randrange(-8_000, 8_000) / 8


def _or_null(random: Random, value: Any) -> Any:
    return None if random.random() < 0.15 else value

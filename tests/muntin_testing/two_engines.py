"""One table with a column of every type, and every aggregate that SQL can express over it.

For tests that run the same rewritten query on Spark and on DuckDB. A new aggregate function is
found by introspection; its arguments are columns of the types that its cases in `values` name.
"""

import math
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from muntin.aggregates import FUNCTIONS, Aggregate, aggregate_named
from muntin.cost import RateCost
from muntin.dialects.duckdb_text import not_in_duckdb
from muntin.model.query import Query
from muntin.plan import SharingPlan
from muntin.planner.strategies import STRATEGIES, Problem
from muntin_testing.values import cases_of, same

NOT_IN_SQL: frozenset[str] = frozenset(
    name
    for name, function in FUNCTIONS.items()
    if function.holistic or not_in_duckdb(function().partials([None] * function.arity))
)
"""What a query for both engines cannot express: no partials, or none that DuckDB has."""

HOUR = 3_600_000_000

_COLUMNS: dict[str, tuple[str, str]] = {
    "double": ("x", "y"),
    "bigint": ("n", "m"),
    "int": ("i", "j"),
    "decimal(10,2)": ("d", "e"),
    "decimal(8,0)": ("whole", "whole"),
    "boolean": ("yes", "no"),
    "string": ("s", "name"),
}
"""The first and the second column of each Spark type."""


def sample_table(rows: int = 400, seed: int = 11) -> pa.Table:
    """Times on both sides of 1970, nulls everywhere, and a device whose doubles are special."""
    random = Random(seed)

    def many(make: Any) -> list[Any]:
        return [None if random.random() < 0.1 else make() for _ in range(rows)]

    devices = many(lambda: random.choice(["a", "b'`\"\\", "odd"]))
    special = [math.nan, math.inf, -math.inf, 0.0, -0.0]

    def doubles() -> list[Any]:
        plain = many(lambda: random.randrange(-8_000, 8_000) / 8)
        odd = [d == "odd" and random.random() < 0.3 for d in devices]
        return [random.choice(special) if o else v for o, v in zip(odd, plain, strict=True)]

    times = many(lambda: random.randrange(-3 * HOUR, 3 * HOUR) // 1000 * 1000)
    edges = [0, -600_000_000, 600_000_000, 1, -1]  # exactly at, and just beside, begins
    times[: len(edges)] = edges
    columns = {
        "ts": pa.array(times, pa.timestamp("us", "UTC")),
        "device": pa.array(devices),
        "x": pa.array(doubles()),
        "y": pa.array(many(lambda: random.randrange(-800, 800) / 8)),
        "n": pa.array(many(lambda: random.randrange(-(10**12), 10**12)), pa.int64()),
        "m": pa.array(many(lambda: random.randrange(10**9)), pa.int64()),
        "i": pa.array(many(lambda: random.randrange(-1000, 1000)), pa.int32()),
        "j": pa.array(many(lambda: random.randrange(50)), pa.int32()),
        "d": pa.array(many(lambda: _decimal(random, 10, 2)), pa.decimal128(10, 2)),
        "e": pa.array(many(lambda: _decimal(random, 6, 2)), pa.decimal128(10, 2)),
        "whole": pa.array(many(lambda: _decimal(random, 8, 0)), pa.decimal128(8, 0)),
        "yes": pa.array(many(lambda: random.random() < 0.9), pa.bool_()),
        "no": pa.array(many(lambda: random.random() < 0.1), pa.bool_()),
        "s": pa.array(many(lambda: random.choice(["ä", "z'", '"', "\\", ""]))),
        "name": pa.array([str(number) for number in range(rows)]),
    }
    return pa.table(columns)


def _decimal(random: Random, digits: int, scale: int) -> Decimal:
    return Decimal(random.randrange(-(10**digits) + 1, 10**digits)).scaleb(-scale)


def spark_types(table: pa.Table) -> dict[str, str]:
    """The Spark types of the sample's columns."""
    found = {name: kind for kind, pair in _COLUMNS.items() for name in pair}
    return {"ts": "timestamp", "device": "string", **found}


def all_aggregates() -> list[Aggregate]:
    """Every aggregate that SQL can express, on every type that it is tried on."""
    made = [aggregate_named("count"), aggregate_named("avg", "whole"), aggregate_named("sum", "i")]
    made.append(aggregate_named("sum", "n").filter("yes AND i > 0").alias("filtered"))
    made.append(aggregate_named("avg", "x * j + 1").alias("computed"))
    for name in sorted(FUNCTIONS.keys() - NOT_IN_SQL):
        made += [aggregate_named(name, *_arguments(case.types)) for case in cases_of(name)]
    return list({aggregate.name: aggregate for aggregate in made}.values())


def _arguments(types: tuple[str, ...]) -> list[str]:
    """Columns of these types; an order is a column without ties, so that the answer is one."""
    if len(types) == 2 and types[1] == "bigint":
        return [_COLUMNS[types[0]][0], "n"]
    return [_COLUMNS[kind][number] for number, kind in enumerate(types)]


Rows = dict[tuple[Any, ...], dict[str, Any]]


def by_instance(rows: list[dict[str, Any]], keys: tuple[str, ...]) -> Rows:
    """Rows by window, begin, end and keys; two rows of one instance are an error."""
    found: Rows = {}
    for row in rows:
        window = row["window"]
        bounds = tuple(_micros(window[edge]) for edge in ("start", "end"))
        place = (row["window_id"], *bounds, *(row[key] for key in keys))
        assert place not in found, f"two rows for {place}"
        found[place] = {n: v for n, v in row.items() if n not in ("window_id", "window", *keys)}
    return found


def _micros(instant: datetime) -> int:
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    delta = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def assert_same(ours: Rows, theirs: Rows, what: str) -> None:
    """The same instances with the same values; floats within 1e-9."""
    assert ours.keys() == theirs.keys(), (
        f"{what}: missing {sorted(map(str, theirs.keys() - ours.keys()))[:3]}, "
        f"extra {sorted(map(str, ours.keys() - theirs.keys()))[:3]}"
    )
    for place, values in ours.items():
        for name, value in values.items():
            other = theirs[place][name]
            assert same(value, other, 1e-9), f"{what}: {place} {name}: {value!r} != {other!r}"


def planned(query: Query, strategy: str = "wcg", slicing: str = "pairs") -> SharingPlan:
    """The tree of one strategy, by itself."""
    problem = Problem(query.windows, query.idempotent, RateCost(), slicing)
    return STRATEGIES[strategy](problem)

"""Several queries with windows that the data decides, each set made from one seed.

Records have ties, nulls in keys and values, and a mileage that never falls. What a query must give
follows from the definition of its windows (`muntin_testing.data_windows.meaning`), key by key, on
records in the order of time and of `n`, which no two share.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa

import muntin as mt
from conformance.comparison import microseconds, plain
from muntin.model.data_windows import DataWindow
from muntin_testing.data_windows import Records, meaning

SECOND = 1_000_000
KEYS = ("a", "b", None)
SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", "UTC")),
        ("k", pa.string()),
        ("t", pa.int64()),
        ("n", pa.int64()),
        ("v", pa.int64()),
        ("km", pa.int64()),
        ("price", pa.float64()),
        ("go", pa.bool_()),
        ("stop", pa.bool_()),
    ]
)
ANY_ORDER = (
    mt.session("5 seconds"),
    mt.session("2 seconds", maximum="7 seconds"),
    mt.snapshot(),
)
"""Windows that the order of records of one instant cannot change."""

IN_ORDER = (
    mt.count_window(5, 2),
    mt.count_window(4, incomplete=True),
    mt.hopping_by("km", 10, 5),
    mt.punctuation("go"),
    mt.landmark("go", "stop"),
    mt.landmark("go", length="6 seconds"),
    mt.threshold("price", 3),
)
PERIODIC = (mt.hopping("6 seconds", "2 seconds"), mt.tumbling("4 seconds"))
VALUES: dict[str, Callable[[Records], Any]] = {
    "count": len,
    "total": lambda records: _or_none(sum, records, "v"),
    "least": lambda records: _or_none(min, records, "v"),
    "dearest": lambda records: _or_none(max, records, "price"),
}
"""Aggregates by their names, over the records of a window."""

CALLS = {
    "count": mt.count(),
    "total": mt.sum("v").alias("total"),
    "least": mt.min("v").alias("least"),
    "dearest": mt.max("price").alias("dearest"),
}


def _or_none(combine: Callable[[list[Any]], Any], records: Records, name: str) -> Any:
    values = [record[name] for record in records if record[name] is not None]
    return combine(values) if values else None


def records(random: Random, many: int) -> Records:
    """Records of all keys, in any order; those of a key have ties and never fall in mileage."""
    found: Records = []
    for key in KEYS:
        time, km = random.randrange(-20, 20), 0
        for _ in range(many):
            time += random.choice([0, 0, 1, 1, 2, 3, 9])
            km += random.choice([0, 1, 3, 12])
            found.append(
                {
                    "k": key,
                    "t": time * SECOND,
                    "n": len(found),
                    "v": random.choice([None, 1, 2, -3, 7]),
                    "km": random.choice([km, km, km, None]),
                    "price": random.choice([None, 1.0, 2.0, 5.0, 9.0]),
                    "go": random.choice([True, False, None]),
                    "stop": random.choice([True, False, False, None]),
                }
            )
    random.shuffle(found)
    return found


def table_of(rows: Records) -> pa.Table:
    """The records as a table, with the time as a timestamp."""
    return pa.Table.from_pylist([{**row, "ts": row["t"]} for row in rows], SCHEMA)


def queries(random: Random) -> dict[str, mt.Query]:
    """Two to four queries: ordered or not, periodic or not, some windows asked for twice."""
    return {f"q{i}": _query(random, i) for i in range(random.choice([2, 3, 3, 4]))}


def _query(random: Random, number: int) -> mt.Query:
    order = random.choice(["n", "n", "n", ""])
    known = [*ANY_ORDER, *IN_ORDER] if order else [*ANY_ORDER, IN_ORDER[0], IN_ORDER[3]]
    windows: list[Any] = random.sample(known, random.choice([1, 1, 2, 3]))
    if random.random() < 0.3:
        windows = [random.choice(PERIODIC)] + (windows if random.random() < 0.5 else [])
    if random.random() < 0.3:
        windows[0] = replace(windows[0], id=f"own {number}")
    by_data = any(isinstance(w, DataWindow) for w in windows)
    return mt.query(
        "ts",
        windows,
        [CALLS[name] for name in random.sample(sorted(CALLS), random.choice([1, 2, 3]))],
        keys="k",
        where=random.choice([None, None, None, "v > 0"]),
        order_by=order if order and by_data else (),
    )


def expected(query: mt.Query, rows: Records) -> Counter[tuple[Any, ...]] | None:
    """The rows of a query by what its windows mean; None where `n` does not order its records."""
    asked = query.all_windows
    if not query.order_by and any(isinstance(w, DataWindow) and w.order_matters for w in asked):
        return None
    found: Counter[tuple[Any, ...]] = Counter()
    for key in KEYS:
        own = [r for r in rows if r["k"] == key and (not query.where or (r["v"] or 0) > 0)]
        own.sort(key=lambda r: (r["t"], r["n"]))
        for window in asked if own else []:
            for start, end, run in meaning(window, own):
                held = [own[i] for i in run]
                results = (VALUES[a.name](held) for a in query.aggregates)
                found[(window.id, start, end, key, *results)] += 1
    return found


def rows_of(
    found: Sequence[Mapping[str, Any]], query: mt.Query, id: str | None = None
) -> Counter[tuple[Any, ...]]:
    """Rows of the long layout; of several queries, those of one."""
    names = [a.name for a in query.aggregates]
    rows: Counter[tuple[Any, ...]] = Counter()
    for row in found:
        if id is None or row["query_id"] == id:
            bounds = [microseconds(row["window"][side]) for side in ("start", "end")]
            key, *results = (plain(row[name]) for name in ("k", *names))
            rows[(row["window_id"], *bounds, key, *results)] += 1
    return rows

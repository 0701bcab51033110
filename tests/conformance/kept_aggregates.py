"""Aggregates that a stream of records keeps in Python: sets, sketches and functions of the user's.

What each means is said beside it in plain Python. Sketches hold few values here, so they are exact.
"""

from collections.abc import Callable
from math import ceil
from typing import Any

import muntin as mt
from muntin.aggregates import Aggregate
from muntin_testing.data_windows import Records
from muntin_testing.record_streams import TRAIL

DEAREST = mt.custom(
    "dearest",
    lift=lambda r: {} if r["_0"] is None else {r["_0"]: r["_1"] or 0.0},
    combine=lambda older, newer: {
        key: max(part[key] for part in (older, newer) if key in part) for key in {*older, *newer}
    },
    lower=lambda part: sum(part.values()),
    identity={},
    commutative=True,
    idempotent=True,
    arity=2,
)
"""In any order: the largest price of each value, added up; a dictionary whose keys are numbers."""


def _known(records: Records, *names: str) -> list[Any]:
    """The values of records in which none is null; one name gives values, several tuples."""
    found = [tuple(r[name] for name in names) for r in records]
    whole = [values for values in found if None not in values]
    return whole if len(names) > 1 else [value for (value,) in whole]


def _at_rank(values: list[Any], p: float) -> Any:
    return sorted(values)[max(ceil(p * len(values)) - 1, 0)] if values else None


def _dearest(records: Records) -> float:
    values = set(_known(records, "v"))
    return sum(max(r["price"] or 0.0 for r in records if r["v"] == v) for v in values)


def _share(records: Records) -> float | None:
    values = _known(records, "v")
    return len(set(values)) / len(values) if values else None


KEPT: dict[str, tuple[Aggregate, Callable[[Records], Any]]] = {
    "values": (mt.collect_set("v"), lambda rs: tuple(sorted(set(_known(rs, "v"))))),
    "cheap": (
        mt.collect_set("v").filter("price < 3"),
        lambda rs: tuple(
            sorted({r["v"] for r in rs if (r["price"] or 9) < 3 and r["v"] is not None})
        ),
    ),
    "prices": (mt.count_distinct("price"), lambda rs: len(set(_known(rs, "price")))),
    "pairs": (mt.count_distinct("v", "price"), lambda rs: len(set(_known(rs, "v", "price")))),
    "about": (mt.approx_count_distinct("n"), lambda rs: len(rs)),
    "about prices": (mt.approx_count_distinct("price"), lambda rs: len(set(_known(rs, "price")))),
    "middle": (mt.approx_percentile("v"), lambda rs: _at_rank(_known(rs, "v"), 0.5)),
    "high": (mt.approx_percentile("price", 0.9), lambda rs: _at_rank(_known(rs, "price"), 0.9)),
    "share": (mt.ratio(mt.count_distinct("v"), mt.count("v")), _share),
    "trail": (TRAIL("n"), lambda rs: " ".join(str(r["n"]) for r in rs)),
    "dearest": (DEAREST("v", "price"), _dearest),
    "few dearest": (
        DEAREST("v", "price").filter("price > 1"),
        lambda rs: _dearest([r for r in rs if (r["price"] or 0) > 1]),
    ),
    "rows": (mt.count(), len),
}
"""By name: the aggregate, and what it gives of the records of a window, in order."""

"""aggregate: the one call most users need: optimize, then apply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from muntin.aggregates import Aggregate
from muntin.api.engine import engine_of
from muntin.api.optimize import optimize
from muntin.durations import Duration
from muntin.query import query
from muntin.windows import Window


def aggregate(
    data: Any,
    time: str,
    windows: Iterable[Window],
    aggregates: Iterable[Aggregate],
    keys: str | Iterable[str] = (),
    where: str | None = None,
    strategy: str = "auto",
    rate: float = 100.0,
    distinct_keys: float = 1,
    cost: str = "rate",
    operator: str | None = None,
    layout: str = "long",
    empty: str = "omit",
    watermark: Duration | None = None,
    output: str = "append",
    started_with: Iterable[Window] | None = None,
) -> Any:
    """All windows and aggregates over a Spark DataFrame, batch or streaming, computed together.

    `layout` is "long" or "wide", `empty` is "omit" or "fill", and streams are told `watermark`,
    `output` and `started_with`: see Plan.apply.

    Works with transform: `events.transform(mt.aggregate, time="ts", ...)`.
    """
    asked = query(time=time, windows=windows, aggregates=aggregates, keys=keys, where=where)
    engine = engine_of(data)
    plan = optimize(asked, strategy, rate, distinct_keys, cost, operator, engine)
    return plan.apply(
        data, layout, empty, watermark=watermark, output=output, started_with=started_with
    )

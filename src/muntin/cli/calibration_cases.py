"""The cases of `muntin calibrate`: windows over tables, and the plans worth running on Spark.

Together the cases use every kind of work. They differ in what decides between plans: keys, rows,
overlap, how many rows share a slice. Plans that come out as the same tree by the same operator are
run once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.aggregates import Aggregate, avg, max, min, sum
from muntin.api import Plan, optimize
from muntin.cost import Statistics
from muntin.errors import MuntinError
from muntin.model.choices import Operator, Strategy
from muntin.model.query import Query, query
from muntin.model.windows import Window
from muntin.plan.slicing import Slices

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MINUTE = 60_000_000
AGGREGATES: tuple[Aggregate, ...] = (
    min("value").alias("low"),
    max("value").alias("high"),
    avg("value").alias("mean"),
)


def minute_windows(*pairs: tuple[int, int]) -> tuple[Window, ...]:
    """Windows by range and slide in minutes."""
    return tuple(Window(length * MINUTE, slide * MINUTE) for length, slide in pairs)


MIXED = minute_windows((1, 1), (2, 1), (5, 1), (10, 1), (60, 5))
"""What dashboards ask for."""
OVERLAP = minute_windows((5, 1), (15, 1), (60, 1), (360, 1), (1440, 1))
"""Every record in up to 1,440 instances of one window."""
SINGLE = minute_windows((1, 1))
"""One tumbling window, where there is nothing to share."""
DASHBOARD = minute_windows((1, 1), (5, 5), (15, 15), (60, 60))

SPREAD: tuple[tuple[Strategy, Operator], ...] = (
    *(("direct", "window"), ("direct", "expand"), ("shared-pairs", "expand")),
    *(("shared-pairs", "kernel"), ("wcg", "expand"), ("wcg", "kernel")),
    ("unshared-pairs", "kernel"),
    ("shared-pairs", "rows"),
)
"""The strategies and operators that are run for each case."""


@dataclass(frozen=True, slots=True)
class Case:
    """One window set over one table; `keyed` says whether results are by device."""

    name: str
    windows: tuple[Window, ...]
    rows: int
    keys: int = 100
    rate: int = 100
    aggregates: tuple[Aggregate, ...] = AGGREGATES
    keyed: bool = True

    @property
    def query(self) -> Query:
        """What is asked."""
        return query("ts", self.windows, self.aggregates, keys=["device"] if self.keyed else [])

    @property
    def statistics(self) -> Statistics:
        """What is known of the table."""
        return Statistics(self.rows, self.keys if self.keyed else 1, self.rate)


CASES: tuple[Case, ...] = (
    Case("mixed", MIXED, 1_000_000),
    Case("20,000 keys", MIXED, 60_000, keys=20_000),
    Case("overlap", OVERLAP, 300_000),
    Case("single", SINGLE, 2_000_000),
    Case("ten thousand rows", MIXED, 10_000),
    Case("dashboard", DASHBOARD, 1_000_000, keys=1000, aggregates=(sum("value"),)),
)


def plans_of(case: Case, longest: float) -> dict[str, Plan]:
    """The plans of a case by strategy and operator, `auto` first; none predicted to take longer."""
    found: dict[str, Plan] = {}
    known: dict[object, str] = {}
    tried: tuple[tuple[Strategy, Operator | None], ...] = (("auto", None), *SPREAD)
    for strategy, operator in tried:
        try:
            plan = optimize(case.query, strategy, operator=operator, statistics=case.statistics)
        except MuntinError:
            continue
        alone = len(plan.tree.levels()) == 1  # nothing below the first level: no operator differs
        shared = ("" if alone else plan.operator.name, *_shapes(plan))
        same = shared if plan.operator.shares else "window"
        if same in known or (operator and (plan.seconds or 0.0) > longest):
            continue
        known[same] = name = f"{plan.strategy}, {plan.operator.name}"
        found[name] = plan
    return found


def _shapes(plan: Plan) -> list[object]:
    """The tree without what its slices are called: panes and pairs may be the same cuts."""
    bare = [n.shape.cuts if isinstance(n.shape, Slices) else n.shape for n in plan.tree.nodes]
    return [(s, n.parent, n.pieces) for s, n in zip(bare, plan.tree.nodes, strict=True)]


def runner(plan: Plan, events: DataFrame) -> Callable[[], int]:
    """Runs a plan on a table, and throws the rows away."""

    def run() -> int:
        plan.apply(events).write.format("noop").mode("overwrite").save()
        return 0

    return run


def cache_folder() -> Path:
    """Where tables to measure on are kept unless another folder is given."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "muntin"

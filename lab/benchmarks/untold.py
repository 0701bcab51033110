"""untold: whether `auto` needs to be told anything, on sets of windows that differ in what decides.

The twelve sets of the cost experiment, and two like a month of taxi trips. Of every set all sides
take turns on one table that Spark wrote, each a whole call of mt.aggregate with its planning:

    told nothing   mt.aggregate as it is
    told           the same, given rows, keys and rate
    named          every pair of strategy and operator that is not predicted to take ages
    Spark's own    a union of window() queries, if it is not predicted to take ages

The fastest round counts, since whatever disturbs a run makes it slower. Before them the first call
of the session is timed, after one query of Spark's own, and again when everything is warm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from lab.costs.spark import MEASURED_CASES
from lab.registry import Options
from lab.report import new_table, write_files
from lab.timing import machine, race, start_spark
from muntin.aggregates import approx_count_distinct, count, max
from muntin.api import aggregate, explain, optimize
from muntin.cli.calibration_cases import SPREAD, Case, minute_windows
from muntin.errors import MuntinError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HOURLY = minute_windows((60, 60), (24 * 60, 60), (7 * 24 * 60, 60))
TAXI = (count(), max("value"))
DISTINCT = (*TAXI, approx_count_distinct("value"))
CASES: dict[str, Case] = {
    case.name: case
    for case in (
        *MEASURED_CASES,
        Case("taxi", HOURLY, 74_000, 184, 1, TAXI),
        Case("taxi, distinct", HOURLY, 74_000, 184, 1, DISTINCT),
    )
}
ROWS = 10_000_000
"""With this number of rows the tables have their own sizes; with fewer they shrink."""
LONGEST = 3.0
"""Seconds: a named choice that is predicted to take longer does not run."""
NEAR, BEHIND = 1.15, 1.10
"""What `auto` may take longer than the best named choice, and than Spark's own."""
UNTOLD, TOLD, OWN = "told nothing", "told", "direct, window"
ALIKE = 0.03
"""Seconds within which two sides are alike."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One set: seconds of `auto`, of the best named choice and of Spark's own, if that ran."""

    set: str
    chosen: str
    untold: float
    told: float
    best: str
    named: float
    own: float | None

    def __str__(self) -> str:
        return (
            f"{self.set}: told nothing {self.untold:.2f} s by {self.chosen}, told {self.told:.2f} "
            f"s, best named {self.named:.2f} s by {self.best}"
        )

    @property
    def near(self) -> bool:
        """Whether `auto` is about as fast as the best."""
        return self.untold <= NEAR * min(self.named, self.told) + ALIKE

    @property
    def truthful(self) -> bool:
        """Whether telling the truth made it no slower."""
        return self.told <= NEAR * self.untold + ALIKE

    @property
    def behind(self) -> bool:
        """Whether Spark's own is faster."""
        return self.own is not None and self.untold > BEHIND * self.own + ALIKE


def run(options: Options, console: Console) -> list[Outcome]:
    """Time all sides on each set, and say in how many of them `auto` is near the best."""
    names = options.choose(CASES, "set")
    spark = start_spark(console)
    console.print(f"{machine()}, Spark {spark.version}")
    found = measure(spark, [CASES[name] for name in names], options, console)
    spark.stop()
    console.print(table_of(found))
    console.print(summary(found), highlight=False)
    write_files(options.out, console, {"untold.csv": found}, {})
    return found


def measure(
    spark: SparkSession, cases: Sequence[Case], options: Options, console: Console
) -> list[Outcome]:
    """All sides of each set, after the first call of all."""
    from muntin.engines.spark.session import make_table

    found: list[Outcome] = []
    with TemporaryDirectory() as folder:
        for case in cases:
            rows = int(case.rows * options.rows / ROWS) or 1
            events = make_table(spark, folder, rows, case.keys, case.rate)
            if not found:
                console.print(first_call(events, case), highlight=False)
            found.append(_measure(replace(case, rows=rows), events, options.repeat))
            console.print(str(found[-1]), highlight=False)
    return found


def first_call(events: DataFrame, case: Case) -> str:
    """The first call of a session beside a later one; Spark itself has run one query before."""
    begun = perf_counter()
    events.groupBy("device").count().write.format("noop").mode("overwrite").save()
    spark, seconds = perf_counter() - begun, []
    for _ in range(4):
        begun = perf_counter()
        rows = aggregate(events, **_asked(case))
        planned = perf_counter() - begun
        rows.write.format("noop").mode("overwrite").save()
        seconds.append((planned, perf_counter() - begun))
    (call, first), (later_call, later) = seconds[0], seconds[-1]
    return (
        f"first query of the session, a groupBy: {spark:.2f} s; the first call of mt.aggregate "
        f"after it: {first:.2f} s, of which {call:.2f} s until Spark ran; the fourth: {later:.2f} "
        f"s and {later_call:.2f} s"
    )


def _asked(case: Case) -> dict[str, Any]:
    query = case.query
    parts = {"time": query.time, "windows": query.windows, "aggregates": query.aggregates}
    return {**parts, "keys": query.keys}


def _measure(case: Case, events: DataFrame, repeat: int) -> Outcome:
    known = case.statistics
    told = {"rows": known.rows, "distinct_keys": known.keys, "rate": known.rate}

    def side(**options: Any) -> Callable[[], int]:
        def run() -> int:
            rows = aggregate(events, **_asked(case), **options)
            rows.write.format("noop").mode("overwrite").save()
            return 0

        return run

    named = {f"{s}, {o}": side(strategy=s, operator=o) for s, o in _worth_running(case)}
    sides = {UNTOLD: side(), TOLD: side(**told), **named}
    times = {name: min(each.seconds) for name, each in race(sides, repeat, case.name).items()}
    best = min(named, key=times.__getitem__)
    plan: Any = explain(events, **_asked(case))
    chosen = f"{plan.strategy}, {plan.operator}"
    auto = times[UNTOLD], times[TOLD]
    return Outcome(case.name, chosen, *auto, best, times[best], times.get(OWN))


def _worth_running(case: Case) -> Iterator[tuple[str, str]]:
    """The pairs that can run, and are not predicted to take too long."""
    for strategy, operator in SPREAD:
        try:
            plan = optimize(case.query, strategy, operator=operator, statistics=case.statistics)
        except MuntinError:
            continue
        if (plan.seconds or 0.0) <= LONGEST:
            yield strategy, operator


def table_of(found: list[Outcome]) -> Table:
    """Seconds of every set, and `auto` told nothing against the others."""
    columns = ("<set", "<chosen", "told nothing|.2f", "told|.2f", "<best named", "seconds|.2f")
    more = ("Spark's own|.2f", "× best|.2f", "× told|.2f", "× own|.2f")
    rows = (
        (
            *(o.set, o.chosen, o.untold, o.told, o.best, o.named, o.own),
            *(o.untold / min(o.named, o.told), o.untold / o.told, o.own and o.untold / o.own),
        )
        for o in found
    )
    return new_table("auto against what could be named: seconds", *columns, *more, rows=rows)


def summary(found: list[Outcome]) -> str:
    """In how many sets nothing needs to be told."""
    near = sum(o.near for o in found)
    slower = [o.set for o in found if not o.truthful]
    behind = [o.set for o in found if o.behind]
    return (
        f"\nwithin {NEAR - 1:.0%} of the best choice in {near} of {len(found)} sets; "
        f"slower when told the truth: {', '.join(slower) or 'none'}; "
        f"slower than Spark's own beyond {BEHIND - 1:.0%}: {', '.join(behind) or 'none'} "
        f"({ALIKE} s are taken for nothing)"
    )

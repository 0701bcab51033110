"""batch: Spark's own window() queries against ours by each operator, and against the floor.

The floor is one 60-second tumbling window with the same aggregates: what any of this must cost.
All sides read the same parquet file and write to nowhere, in turn, in one session. Where Spark's
own queries would take minutes they read a stated sample instead, once, and no ratio is claimed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from lab.benchmarks.workload import SETS, Events
from lab.registry import Options
from lab.report import new_table
from lab.timing import Times, machine, race, start_spark
from muntin.api import optimize
from muntin.cli.calibration_cases import AGGREGATES, runner
from muntin.errors import MuntinError
from muntin.model.query import Query, query
from muntin.model.windows import Window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Scenario:
    """A window set over one distribution of keys.

    All sides read one of `part` rows, direct one of `sample` of these.
    """

    windows: str
    keys: int = 100
    device: str | None = "device"
    sample: int = 1
    part: int = 1


SCENARIOS: dict[str, Scenario] = {
    "mixed": Scenario("mixed"),
    "overlap": Scenario("overlap", sample=100),
    "hundred": Scenario("hundred", sample=20),
    "keyless": Scenario("mixed", device=None, sample=10),
    "one hot key": Scenario(
        "mixed", device="CASE WHEN pmod(xxhash64(ts), 10) < 9 THEN 0 ELSE device END", sample=10
    ),
    "many keys": Scenario("mixed", keys=200_000, part=20),
    "uneven": Scenario("uneven", sample=10),
    "single": Scenario("single"),
}


def run(options: Options, console: Console) -> None:
    """Time all sides on each scenario and print medians and ratios."""
    names = options.choose(SCENARIOS, "set")
    spark = start_spark(console)
    console.print(f"{options.rows:,} events, min/max/avg; {machine()}, Spark {spark.version}")
    for name in names:
        console.print(_scenario(name, spark, options))
    spark.stop()


def _scenario(name: str, spark: SparkSession, options: Options) -> Table:
    scenario = SCENARIOS[name]
    rows = options.rows // scenario.part
    path = Events(rows=rows, keys=scenario.keys).file(options.data)
    events = _events(spark, path, scenario)
    fewer = Events(rows=rows // scenario.sample, keys=scenario.keys).file(options.data)
    sample = _events(spark, fewer, scenario)
    asked = _query(SETS[scenario.windows], scenario)
    floor = _query(SETS["single"], scenario)
    keys = scenario.keys if scenario.device else 1
    sides = {"floor": runner(optimize(floor, "direct", operator="window"), events)}
    direct = runner(optimize(asked, "direct", operator="window"), sample)
    if scenario.sample == 1:
        sides["direct"] = direct
    chosen = optimize(asked, options.strategy, rate=Events().rate, distinct_keys=keys)
    for operator in ("expand", "kernel"):
        try:
            plan = optimize(asked, "shared-pairs", operator=operator)
        except MuntinError:
            continue
        if operator == "kernel" or sum(w.overlap for w in asked.windows) < 200:
            sides[operator] = runner(plan, events)
    sides[f"auto ({chosen.strategy}, {chosen.operator.name})"] = runner(chosen, events)
    times = race(sides, options.repeat, name)
    if scenario.sample > 1:
        times["direct"] = race({"direct": direct}, 1, f"{name}, sample", warm_up=False)["direct"]
    return _table(name, times, scenario, options)


def _events(spark: SparkSession, path: Path, scenario: Scenario) -> DataFrame:
    key = scenario.device or "0"
    return spark.read.parquet(str(path)).selectExpr("ts", f"{key} AS device", "value")


def _query(windows: tuple[Window, ...], scenario: Scenario) -> Query:
    keys = ["device"] if scenario.device else []
    return query("ts", windows, AGGREGATES, keys=keys)


def _table(name: str, times: dict[str, Times], scenario: Scenario, options: Options) -> Table:
    windows = SETS[scenario.windows]
    shown = ", ".join(w.id for w in windows[:5]) + (", …" if len(windows) > 5 else "")
    columns = ("<side", "median", "all rounds", "× floor", "direct is")
    table = new_table(f"{name}: {shown}", *columns)
    floor, direct = times["floor"].median, times["direct"].median
    for side, each in times.items():
        sampled = side == "direct" and scenario.sample > 1
        label = f"direct, 1 row of {scenario.sample}, one run" if sampled else side
        ratio = f"{direct / each.median:.1f}×" if scenario.sample == 1 else ""
        over = "" if sampled else f"{each.median / floor:.2f}"
        table.add_row(label, f"{each.median:.2f} s", each.rounds, over, ratio)
    many = options.rows // scenario.part
    if scenario.sample > 1:
        fewer = many // scenario.sample
        table.caption = f"direct ran on {fewer:,} events at the same rate: no ratio is claimed"
    elif scenario.part > 1:
        table.caption = f"all sides read {many:,} events, which give millions of rows"
    return table

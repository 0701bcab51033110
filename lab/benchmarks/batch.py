"""batch: ours, told nothing and told the truth, against Spark's own window() queries and a floor.

floor    one 60-second tumbling window with the same aggregates, by the faster of window() and a
         groupBy of whole minutes: what any of this must cost
output   the time in which Spark makes as many rows of the result's schema by itself
limit    floor + output

All sides read the same parquet file and write to nowhere, in turn, in one session. Where Spark's
own queries would take minutes they read a stated sample instead, once, and no ratio is claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from lab.benchmarks.workload import SETS, Events
from lab.registry import Options
from lab.report import new_table
from lab.timing import Times, machine, race, start_spark
from muntin.api import Plan, PlanOptions, aggregate, explain, optimize
from muntin.cli.calibration_cases import AGGREGATES, runner
from muntin.model.query import Query, query
from muntin.model.windows import Window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MINUTES, WINDOW = "groupBy of minutes", "window() of a minute"
OUTPUT, DIRECT = "output alone", "Spark's own windows"
UNTOLD, TOLD = "auto, told nothing", "auto, told rows and keys"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A window set over one distribution of keys.

    All sides read one of `part` rows, Spark's own windows one of `sample` of these; with 0 they do
    not run, since Spark needs longer to plan them than one waits.
    """

    windows: str
    keys: int = 100
    device: str | None = "device"
    sample: int = 1
    part: int = 2


SCENARIOS: dict[str, Scenario] = {
    "mixed": Scenario("mixed"),
    "overlap": Scenario("overlap", sample=1000),
    "hundred": Scenario("hundred", sample=100),
    "thousand": Scenario("thousand", sample=0),
    "keyless": Scenario("mixed", device=None),
    "one hot key": Scenario(
        "mixed", device="CASE WHEN pmod(xxhash64(ts), 10) < 9 THEN 0 ELSE device END", sample=10
    ),
    "20,000 keys": Scenario("mixed", keys=20_000, sample=10),
    "500,000 keys": Scenario("mixed", keys=500_000, sample=10),
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
    events = events_of(spark, path, scenario)
    asked = asked_of(scenario)
    keys = {"distinct_keys": scenario.keys} if scenario.device else {}
    told = {"rate": Events().rate, "rows": rows, **keys}

    def ours(**known: float) -> Callable[[], int]:
        given = PlanOptions(strategy=options.strategy, **known)  # type: ignore[typeddict-item]
        return lambda: to_nowhere(
            aggregate(events, asked.time, asked.windows, asked.aggregates, asked.keys, **given)
        )

    chosen = explain(events, asked.time, asked.windows, asked.aggregates, asked.keys)
    many = chosen.apply(events).count()
    sides = {
        WINDOW: runner(optimize(asked_of(scenario, SETS["single"]), operator="window"), events),
        MINUTES: lambda: to_nowhere(minutes(events, scenario)),
        OUTPUT: lambda: to_nowhere(_output(spark, many, scenario)),
        UNTOLD: ours(),
        TOLD: ours(**told),
    }
    if scenario.sample == 1:
        sides[DIRECT] = runner(optimize(asked, "direct", operator="window"), events)
    times = race(sides, options.repeat, name)
    if scenario.sample > 1:
        fewer = Events(rows=rows // scenario.sample, keys=scenario.keys).file(options.data)
        sample = events_of(spark, fewer, scenario)
        direct = {DIRECT: runner(optimize(asked, "direct", operator="window"), sample)}
        times |= race(direct, 1, f"{name}, sample", warm_up=False)
    by = f"{chosen.strategy}, {chosen.operator}" if isinstance(chosen, Plan) else ""
    return _table(name, times, scenario, rows, many, by)


def to_nowhere(rows: DataFrame) -> int:
    """Have Spark compute all rows."""
    rows.write.format("noop").mode("overwrite").save()
    return 0


def events_of(spark: SparkSession, path: Path, scenario: Scenario) -> DataFrame:
    """The table of a scenario, with its keys."""
    key = scenario.device or "0"
    return spark.read.parquet(str(path)).selectExpr("ts", f"{key} AS device", "value")


def asked_of(scenario: Scenario, windows: tuple[Window, ...] | None = None) -> Query:
    """The windows of a scenario, or others over its keys."""
    keys = ["device"] if scenario.device else []
    return query("ts", windows or SETS[scenario.windows], AGGREGATES, keys=keys)


def minutes(events: DataFrame, scenario: Scenario) -> DataFrame:
    """The floor as people write it: groups of whole minutes."""
    from pyspark.sql import functions as F

    minute = F.expr("unix_micros(ts) div 60000000L").alias("minute")
    grouped = events.groupBy("device", minute) if scenario.device else events.groupBy(minute)
    return grouped.agg(F.min("value"), F.max("value"), F.avg("value"))


def _output(spark: SparkSession, rows: int, scenario: Scenario) -> DataFrame:
    """Rows of the result's schema, made of their numbers."""
    start = "timestamp_micros(id * 60000000)"
    key = ["cast(id % 100 AS int) AS device"] if scenario.device else []
    return spark.range(rows).selectExpr(
        "element_at(array('1 minute', '1 hour'), cast(id % 2 AS int) + 1) AS window_id",
        f"named_struct('start', {start}, 'end', {start}) AS window",
        *key,
        *(f"cast(id AS double) AS a{i}" for i in range(3)),
    )


def _table(
    name: str, times: dict[str, Times], scenario: Scenario, rows: int, many: int, chosen: str
) -> Table:
    windows = SETS[scenario.windows]
    shown = ", ".join(w.id for w in windows[:5]) + (", …" if len(windows) > 5 else "")
    columns = ("<side", "median", "all rounds", "× floor", "× limit", "Spark's own is")
    table = new_table(f"{name}: {shown}", *columns)
    floor = min(times[WINDOW].median, times[MINUTES].median)
    limit = floor + times[OUTPUT].median
    for side, each in times.items():
        sampled = side == DIRECT and scenario.sample > 1
        label = f"{side}, 1 row of {scenario.sample}, one run" if sampled else side
        direct = times[DIRECT].median if scenario.sample == 1 else 0.0
        ratio = f"{direct / each.median:.1f}×" if direct else ""
        over = ("", "") if sampled else (f"{each.median / floor:.2f}", f"{each.median / limit:.2f}")
        table.add_row(label, f"{each.median:.2f} s", each.rounds, *over, ratio)
    table.caption = f"{rows:,} events, {many:,} rows of results; told nothing: {chosen}"
    return table

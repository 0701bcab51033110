"""stream-choice: on six streams, is what `auto` takes the best that could be named?

`auto` is told nothing: neither how many keys there are nor how many rows come. `told` is `auto`
with the true rate and number of keys. The named choices are the operators, each with the plan that
is best for it, and Spark's own window() queries. Two plans by the same operator count as one choice
and run once, the first of them: on these streams their trees are predicted alike. A side that takes
twice as long as `auto` is stopped: it is not the best, and by how much is of no matter here.

The files, modes and sessions are those of `stream`. The streams differ in windows, in keys, and in
how many rows a micro-batch has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from lab.benchmarks.stream import (
    BATCHES,
    WARM_UP,
    WATERMARK,
    read_files,
    run_side,
    slice_files,
)
from lab.benchmarks.workload import Events, query_of
from lab.registry import Options
from lab.report import new_table
from lab.timing import machine, start_spark
from muntin.api import Plan, optimize
from muntin.physical.operators.bucketed import BUCKETED
from muntin.physical.operators.native import NATIVE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PATIENCE = 2
NEAR, SLOWER = 1.15, 1.10
"""`auto` should be this near to the best, and never be slower than Spark's own by more."""
OWN = "Spark's own"
MOST = 2_000_000


@dataclass(frozen=True, slots=True)
class Stream:
    """Windows over events of so many keys, of which a run has this share of the rows given."""

    windows: str
    keys: int = 100
    share: float = 1.0


STREAMS = {
    "single-100": Stream("single"),
    "mixed-100": Stream("mixed"),
    "overlap-100": Stream("overlap"),
    "mixed-20000": Stream("mixed", 20_000),
    "overlap-20000": Stream("overlap", 20_000),
    "mixed-100-small": Stream("mixed", share=0.04),
}


@dataclass(frozen=True, slots=True)
class Raced:
    """The seconds of the sides of one stream, of one that was stopped None; who took what."""

    seconds: Mapping[str, float | None]
    auto: str
    told: str

    @property
    def to_best(self) -> float:
        """How many times as long as the best named choice `auto` takes."""
        own = self.of("auto")
        return own / min(s for s in self.seconds.values() if s is not None)

    def of(self, side: str) -> float:
        """The seconds of `auto` or `told`."""
        seconds = self.seconds[self.auto if side == "auto" else self.told]
        return float("inf") if seconds is None else seconds

    @property
    def to_own(self) -> float:
        """How many times as long as Spark's own; where that was stopped, a bound."""
        own = self.seconds[OWN]
        return 1 / PATIENCE if own is None else self.of("auto") / own


def run(options: Options, console: Console) -> None:
    """Race every choice on each stream, and print what `auto` took beside the best."""
    spark, rows = start_spark(console), min(options.rows, MOST)
    console.print(f"{rows:,} events in {BATCHES} files; {machine()}, Spark {spark.version}")
    found = {
        name: _race(spark, STREAMS[name], rows, options) for name in options.choose(STREAMS, "set")
    }
    spark.stop()
    console.print(_table(found))
    console.print(summary(list(found.values())))


def _race(spark: SparkSession, stream: Stream, rows: int, options: Options) -> Raced:
    plans = plans_of(stream)
    few, many = (
        read_files(
            spark, slice_files(Events(rows=int(n * stream.share), keys=stream.keys), options.data)
        )
        for n in (rows // 20, rows)
    )
    taken = {name: plan.operator.name for name, plan in plans.items()}
    first = {taken[name]: plans[name] for name in reversed(plans)}
    first = {taken["auto"]: plans["auto"], **first}
    times: dict[str, list[float] | None] = {}
    for result in _results(few, first, stream).values():
        run_side(result, WARM_UP)
    for _ in range(options.repeat):
        limit = None
        for side, result in _results(many, first, stream).items():
            known = times.setdefault(side, [])
            if known is None:
                continue
            done = run_side(result, limit)
            times[side] = [*known, done.seconds] if done.finished else None
            if side == taken["auto"]:
                limit = ceil(PATIENCE * done.seconds)
    seconds = {side: median(each) if each else None for side, each in times.items()}
    return Raced(seconds, taken["auto"], taken["told"])


def plans_of(stream: Stream) -> dict[str, Plan]:
    """The plans of `auto`, told nothing and told the truth, and of every operator."""
    asked = query_of(stream.windows)
    events = Events(keys=stream.keys)
    told = optimize(asked, engine="stream", rate=events.rate, distinct_keys=events.keys)
    return {
        "auto": optimize(asked, engine="stream"),
        "told": told,
        NATIVE.name: optimize(asked, engine="stream", operator="native"),
        BUCKETED.name: optimize(asked, engine="stream", operator="bucketed"),
    }


def _results(rows: DataFrame, plans: Mapping[str, Plan], stream: Stream) -> dict[str, DataFrame]:
    from muntin.engines.spark.own_windows import run_own_windows

    ours = {side: plan.apply(rows, watermark=WATERMARK) for side, plan in plans.items()}
    return {
        **ours,
        OWN: run_own_windows(rows.withWatermark("ts", WATERMARK), query_of(stream.windows)),
    }


def summary(races: Sequence[Raced]) -> str:
    """The three promises, and how far they were kept."""
    near = sum(race.to_best <= NEAR for race in races)
    slower = sum(race.to_own > SLOWER for race in races)
    worse = sum(race.of("told") > race.of("auto") for race in races)
    return (
        f"auto is within {NEAR - 1:.0%} of the best in {near} of {len(races)}; "
        f"told the truth it is slower in {worse}; "
        f"it is slower than Spark's own by more than {SLOWER - 1:.0%} in {slower}"
    )


def _table(found: Mapping[str, Raced]) -> Table:
    table = new_table(
        "auto against every named choice", "<stream", "<side", "seconds", "<taken by", "to auto"
    )
    for name, race in found.items():
        auto = race.of("auto")
        for i, (side, seconds) in enumerate(race.seconds.items()):
            who = [word for word, own in (("auto", race.auto), ("told", race.told)) if own == side]
            table.add_row(
                "" if i else name,
                side,
                f"> {PATIENCE * auto:.0f}" if seconds is None else f"{seconds:.1f}",
                " ".join(who),
                f"> {PATIENCE:.2f}×" if seconds is None else f"{seconds / auto:.2f}×",
            )
        table.add_section()
    return table

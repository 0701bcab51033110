"""stages: what a batch, or a later batch of a stream, spends its time on, beside its floor.

The sides are the floor and `auto`, told nothing; on a stream the other operator, too. Each run is
cut where Spark says, in its event log and its progress, that something begins or ends:

    the call, or planning, log and offsets   what comes first
    until stage 1                            what is left of the time before it
    stage 1, 2, …                            from its submission until its last task ends
    else                                     between stages and after the last

The call is mt.aggregate until it returns. The middle of all rounds, or batches, is shown for each
part, so parts need not add up to the whole. Tasks' processor time is that of the JVM's own threads
of tasks; what Python takes is not in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import time
from typing import TYPE_CHECKING, Any

from rich.console import Console

from lab.benchmarks import batch, stream
from lab.benchmarks.workload import Events
from lab.registry import Options
from lab.report import new_table
from lab.timing import machine, start_spark
from muntin.api import aggregate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SETS = ("mixed", "hundred", "20,000 keys", "500,000 keys", "mixed-100", "overlap-100")
"""Those of `batch` and `stream` in which no side takes more than some seconds."""
LEFT_OUT = "direct"
"""A stream of Spark's own windows may take minutes."""
WARM = 3
UNTIL, ELSE, WHOLE = "until stage 1", "else", "in all"
CPU = "internal.metrics.executorCpuTime"
LOG = ("latestOffset", "getBatch", "walCommit")

Parts = Mapping[str, tuple[float, float | None]]
"""The seconds of every part, and the processor time of those that are stages."""


@dataclass(frozen=True, slots=True)
class Run:
    """A call of a side, or a batch of a stream: when it began and ended, in seconds since 1970,
    and how long each part took that came before all stages."""

    set: str
    side: str
    begun: float
    ended: float
    before: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Stage:
    """From when to when a stage ran, and the processor time of its tasks, in seconds."""

    begun: float
    ended: float
    cpu: float


def run(options: Options, console: Console) -> None:
    """Run all sides of each set, and print the parts of each."""
    with TemporaryDirectory() as folder:
        log = {"enabled": "true", "dir": Path(folder).as_uri(), "compress": "false"}
        conf = {f"spark.eventLog.{key}": value for key, value in log.items()}
        spark = start_spark(console, conf=conf)
        console.print(f"{options.repeat} rounds; {machine()}, Spark {spark.version}")
        found: list[Run] = []
        for name in options.choose(SETS, "set"):
            sides = batches if name in batch.SCENARIOS else _streams
            found += sides(name, spark, options)
        spark.stop()
        stages = list(stages_of(logged(Path(folder))))
    columns = ("<set", "<side", "<part", "seconds|.2f", "tasks' processor time, s|.2f")
    console.print(new_table("", *columns, rows=list(table_rows(found, stages)), group=2))


def batches(name: str, spark: SparkSession, options: Options) -> Iterator[Run]:
    """Both sides in turn, after some rounds to warm up."""
    scenario = batch.SCENARIOS[name]
    path = Events(rows=options.rows // scenario.part, keys=scenario.keys).file(options.data)
    events, asked = batch.events_of(spark, path, scenario), batch.asked_of(scenario)
    sides: dict[str, Callable[[], DataFrame]] = {
        "auto": lambda: aggregate(events, asked.time, asked.windows, asked.aggregates, asked.keys),
        batch.MINUTES: lambda: batch.minutes(events, scenario),
    }
    for turn in range(-WARM, options.repeat):
        for side, call in sides.items():
            begun = time()
            rows = call()
            called = time() - begun
            batch.to_nowhere(rows)
            if turn >= 0:
                yield Run(name, side, begun, time(), {"the call": called})


def _streams(name: str, spark: SparkSession, options: Options) -> Iterator[Run]:
    events = Events(rows=min(options.rows, 2_000_000), keys=stream.SCENARIOS[name][1])
    files = stream.slice_files(events, options.data)
    sides = stream.sides_of(stream.read_files(spark, files), name)
    for turn in range(-1, options.repeat):
        for side, result in sides.items():
            if side != LEFT_OUT:
                _, _, progress = stream.run_files(result, None)
                if turn >= 0:
                    yield from (batch_of(each, name, side) for each in progress[1:])


def batch_of(progress: Mapping[str, Any], name: str, side: str) -> Run:
    """A batch as Spark tells of it."""
    begun = datetime.fromisoformat(progress["timestamp"]).timestamp()
    took = {part: milliseconds / 1e3 for part, milliseconds in progress["durationMs"].items()}
    logged = sum(took.get(part, 0.0) for part in LOG)
    before = {"planning": took.get("queryPlanning", 0.0), "log and offsets": logged}
    return Run(name, side, begun, begun + took["triggerExecution"], before)


def logged(folder: Path) -> Iterator[dict[str, Any]]:
    """What Spark wrote down; beside it lie checksums, and empty files."""
    for file in sorted(folder.rglob("events_*")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def stages_of(events: Iterable[dict[str, Any]]) -> Iterator[Stage]:
    """The stages that ended."""
    for event in events:
        if event["Event"] == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            cpu = sum(int(a["Value"]) for a in info["Accumulables"] if a.get("Name") == CPU)
            begun, ended = info["Submission Time"], info["Completion Time"]
            yield Stage(begun / 1e3, ended / 1e3, cpu / 1e9)


def table_rows(
    runs: Sequence[Run], stages: Sequence[Stage]
) -> Iterator[tuple[str, str, str, float, float | None]]:
    """Set, side, part, its seconds and processor time: medians of the rounds."""
    for name, side in dict.fromkeys((run.set, run.side) for run in runs):
        rounds = [parts_of(r, stages) for r in runs if (r.set, r.side) == (name, side)]
        for part in max(rounds, key=len):
            seconds, cpu = zip(*(each[part] for each in rounds if part in each), strict=True)
            used = [each for each in cpu if each is not None]
            yield name, side, part, median(seconds), median(used) if used else None


def parts_of(run: Run, stages: Sequence[Stage]) -> Parts:
    """What a run is cut into."""
    own = [s for s in stages if run.begun <= s.begun and s.ended <= run.ended]
    parts: dict[str, tuple[float, float | None]] = {p: (s, None) for p, s in run.before.items()}
    last, between = run.begun + sum(run.before.values()), 0.0
    for number, stage in enumerate(sorted(own, key=lambda stage: stage.begun), start=1):
        waited = max(stage.begun - last, 0.0)
        if number == 1:
            parts[UNTIL] = waited, None
        else:
            between += waited
        parts[f"stage {number}"] = stage.ended - max(stage.begun, last), stage.cpu
        last = stage.ended
    parts[ELSE] = between + run.ended - last, None
    parts[WHOLE] = run.ended - run.begun, None
    return parts

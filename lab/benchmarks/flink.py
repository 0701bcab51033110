"""flink: the same csv files by Flink SQL, and by a stream of Muntin and its floor on Spark.

Flink lives in a Python of its own, which MUNTIN_FLINK names (`python -m venv /tmp/flink`,
`/tmp/flink/bin/pip install apache-flink`, `MUNTIN_FLINK=/tmp/flink/bin/python`). Where there is
none, only Spark's sides run, and the page says so. Flink has no micro-batches: it reads the same
files in one go, all windows in one job (`flink_job.py`); its state is in memory, Spark's in RocksDB
with a checkpoint after every batch. Spark's sides run twice, a file in a batch and all files in one
batch. All are started and warmed up before they are timed.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from pyarrow import csv, string
from rich.console import Console

from lab.benchmarks.stream import BATCHES, FLOOR, WATERMARK, run_side, slice_files
from lab.benchmarks.workload import SETS, Events, query_of
from lab.registry import Options
from lab.report import new_table
from lab.timing import machine, start_spark
from muntin.api import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PYTHON = "MUNTIN_FLINK"
SCENARIOS = {"mixed-100": ("mixed", 100), "mixed-20000": ("mixed", 20_000)}
MINUTE = 60_000_000


def run(options: Options, console: Console) -> None:
    """Time Flink and Spark's sides on each set, and print medians and ratios to Flink."""
    rows = min(options.rows, 2_000_000)
    spark = start_spark(console)
    console.print(
        f"{rows:,} events in {BATCHES} csv files; {machine()}, Spark {spark.version}, "
        f"Flink by {os.environ.get(PYTHON) or 'nothing'}"
    )
    for name in options.choose(SCENARIOS, "set"):
        windows, keys = SCENARIOS[name]
        folder, few = (
            csv_files(slice_files(Events(rows=n, keys=keys), options.data))
            for n in (rows, rows // 20)
        )
        ours = _spark_sides(spark, windows, folder, few, options.repeat)
        theirs = run_flink(windows, folder, few, options.repeat)
        _report(name, ours, theirs, console)
    spark.stop()


def csv_files(folder: Path) -> Path:
    """The same events as csv, with the times of the files they come from."""
    made = folder.with_name(f"{folder.name}-csv")
    if not made.exists():
        unfinished = made.with_name(f"{made.name}.{os.getpid()}")
        unfinished.mkdir()
        for file in sorted(folder.glob("*.parquet")):
            table = pq.read_table(file)
            ts = table.column("ts").cast("timestamp[us]").cast(string())
            target = unfinished / f"{file.stem}.csv"
            plain = csv.WriteOptions(include_header=False, quoting_style="none")
            csv.write_csv(table.set_column(0, "ts", ts), target, plain)
            os.utime(target, (file.stat().st_mtime,) * 2)
        unfinished.rename(made)
    return made


@dataclass(frozen=True, slots=True)
class Flink:
    """A version of Flink, and the seconds of its rounds."""

    version: str
    seconds: list[float]


def run_flink(windows: str, folder: Path, few: Path, rounds: int) -> Flink | str:
    """Flink's rounds, or why there are none."""
    python = os.environ.get(PYTHON)
    if not python:
        return f"Flink is absent: {PYTHON} names no Python with apache-flink"
    shapes = [f"{w.range // MINUTE}:{w.slide // MINUTE}" for w in SETS[windows]]
    job = Path(__file__).with_name("flink_job.py")
    command = [python, str(job), str(folder), str(few), str(rounds), *shapes]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return f"Flink is absent: {python} cannot be run ({error})"
    if done.returncode:
        return f"Flink is absent or failed: {(done.stderr.strip() or '?').splitlines()[-1]}"
    said = json.loads(done.stdout.splitlines()[-1])
    return Flink(said["version"], [float(each) for each in said["seconds"]])


def _spark_sides(
    spark: SparkSession, windows: str, folder: Path, few: Path, repeat: int
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for turn in range(repeat + 1):
        for files in (1, BATCHES):
            stream = _stream(spark, folder if turn else few, files)
            for name, result in _sides(stream, windows).items():
                seconds = run_side(result, None).seconds
                if turn:
                    side = f"{name}, {BATCHES // files} batch{'es' if files < BATCHES else ''}"
                    found.setdefault(side, []).append(seconds)
    return found


def _stream(spark: SparkSession, folder: Path, files: int) -> DataFrame:
    reader = spark.readStream.schema("ts timestamp, device int, value double")
    return reader.option("maxFilesPerTrigger", files).csv(str(folder))


def _sides(stream: DataFrame, windows: str) -> dict[str, DataFrame]:
    from muntin.engines.spark.own_windows import run_own_windows

    floor = run_own_windows(stream.withWatermark("ts", WATERMARK), query_of("single"))
    plan = optimize(query_of(windows), engine="stream")
    return {FLOOR: floor, "auto": plan.apply(stream, watermark=WATERMARK)}


def _report(name: str, ours: dict[str, list[float]], theirs: Flink | str, console: Console) -> None:
    table = new_table(name, "<side", "median", "rounds", "Flink is")
    for side, each in ours.items():
        ratio = "–" if isinstance(theirs, str) else f"{median(theirs.seconds) / median(each):.2f}×"
        table.add_row(side, f"{median(each):.1f} s", _rounds(each), ratio)
    if not isinstance(theirs, str):
        own = theirs.seconds
        table.add_row(f"Flink SQL {theirs.version}", f"{median(own):.1f} s", _rounds(own), "")
    console.print(table)
    if isinstance(theirs, str):
        console.print(theirs)


def _rounds(seconds: list[float]) -> str:
    return " ".join(f"{each:.1f}" for each in seconds)

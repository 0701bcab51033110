"""Timing on this machine: all sides in turn, so that other load is unfair to none of them.

One round to warm up, then the rounds that count, each in an order of its own: a side that always
came after the same other one would find what that left, such as compiled code or a full heap. A
side is judged by its median.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def cores() -> int:
    """The cores that this process may use."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return allowed or 1


def machine() -> str:
    """Cores, memory and Python: a figure is never read without them."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = platform.python_version()
    return f"{cores()} cores, {memory:.0f} GiB, {platform.system()}, Python {python}"


def start_spark(
    console: Console, name: str = "muntin bench", conf: Mapping[str, str] | None = None
) -> SparkSession:
    """A session on this machine."""
    from muntin.engines.spark.session import quiet_start, session

    with console.status("starting Spark"), quiet_start():
        return session(name, conf=conf)


@dataclass(frozen=True, slots=True)
class Times:
    """The seconds of every round of one side, and how many rows it gave."""

    seconds: tuple[float, ...]
    rows: int

    @property
    def median(self) -> float:
        """The middle round."""
        return median(self.seconds)

    @property
    def rounds(self) -> str:
        """All rounds as text."""
        return " ".join(f"{s:.2f}" for s in self.seconds)


def race(
    sides: Mapping[str, Callable[[], int]], repeat: int, title: str = "", warm_up: bool = True
) -> dict[str, Times]:
    """Run all sides in turn, `repeat` times after a warm-up; a side returns its number of rows.

    >>> times = race({"a": lambda: 1, "b": lambda: 1}, repeat=3)
    >>> [len(each.seconds) for each in times.values()]
    [3, 3]
    >>> race({}, repeat=3)
    {}
    """
    if not sides:
        return {}
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    rows: dict[str, int] = {}
    order, random = list(sides), Random(len(sides))
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    beside = Console(stderr=True)  # results go to the output, the bar does not
    with Progress(
        TextColumn("{task.description}"), *columns, transient=True, console=beside
    ) as bar:
        task = bar.add_task(title, total=len(sides) * (repeat + warm_up))
        for turn in range(0 if warm_up else 1, repeat + 1):
            for name in order if not turn else random.sample(order, len(order)):
                bar.update(task, description=f"{title} {name}")
                begun = perf_counter()
                rows[name] = sides[name]()
                if turn:
                    seconds[name].append(perf_counter() - begun)
                bar.advance(task)
    return {name: Times(tuple(seconds[name]), rows[name]) for name in sides}

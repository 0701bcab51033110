"""Interleaved timing: every side runs in turn, so that a busy machine is unfair to none.

One round to warm up, then the rounds that count, each begun by another side; a side is judged by
its median.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@dataclass(frozen=True, slots=True)
class Times:
    """The seconds of every round of one side, and how many rows it gave."""

    seconds: tuple[float, ...]
    rows: int

    @property
    def median(self) -> float:
        """The middle round."""
        return median(self.seconds)


def race(
    sides: Mapping[str, Callable[[], int]], repeat: int, title: str = "", warm_up: bool = True
) -> dict[str, Times]:
    """Run all sides in turn, `repeat` times after a warm-up; a side returns its number of rows.

    >>> times = race({"a": lambda: 1, "b": lambda: 1}, repeat=3)
    >>> [len(each.seconds) for each in times.values()]
    [3, 3]
    """
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    rows: dict[str, int] = {}
    order = list(sides)
    with _bar() as bar:
        task = bar.add_task(title, total=len(sides) * (repeat + warm_up))
        for turn in range(0 if warm_up else 1, repeat + 1):
            for name in order[turn % len(order) :] + order[: turn % len(order)]:
                bar.update(task, description=f"{title} {name}")
                begun = perf_counter()
                rows[name] = sides[name]()
                if turn:
                    seconds[name].append(perf_counter() - begun)
                bar.advance(task)
    return {name: Times(tuple(seconds[name]), rows[name]) for name in sides}


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        transient=True,
        console=Console(stderr=True),  # results go to the output, the bar does not
    )

"""as-of-choice: how many rows it takes for our frames to be faster than Spark's own.

Both operators of mt.as_of on events of 30 days, from a thousand to some hundred thousand of them,
over many keys and few. From the medians it fits the constants by which `auto` decides
(`muntin.physical.operators.frames`: KERNEL_SECONDS, OWN_SECONDS), so that relative errors are
least, and says what `auto` takes by those that it has, and what it would take by the fitted ones.

To apply a fit, run all cases on a free machine and put the two lines that are printed last into
`src/muntin/physical/operators/frames.py`. A fit of few cases means little: each constant needs
cases that differ in what it counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from lab.benchmarks.as_of import AGGREGATES, SPAN, events_file, to_nowhere
from lab.registry import Options
from lab.report import new_table
from lab.timing import Times, machine, race, start_spark
from muntin.aggregates import Aggregate
from muntin.api import as_of
from muntin.cost.statistics import SECOND, Statistics
from muntin.model.as_of import AsOf, as_of_query
from muntin.physical.operators.frames import KERNEL_SECONDS, OWN_SECONDS, count_work, predict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Constants = tuple[Sequence[float], Sequence[float]]
Found = Mapping[str, Mapping[str, Times]]
OPERATORS = ("frames", "range")
ALL = ("5 minutes", "1 hour", "1 day", "7 days")


@dataclass(frozen=True, slots=True)
class Case:
    """So many events of so many keys, and the windows that are asked for."""

    rows: int
    keys: int
    windows: tuple[str, ...] = ALL
    aggregates: Sequence[Aggregate] = AGGREGATES

    @property
    def asked(self) -> AsOf:
        """The question about them."""
        return as_of_query("ts", self.windows, self.aggregates, "device")

    @property
    def statistics(self) -> Statistics:
        """What is true of them."""
        return Statistics(float(self.rows), float(self.keys), self.rows / (SPAN / SECOND))


CASES = {
    "1,000 rows, one count": Case(1_000, 10, ("1 day",), AGGREGATES[:1]),
    "1,000 rows, short": Case(1_000, 10, ("5 minutes",)),
    "1,000 rows": Case(1_000, 10),
    "10,000 rows, short": Case(10_000, 10, ("5 minutes",)),
    "10,000 rows": Case(10_000, 10),
    "10,000 rows, one key": Case(10_000, 1),
    "100,000 rows, short": Case(100_000, 1_000, ("5 minutes",)),
    "100,000 rows": Case(100_000, 1_000),
    "100,000 rows, 50 keys": Case(100_000, 50, ("5 minutes", "1 day")),
    "300,000 rows": Case(300_000, 10_000),
}


def run(options: Options, console: Console) -> None:
    """Time both operators on each case, and print them with what fits best."""
    spark = start_spark(console)
    console.print(f"{machine()}, Spark {spark.version}")
    chosen = {name: CASES[name] for name in options.choose(CASES, "set")}
    found = {name: _race(spark, name, case, options) for name, case in chosen.items()}
    spark.stop()
    print_results(chosen, found, console)


def print_results(cases: Mapping[str, Case], found: Found, console: Console) -> None:
    """The table, what wrong choices cost, and the constants that fit best."""
    now = (KERNEL_SECONDS, OWN_SECONDS)
    fitted = (_fitted(cases, found, 0), _fitted(cases, found, 1))
    console.print(_table(cases, found, fitted))
    for words, constants in (("auto", now), ("auto with the fitted constants", fitted)):
        wrong, lost = _regret(cases, found, constants)
        console.print(f"{words}: {wrong} of {len(cases)} wrong, {lost:.2f} s lost by that")
    if missing := sum(constant == 0 for each in fitted for constant in each):
        console.print(f"constants at 0, since these cases do not tell them apart: {missing}")
    for name, own, known in zip(("KERNEL_SECONDS", "OWN_SECONDS"), fitted, now, strict=True):
        console.print(f"{name} = {_text(own)}  # now {_text(known)}", highlight=False)


def _fitted(cases: Mapping[str, Case], found: Found, place: int) -> tuple[float, ...]:
    amounts = [count_work(case.asked, case.statistics)[place] for case in cases.values()]
    return fit(amounts, [list(found[name].values())[place].median for name in cases])


def _regret(cases: Mapping[str, Case], found: Found, constants: Constants) -> tuple[int, float]:
    """How often the slower operator is taken, and the seconds that this costs together."""
    wrong, lost = 0, 0.0
    for name, case in cases.items():
        seconds = [each.median for each in found[name].values()]
        taken = seconds[OPERATORS.index(_choice(case, constants))]
        wrong += taken > min(seconds)
        lost += taken - min(seconds)
    return wrong, lost


def _choice(case: Case, constants: Constants) -> str:
    kernel, own = predict(case.asked, case.statistics, *constants)
    return OPERATORS[own < kernel]


def _race(spark: SparkSession, name: str, case: Case, options: Options) -> dict[str, Times]:
    events = spark.read.parquet(str(events_file(case.rows, case.keys, options.data)))
    asked = case.windows, case.aggregates

    def frames() -> int:
        return to_nowhere(as_of(events, "ts", *asked, "device", operator="frames"))

    def own() -> int:
        return to_nowhere(as_of(events, "ts", *asked, "device", operator="range"))

    return race({"frames": frames, "range": own}, options.repeat, name)


def fit(amounts: Sequence[Sequence[float]], seconds: Sequence[float]) -> tuple[float, ...]:
    """The seconds of one of each amount, none negative, with the least relative errors.

    >>> [round(each, 3) for each in fit([(1, 10), (1, 100)], [0.3, 1.2])]
    [0.2, 0.01]
    """
    matrix = np.asarray(amounts) / np.asarray(seconds)[:, None]
    used = list(range(matrix.shape[1]))
    found = np.zeros(matrix.shape[1])
    while used:
        solved = np.linalg.lstsq(matrix[:, used], np.ones(len(seconds)), rcond=None)[0]
        solved[abs(solved) * matrix[:, used].max(axis=0) < 1e-9] = 0.0  # what rounding leaves
        if (solved >= 0).all():
            found[used] = solved
            break
        used.pop(int(np.argmin(solved)))
    return tuple(found.tolist())


def _text(constants: Sequence[float]) -> str:
    return "(" + ", ".join(f"{each:.2g}" for each in constants) + ")"


def _table(cases: Mapping[str, Case], found: Found, fitted: Constants) -> Table:
    table = new_table(
        "trailing windows, seconds", "<case", "keys", "frames", "predicted", "range", "predicted",
        "<faster", "<auto", "<fitted",
    )  # fmt: skip
    for name, case in cases.items():
        ours, own = (each.median for each in found[name].values())
        kernel, ranged = predict(case.asked, case.statistics)
        table.add_row(
            name,
            f"{case.keys:,}",
            f"{ours:.2f}",
            f"{kernel:.2f}",
            f"{own:.2f}",
            f"{ranged:.2f}",
            OPERATORS[own < ours],
            _choice(case, (KERNEL_SECONDS, OWN_SECONDS)),
            _choice(case, fitted),
        )
    return table

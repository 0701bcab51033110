"""omega, part stream: partials that a stream reads a result, predicted and counted.

One window W(r, 1) over slices of 1, on one bucket of the bucketed operator with one key. A step
emits `due` instances; before one of ten steps a late row falls anywhere into the window. Once the
window is full, what evaluating and combining take up is counted over a flip of two stacks or
longer, and over 400 steps at least. `muntin.physical.due_techniques` predicts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import pyarrow as pa
from rich.console import Console
from rich.table import Table

from lab.registry import Options
from lab.report import new_table, write_files
from muntin.aggregates.columns import PartialColumn
from muntin.kernels.tree import Branch
from muntin.model.windows import Window
from muntin.physical.due_techniques import LATE, TECHNIQUES, Kept, predict_partials
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import Cut, Slices
from muntin.state.bucket import Bucket
from muntin.state.spec import Spec
from muntin.state.store import MemoryStore

OVERLAPS = (60, 600, 3_600, 36_000)
UNITS = Slices((Cut(1, 0),))
"""Slices of 1."""
LEAST = 400
"""Steps that are counted, at least."""
DUE = 10
"""Instances that a step emits: a slide of a second, and a step every ten."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Partials a result by one technique; `overlap` is the range of the widest window."""

    overlap: int
    technique: str
    predicted: float
    counted: float


def read_partials(
    technique: str, windows: Sequence[Window], due: int, late: float, seed: int = 1
) -> Reading:
    """Windows by one technique, both predicted and counted."""
    kept = [Kept(UNITS, tuple(windows))]
    predicted = predict_partials(kept, technique, step=due, late=late)
    counted = count_partials(technique, windows, due, late, Random(seed))
    return Reading(max(w.range for w in windows), technique, predicted, counted)


def count_partials(
    technique: str, windows: Sequence[Window], due: int, late: float, random: Random
) -> float:
    """Partials that a bucket takes up for a result, once its windows are full."""
    taken, cache, store = list[int](), dict[str, pa.Table](), MemoryStore()
    branches = (Branch(i, window, asked=True) for i, window in enumerate(windows, start=1))
    base, widest = Base(0, UNITS, tuple(branches)), max(w.range for w in windows)
    partials = (PartialColumn("p0", "", "", "sum"),)
    spec = Spec((base,), ("k0",), partials, technique=technique, taken=taken.append)

    def step(starts: Sequence[int], watermark: int) -> int:
        found = Bucket(spec, 0, store, cache).step([_pieces(starts)], watermark).results
        return sum(table.num_rows for table in found)

    clock, results = 2 * widest, 0
    step(range(clock), clock - due)
    step([clock - 1], clock)
    taken.clear()
    end = clock + max(widest, LEAST * due)
    while clock < end:
        fresh = list(range(clock, clock + due))
        if random.random() < late:
            fresh.append(random.randrange(clock + due - widest, clock))
        clock += due
        results += step(fresh, clock)
    return sum(taken) / results


def _pieces(starts: Sequence[int]) -> pa.Table:
    count = len(starts)
    columns = {"node": pa.array([0] * count, pa.int32()), "start": pa.array(starts, pa.int64())}
    return pa.table({**columns, "k0": ["a"] * count, "p0": pa.array([1] * count, pa.int64())})


def compare_reading(options: Options, console: Console) -> list[Reading]:
    """Every technique on every overlap: print both figures, write them if asked."""
    found = []
    for overlap in OVERLAPS:
        for technique in TECHNIQUES:
            with console.status(f"counting partials: {technique}, {overlap:,} slices"):
                found.append(
                    read_partials(technique, [Window(overlap, 1)], DUE, LATE, options.seed)
                )
    console.print(_table(found))
    write_files(options.out, console, {"omega-stream.csv": found}, {})
    return found


def _table(found: Sequence[Reading]) -> Table:
    rows = [(f"{each.overlap:,}", each.technique, each.predicted, each.counted) for each in found]
    title = f"partials a result, {DUE} results a step, {LATE:.0%} with a late row"
    columns = ("slices", "<technique", "predicted|,.1f", "counted|,.1f")
    return new_table(title, *columns, rows=rows, group=1)

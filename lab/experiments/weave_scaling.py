"""Figure 16: how long WeaveShare takes to plan, by bit set and by F1, up to a million queries.

Slides are drawn from the 448 factors of 8,648,640, the smallest number with so many. Three ways:

    ungrouped    every query begins as a tree; edges by bit set, one composite slide a look
    bit set      queries with equal slides begin as one tree
    F1           the same, edges by `by_residues`, which is not shown the composite slide

All three give the same plan. The paper reaches 550 queries by bit set and 1,000,000 by F1; here
few edges are counted at all, as gains are bounded first (`weaving.greedy_merging`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

from lab.experiments.weave_runs import woven
from lab.experiments.weave_workload import Setting, workload
from muntin.plan.slicing import Slices
from muntin.plan.slicing import edges as counting

NUMBER = 8_648_640
SIZES = (10, 100, 300, 1_000, 10_000, 100_000, 1_000_000)
UNGROUPED = 300
"""Most queries planned without grouping: the whole bit set is marked for every look."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One plan."""

    queries: int
    way: str
    seconds: float
    trees: int
    cost: float


def bit_set(slices: Slices) -> float:
    """Edges by marking the composite slide."""
    return float(counting.by_bit_set(slices.cuts))


def f1(slices: Slices) -> float:
    """Edges by formula."""
    return float(counting.by_residues(slices.cuts))


WAYS = {"ungrouped": (False, bit_set), "bit set": (True, bit_set), "F1": (True, f1)}


def timings(seed: int, sizes: tuple[int, ...] = SIZES) -> Iterator[Timing]:
    """Plan each number of queries each way, from scratch."""
    for size in sizes:
        queries = workload(Setting(size, NUMBER, o_max=10), seed)
        for way, (grouped, edges) in WAYS.items():
            if not grouped and size > UNGROUPED:
                continue
            counting.forget()
            begun = perf_counter()
            cost, trees = woven(queries, 10.0, "panes", grouped=grouped, edges=edges)
            yield Timing(size, way, perf_counter() - begun, trees, cost)

"""open-slices: windows that end within slices, by shared pairs and by open slices (`cutty`).

Both read the same pieces, cut where windows begin and end, a piece of every one, four partials:
what Spark sends to its workers. Shared pairs scan all of them for each window; open slices combine
them once into slices that are cut where windows begin, keep the running partial of each, and scan
these. `reads` are the steps that the kernel's cost counts, `measured` the time of both in one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from rich.console import Console

from lab.benchmarks.kernel import PARTIALS
from lab.registry import Options
from lab.report import new_table
from lab.timing import machine
from muntin.aggregates import count
from muntin.cost import Statistics
from muntin.kernels.pieces import Pieces
from muntin.kernels.tree import evaluate_tree
from muntin.model.query import query
from muntin.model.windows import Window
from muntin.physical import FROM_SOURCE, PhysicalPlan, Question, lower
from muntin.physical.operators.kernel import KERNEL, branches_below, read
from muntin.plan.slicing import Slices
from muntin.planner.strategies import STRATEGIES, Problem

SECOND = 1_000_000
PIECES, KEYS = 64_000, 20
"""A portion, as the operator takes it."""
SETS: dict[str, tuple[tuple[int, int], ...]] = {
    "one": ((840, 480),),
    "two of one slide": ((135, 60), (217, 60)),
    "five of one slide": tuple((60 * (i + 2) + 7 * i + 1, 60) for i in range(5)),
    "ten of one slide": tuple((60 * (i + 2) + 5 * i + 1, 60) for i in range(10)),
    "three of three slides": ((14, 8), (12, 4), (25, 10)),
    "four of four slides": ((12, 9), (10, 6), (60, 18), (50, 7)),
    "twenty of four slides": tuple(
        (60 * (i % 4 + 1) * 3 + 2 * i + 1, 60 * (i % 4 + 1)) for i in range(20)
    ),
}
"""Ranges and slides in seconds."""


def run(options: Options, console: Console) -> None:
    """Time every set of windows by both strategies."""
    table = new_table(
        f"{PIECES:,} pieces of {KEYS} keys, {len(PARTIALS)} partials; {machine()}",
        *("<windows", "results", "pairs, ns a result", "open, ns a result"),
        *("open / pairs", "reads, open / pairs"),
    )
    for name in options.choose(SETS, "set"):
        seconds, results, reads = {}, 0, {}
        for strategy in ("shared-pairs", "cutty"):
            physical = plan_of(name, strategy)
            seconds[strategy], results = time_plan(physical, max(options.repeat, 3))
            reads[strategy] = count_steps(physical)
        each = [seconds[s] / results * 1e9 for s in ("shared-pairs", "cutty")]
        table.add_row(
            *(name, f"{results:,}", f"{each[0]:.0f}", f"{each[1]:.0f}"),
            *(f"{each[1] / each[0]:.2f}", f"{reads['cutty'] / reads['shared-pairs']:.2f}"),
        )
    console.print(table)


def plan_of(name: str, strategy: str) -> PhysicalPlan:
    """A set of windows by a strategy, as the kernel runs it."""
    windows = [Window(r * SECOND, s * SECOND, id=f"{r}/{s}") for r, s in SETS[name]]
    question = _question(windows)
    problem = Problem(question.query.windows, False, KERNEL.surrogate(question))
    return lower(KERNEL.rewrite(STRATEGIES[strategy](problem), question))


def count_steps(physical: PhysicalPlan) -> float:
    """Partials scanned and combined below the first level, by the kernel's cost."""
    windows = [n.shape for n in physical.outputs if isinstance(n.shape, Window)]
    question = _question(windows)
    below = (node for node in physical.nodes if node.parent != FROM_SOURCE)
    return sum(read(physical, node, question) for node in below)


def _question(windows: Sequence[Window]) -> Question:
    """Windows over so many rows that every key has some in every piece."""
    return Question(query("ts", windows, [count()], keys="k"), Statistics(1e9, KEYS, 1e6))


def time_plan(physical: PhysicalPlan, repeat: int) -> tuple[float, int]:
    """The best round of evaluating a plan, and how many results it has."""
    [root], best = physical.roots, float("inf")
    assert isinstance(root.shape, Slices), "both strategies begin with slices"
    pieces, branches = pieces_of(root.shape), branches_below(physical, root)
    for _ in range(repeat):
        begun = perf_counter()
        found = list(evaluate_tree(branches, pieces, PARTIALS))
        best = min(best, perf_counter() - begun)
    return best, sum(len(results.start) for results in found)


def pieces_of(slices: Slices) -> Pieces:
    """Every piece of every key, from instant 0 on."""
    each, span = PIECES // KEYS, max(cut.step for cut in slices.cuts)
    starts = np.zeros(0, dtype=np.int64)
    while len(starts) < each:
        span *= 2
        starts = np.unique(
            np.concatenate([np.arange(cut.phase, span, cut.step) for cut in slices.cuts])
        )
    start, group = np.tile(starts[:each], KEYS), np.repeat(np.arange(KEYS), each)
    values = np.random.default_rng(7).normal(20.0, 5.0, len(start))
    columns = ((values,), (values,), (values,), (np.ones(len(start), dtype=np.int64),))
    return Pieces(group, start, np.arange(len(start)), columns)

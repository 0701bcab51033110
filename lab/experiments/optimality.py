"""optimality: how far `steiner` and `wcg-fw` are from the true optimum, and how long they take.

500 random window sets from the four generators of the factor-windows paper (Algorithms 5 and 6), in
turn with overlapping and disjoint pieces, general and tumbling windows, and both costs. The optimum
is over all trees of windows (`optimum`), so the sets are small: general windows with s_max = 12 and
k_max = 6, tumbling ones with s_max = 32; 5 or 10 windows, 5 in chains and 12 in graphs. η = 10: at
high rates one pass over the source is nearly the whole cost, and gaps vanish. Under the rate cost
the unit is a minute, with as many keys as give the same ratio of events to partials.

A tenth as many sets show the regret of all strategies under the cost of each operator
(`optimality_regret`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from rich.console import Console
from rich.progress import track

from lab.experiments.generators import GENERATORS, Sizes
from lab.experiments.optimality_regret import regret_table, regrets
from lab.experiments.optimality_report import print_report, write_report
from lab.experiments.optimality_rows import Measured, Timed
from lab.experiments.optimum import optimum
from lab.experiments.options import Options
from muntin.cost import CostModel, PaperCost, RateCost, total
from muntin.model.windows import Window
from muntin.planner.strategies import Problem, strategy_named
from muntin.planner.strategies.coverage.steiner import window_tree

SETS = 500
MINUTE = 60_000_000
ETA = 10.0


@dataclass(frozen=True, slots=True)
class Case:
    """One planning problem and where it comes from."""

    generator: str
    shape: str
    problem: Problem


def run_optimality(options: Options, console: Console) -> list[Measured]:
    """Measure, print, and write into the folder if one is given."""
    count = options.sets or SETS
    numbers = track(range(count), "plans and optima", console=console, transient=True)
    found = [measure(case_number(number, options.seed)) for number in numbers]
    sizes = (10, 100, 1000) if count >= SETS else (10,)
    timed = [times(n, options.seed) for n in track(sizes, "times", console=console, transient=True)]
    print_report(found, timed, console)
    tenth = track(range(max(count // 10, 1)), "regrets", console=console, transient=True)
    console.print(regret_table([regrets(number, options.seed) for number in tenth]))
    if options.out is not None:
        write_report(found, options.out)
        console.print(f"\nwritten: {options.out}/optimality.csv and optimality.png")
    return found


def case_number(number: int, seed: int) -> Case:
    """All combinations of generator, pieces, shape and cost, in turn."""
    generator = list(GENERATORS)[number % 4]
    idempotent, general, paper = (number // step % 2 == 0 for step in (4, 8, 16))
    random = Random(f"optimality {number} {seed}")
    several = 5 if generator == "ChainGen" else random.choice((5, 10))
    count = 12 if generator == "RandomGraphGen" else several
    windows = GENERATORS[generator](random, count, Sizes(12, 6) if general else Sizes(32, 1))
    model: CostModel
    if paper:
        model = PaperCost(windows, ETA)
    else:
        windows = tuple(Window(w.range * MINUTE, w.slide * MINUTE) for w in windows)
        model = RateCost(rate=1000.0, keys=1000.0 * 60 / ETA)
    return Case(
        generator, "general" if general else "tumbling", Problem(windows, idempotent, model)
    )


def measure(case: Case) -> Measured:
    """Both strategies' costs and the optimum."""
    problem = case.problem
    greedy = total(problem.cost, strategy_named("wcg-fw")(problem))
    ours = total(problem.cost, window_tree(problem))
    return Measured(
        case.generator,
        case.shape,
        "overlapping" if problem.idempotent else "disjoint",
        problem.cost.name,
        len(problem.windows),
        greedy,
        ours,
        optimum(problem, known=min(ours, greedy)),
    )


def times(count: int, seed: int, strategies: Iterable[str] = ("wcg", "wcg-fw", "steiner")) -> Timed:
    """Processor time for so many windows: slides up to a day, ranges up to 24 slides."""
    random = Random(f"times {count} {seed}")
    drawn = GENERATORS["RandomGen"](random, count, Sizes(1440, 24))
    windows = tuple(Window(w.range * MINUTE, w.slide * MINUTE) for w in drawn)
    seconds, costs = {}, {}
    for idempotent in (True, False):
        problem = Problem(windows, idempotent, RateCost(rate=1000.0, keys=1000.0))
        for name in strategies:
            begin = time.process_time()
            plan = strategy_named(name)(problem)
            seconds[name, idempotent] = time.process_time() - begin
            costs[name, idempotent] = total(problem.cost, plan)
    return Timed(count, seconds, costs)

"""The regret of every strategy: what its plan costs above the optimum, operator by operator.

Strategies minimise what the operator that will run does on each edge (`muntin.cost.surrogates`).
Random sets of five windows come from the four generators of the factor-windows paper, in turn with
overlapping and disjoint pieces, general and tumbling; rows, keys and rate vary from slices that
hold few rows to slices that hold nearly all. The optimum is over all trees of windows and slices
(`optimum_slices`). Plans are priced as they run, with open slices closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

from rich.table import Table

from lab.experiments.generators import GENERATORS, Sizes
from lab.experiments.optimality_rows import Gaps
from lab.experiments.optimum_slices import optimum_with_slices
from muntin.cost import ExpandCost, KernelCost, Statistics, total
from muntin.model.windows import Window
from muntin.plan import close
from muntin.planner.strategies import STRATEGIES, Problem

MINUTE = 60_000_000
WINDOWS = 5
OPERATORS: dict[str, type[ExpandCost | KernelCost]] = {"expand": ExpandCost, "kernel": KernelCost}

Regrets = dict[tuple[str, str], float]
"""By strategy and operator, as a part of the optimum."""


def regret_problem(number: int, seed: int, operator: str) -> Problem:
    """All combinations of generator, pieces and shape, in turn; statistics at random."""
    random = Random(f"regret {number} {seed}")
    idempotent, tumbling = number // 4 % 2 == 0, number // 8 % 3 == 2
    sizes = Sizes(48, 1) if tumbling else Sizes(12, 6)
    drawn = list(GENERATORS.values())[number % 4](random, WINDOWS, sizes)
    known = Statistics(1e7, random.choice((10.0, 1e3, 1e4)), random.choice((10.0, 1e3)))
    windows = tuple(Window(w.range * MINUTE, w.slide * MINUTE) for w in drawn)
    return Problem(windows, idempotent, OPERATORS[operator](known, partials=3, width=6))


def regrets(number: int, seed: int) -> Regrets:
    """How far every strategy is from the optimum of one set of windows, for each operator."""
    found: Regrets = {}
    for operator in OPERATORS:
        problem = regret_problem(number, seed, operator)
        plans = {name: close(strategy(problem)) for name, strategy in STRATEGIES.items()}
        costs = {name: total(problem.cost, plan) for name, plan in plans.items()}
        least = optimum_with_slices(problem, known=min(costs.values()))
        found |= {(name, operator): cost / least - 1 for name, cost in costs.items()}
    return found


def regret_table(found: Iterable[Mapping[tuple[str, str], float]]) -> Table:
    """One row a strategy: the mean and the worst regret by each operator."""
    sets = list(found)
    title = f"\nRegret: cost above the optimum over all trees, {len(sets)} sets of 5 windows"
    table = Table(title=title, title_justify="left")
    table.add_column("strategy")
    for operator in OPERATORS:
        for column in ("mean", "worst", "optimal"):
            table.add_column(f"{operator}\n{column}", justify="right")
    for name in STRATEGIES:
        gaps = [Gaps.of([each[name, operator] for each in sets]) for operator in OPERATORS]
        cells = ((f"{g.mean:.2%}", f"{g.worst:.1%}", str(g.optimal)) for g in gaps)
        table.add_row(name, *(cell for each in cells for cell in each))
    return table

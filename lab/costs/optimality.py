"""optimality: how far `steiner` and `wcg-fw` are from the true optimum, and how long they take.

500 random window sets from the four generators of the factor-windows paper (Algorithms 5 and 6), in
turn with overlapping and disjoint pieces, general and tumbling windows, and both costs. The optimum
is over all trees of windows (`optimum`), so the sets are small: general windows with s_max = 12 and
k_max = 6, tumbling ones with s_max = 32; 5 or 10 windows, 5 in chains and 12 in graphs. η = 10: at
high rates one pass over the source is nearly the whole cost, and gaps vanish. Under the rate cost
the unit is a minute, with as many keys as give the same ratio of events to partials.

A tenth as many sets show the regret of every strategy: what its plan costs above the optimum over
all trees of windows and slices, operator by operator. Strategies minimise what the operator that
will run does on each edge (`muntin.cost.surrogates`). Sets have five windows; rows, keys and rate
vary from slices that hold few rows to slices that hold nearly all. Plans are priced as they run,
with open slices closed. Files: optimality.csv, optimality.png.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from rich.console import Console
from rich.progress import track
from rich.table import Table

from lab.costs.optimum import optimum, optimum_with_slices
from lab.factor_windows.workload import GENERATORS, Sizes
from lab.registry import Options
from lab.report import GREEN, ORANGE, group_by, new_table, picture, write_files
from muntin.cost import CostModel, ExpandCost, KernelCost, PaperCost, RateCost, Statistics, total
from muntin.model.windows import Window
from muntin.plan import close
from muntin.planner.strategies import STRATEGIES, Problem, strategy_named
from muntin.planner.strategies.coverage.steiner import window_tree

SETS = 500
MINUTE = 60_000_000
ETA = 10.0
PIECES = {True: "overlapping", False: "disjoint"}
"""By whether the aggregate is idempotent."""
EQUAL = 1e-7
"""Plans whose cost exceeds the optimum by less than this part count as optimal."""
OPERATORS: dict[str, type[ExpandCost | KernelCost]] = {"expand": ExpandCost, "kernel": KernelCost}


@dataclass(frozen=True, slots=True)
class Case:
    """One planning problem and where it comes from."""

    generator: str
    shape: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class Measured:
    """Costs of one planning problem."""

    generator: str
    shape: str
    pieces: str
    cost: str
    windows: int
    greedy: float
    ours: float
    least: float

    @property
    def gap(self) -> float:
        """How much `steiner` exceeds the optimum, as a part of it."""
        return self.ours / self.least - 1

    @property
    def greedy_gap(self) -> float:
        """How much `wcg-fw` exceeds the optimum."""
        return self.greedy / self.least - 1


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of processor time and costs, by strategy and whether pieces may overlap."""

    windows: int
    seconds: dict[tuple[str, bool], float]
    costs: dict[tuple[str, bool], float]


@dataclass(frozen=True, slots=True)
class Gaps:
    """A summary of several gaps.

    >>> Gaps.of([0.0, 0.0, 0.03])
    Gaps(sets=3, optimal=2, mean=0.01, worst=0.03)
    """

    sets: int
    optimal: int
    mean: float
    worst: float

    @staticmethod
    def of(gaps: Sequence[float]) -> Gaps:
        """The summary of these."""
        optimal = sum(gap < EQUAL for gap in gaps)
        return Gaps(len(gaps), optimal, sum(gaps) / len(gaps), max(gaps))


def run(options: Options, console: Console) -> list[Measured]:
    """Measure, print, and write into the folder if one is given."""
    count, seed = options.sets or SETS, options.seed
    numbers = track(range(count), "plans and optima", console=console, transient=True)
    found = [measure(case_number(number, seed)) for number in numbers]
    sizes = (10, 100, 1000) if count >= SETS else (10,)
    timed = [times(n, seed) for n in track(sizes, "times", console=console, transient=True)]
    console.print(gap_table(found))
    console.print(time_table(timed))
    tenth = track(range(max(count // 10, 1)), "regrets", console=console, transient=True)
    console.print(regret_table([regrets(number, seed) for number in tenth]))
    drawn = {"optimality.png": partial(_draw, found)}
    write_files(options.out, console, {"optimality.csv": found}, drawn)
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
        windows = _in_minutes(windows)
        model = RateCost(rate=1000.0, keys=1000.0 * 60 / ETA)
    shape = "general" if general else "tumbling"
    return Case(generator, shape, Problem(windows, idempotent, model))


def _in_minutes(windows: Iterable[Window]) -> tuple[Window, ...]:
    return tuple(Window(w.range * MINUTE, w.slide * MINUTE) for w in windows)


def measure(case: Case) -> Measured:
    """Both strategies' costs and the optimum."""
    problem = case.problem
    greedy = total(problem.cost, strategy_named("wcg-fw")(problem))
    ours = total(problem.cost, window_tree(problem))
    pieces, cost = PIECES[problem.idempotent], problem.cost.name
    kind = (case.generator, case.shape, pieces, cost, len(problem.windows))
    return Measured(*kind, greedy, ours, least=optimum(problem, known=min(ours, greedy)))


def times(count: int, seed: int) -> Timed:
    """Processor time for so many windows: slides up to a day, ranges up to 24 slides."""
    random = Random(f"times {count} {seed}")
    windows = _in_minutes(GENERATORS["RandomGen"](random, count, Sizes(1440, 24)))
    seconds, costs = {}, {}
    for idempotent in (True, False):
        problem = Problem(windows, idempotent, RateCost(rate=1000.0, keys=1000.0))
        for name in ("wcg", "wcg-fw", "steiner"):
            begin = time.process_time()
            plan = strategy_named(name)(problem)
            seconds[name, idempotent] = time.process_time() - begin
            costs[name, idempotent] = total(problem.cost, plan)
    return Timed(count, seconds, costs)


def regret_problem(number: int, seed: int, operator: str) -> Problem:
    """All combinations of generator, pieces and shape, in turn; statistics at random."""
    random = Random(f"regret {number} {seed}")
    idempotent, tumbling = number // 4 % 2 == 0, number // 8 % 3 == 2
    sizes = Sizes(48, 1) if tumbling else Sizes(12, 6)
    drawn = list(GENERATORS.values())[number % 4](random, 5, sizes)
    known = Statistics(1e7, random.choice((10.0, 1e3, 1e4)), random.choice((10.0, 1e3)))
    model = OPERATORS[operator](known, partials=3, width=6)
    return Problem(_in_minutes(drawn), idempotent, model)


def regrets(number: int, seed: int) -> dict[tuple[str, str], float]:
    """How far every strategy is from the optimum of one set of windows, for each operator."""
    found: dict[tuple[str, str], float] = {}
    for operator in OPERATORS:
        problem = regret_problem(number, seed, operator)
        plans = {name: close(strategy(problem)) for name, strategy in STRATEGIES.items()}
        costs = {name: total(problem.cost, plan) for name, plan in plans.items()}
        least = optimum_with_slices(problem, known=min(costs.values()))
        found |= {(name, operator): cost / least - 1 for name, cost in costs.items()}
    return found


def regret_table(sets: Sequence[Mapping[tuple[str, str], float]]) -> Table:
    """One row a strategy: the mean and the worst regret by each operator."""
    title = f"Regret: cost above the optimum over all trees, {len(sets)} sets of 5 windows"
    kinds = ("mean|.2%", "worst|.1%", "optimal")
    names = [f"{operator}\n{kind}" for operator in OPERATORS for kind in kinds]
    rows = []
    for name in STRATEGIES:
        gaps = [Gaps.of([each[name, operator] for each in sets]) for operator in OPERATORS]
        rows.append((name, *(cell for g in gaps for cell in (g.mean, g.worst, g.optimal))))
    return new_table(title, "<strategy", *names, rows=rows)


def gap_table(found: Sequence[Measured]) -> Table:
    """One row a generator and kind of pieces, and one for all."""
    parts = sorted(group_by(found, lambda m: (m.generator, m.shape, m.pieces)).items())
    costs = group_by(found, lambda m: m.cost).items()
    all_of = [((f"all, {cost}", "", ""), mine) for cost, mine in costs]
    rows = []
    for kind, mine in (*parts, *all_of, (("all", "", ""), found)):
        ours, greedy = Gaps.of([m.gap for m in mine]), Gaps.of([m.greedy_gap for m in mine])
        shown = (ours.optimal, ours.mean, ours.worst, greedy.optimal, greedy.mean)
        rows.append((*kind, ours.sets, *shown))
    return new_table(
        "Cost above the true optimum over all trees of windows",
        *("<generator", "<windows", "<pieces", "sets", "steiner optimal", "mean gap|.4%"),
        *("worst gap|.2%", "wcg-fw optimal", "mean gap|.1%"),
        rows=rows,
    )


def time_table(timed: Sequence[Timed]) -> Table:
    """Milliseconds, and costs relative to Algorithm 1."""
    columns = ("windows|,", "<pieces", "<strategy", "milliseconds|,.1f", "cost to wcg|.4f")
    rows = (
        (each.windows, PIECES[i], name, 1000 * seconds, each.costs[name, i] / each.costs["wcg", i])
        for each in timed
        for (name, i), seconds in each.seconds.items()
    )
    title = "Processor time and cost under the rate cost (slides up to a day, ranges to 24 slides)"
    return new_table(title, *columns, rows=rows)


def _draw(found: Sequence[Measured], path: Path) -> None:
    """Every problem's gap, in order of size, for both strategies."""
    with picture(path, (7.5, 4)) as (axis,):
        for label, gaps, colour in (
            ("wcg-fw", [m.greedy_gap for m in found], ORANGE),
            ("steiner", [m.gap for m in found], GREEN),
        ):
            axis.plot([100 * max(gap, 0) for gap in sorted(gaps)], label=label, color=colour, lw=2)
        axis.set_yscale("symlog", linthresh=0.1)
        axis.set(ylim=(0, None), xlabel="window sets, by gap", ylabel="cost above the optimum, %")
        axis.legend()

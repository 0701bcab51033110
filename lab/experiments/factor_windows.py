"""factor-windows: Figures 11 to 15 of the factor-windows paper, with `steiner` beside them.

Costs of ten random window sets for each generator under the paper's cost (section 5): direct
evaluation (BL), unshared pairs (UP), shared pairs (SP), the coverage graph (WCG), the same with
factor windows (WCG-FW), and our `steiner`. General windows are computed for MIN (`covered by`),
tumbling ones for any aggregate (`partitioned by`). All costs are over the extended period
lcm(R, S) of section 5.2. The sets are drawn with s_max = 100 and k_max = 10 (`generators`).

The paper's two formulas count instances differently: Equation 1 (BL, WCG, WCG-FW, steiner) counts
those that lie within the period, Table 1 (UP, SP) all that begin in it: one instance of
W(3600, 300) in 3600 against twelve. The paper compares them as they are, and so do we. Over
lcm(R, S) the counts differ by 0.05 % for RandomGen and by 3 to 4 % for general chains and stars.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from rich.console import Console
from rich.progress import track

from lab.experiments.factor_window_report import print_report, write_report
from lab.experiments.factor_window_rows import TECHNIQUES, Gain, Panel, Row
from lab.experiments.generators import GENERATORS, Sizes
from lab.experiments.options import Options
from muntin.cost import PaperCost, total
from muntin.model.windows import Window
from muntin.planner.strategies import Problem, strategy_named

PAPER_SETS = 10

PANELS = (
    *(Panel(11, "RandomGen", "general", eta) for eta in (1, 10, 100)),
    *(Panel(12, "RandomGen", "tumbling", eta) for eta in (1, 10, 100)),
    *(Panel(13, "ChainGen", shape, 100) for shape in ("general", "tumbling")),
    *(Panel(14, "StarGen", shape, 100) for shape in ("general", "tumbling")),
    *(Panel(15, "RandomGraphGen", shape, 100) for shape in ("general", "tumbling")),
)

DASHBOARD = tuple(Window(minutes, 1) for minutes in (5, 15, 60, 360, 1440))
"""5 minutes to 24 hours, each sliding by a minute."""

VARIANTS = (
    ("BL", "direct", False),
    ("WCG", "wcg", False),
    ("WCG fewest", "wcg", True),
    ("WCG-FW", "wcg-fw", False),
    ("WCG-FW fewest", "wcg-fw", True),
    ("steiner", "steiner", True),
)


def run_factor_windows(options: Options, console: Console) -> list[Row]:
    """Compute, print, and write into the folder if one is given."""
    count = options.sets or PAPER_SETS
    jobs = [(panel, index) for panel in PANELS for index in range(count)]
    rows: list[Row] = []
    for panel, index in track(jobs, "Figures 11 to 15", console=console, transient=True):
        rows += panel_rows(panel, index, options.seed)
    gains = fewest_gains(options.seed, count, console)
    print_report(rows, gains, console)
    if options.out is not None:
        write_report(rows, gains, options.out)
        names = "factor_windows.csv, fewest_pieces.csv, factor_windows_11.png … _15.png"
        console.print(f"\nwritten to {options.out}: {names}")
    return rows


def window_set(generator: str, shape: str, index: int, seed: int) -> tuple[Window, ...]:
    """The set with this number; figures that differ in η only see the same sets.

    >>> [str(w) for w in window_set("StarGen", "tumbling", 0, seed=1)]
    ['W(12, 12)', 'W(24, 24)', 'W(48, 48)', 'W(72, 72)', 'W(60, 60)']
    """
    sizes = Sizes() if shape == "general" else Sizes().tumbling
    random = Random(f"{generator} {shape} {index} {seed}")
    return GENERATORS[generator](random, 12 if generator == "RandomGraphGen" else 5, sizes)


def panel_rows(panel: Panel, index: int, seed: int) -> list[Row]:
    """The costs of one window set by every technique."""
    windows = window_set(panel.generator, panel.shape, index, seed)
    model = PaperCost(windows, panel.eta)
    problem = Problem(windows, panel.shape == "general", model)
    text = " ".join(f"{w.range}/{w.slide}" for w in windows)
    costs = {name: total(model, strategy_named(s)(problem)) for name, s in TECHNIQUES.items()}
    return [Row(panel, index + 1, text, name, cost) for name, cost in costs.items()]


@dataclass(frozen=True, slots=True)
class _Case:
    """Windows and aggregates for which the two ways to take pieces are compared."""

    generator: str
    shape: str
    aggregate: str


def fewest_gains(seed: int, count: int, console: Console) -> list[Gain]:
    """The same strategies by the paper's multiplier and by the fewest pieces, at η = 100."""
    cases = [
        _Case(generator, shape, aggregate)
        for generator in GENERATORS
        for shape, aggregate in (("general", "MIN"), ("general", "SUM"), ("tumbling", "MIN"))
    ]
    jobs = [
        (case, window_set(case.generator, case.shape, index, seed))
        for case in cases
        for index in range(count)
    ]
    jobs += [(_Case("dashboard", "general", kind), DASHBOARD) for kind in ("MIN", "SUM")]
    gains = []
    for case, windows in track(jobs, "fewest pieces", console=console, transient=True):
        costs = {}
        for name, strategy, fewest in VARIANTS:
            model = PaperCost(windows, 100, fewest=fewest)
            plan = strategy_named(strategy)(Problem(windows, case.aggregate == "MIN", model))
            costs[name] = total(model, plan)
        gains.append(Gain(case.generator, case.shape, case.aggregate, costs))
    return gains

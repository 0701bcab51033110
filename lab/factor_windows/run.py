"""The costs of ten random window sets for each generator under the paper's cost (section 5).

Direct evaluation (BL), unshared pairs (UP), shared pairs (SP), the coverage graph (WCG), the same
with factor windows (WCG-FW), and our `steiner`. General windows are computed for MIN (`covered
by`), tumbling ones for any aggregate (`partitioned by`). All costs are over the extended period
lcm(R, S) of section 5.2. The sets are drawn with s_max = 100 and k_max = 10 (`workload`).

The paper's two formulas count instances differently: Equation 1 (BL, WCG, WCG-FW, steiner) counts
those that lie within the period, Table 1 (UP, SP) all that begin in it: one instance of
W(3600, 300) in 3600 against twelve. The paper compares them as they are, and so do we. Over
lcm(R, S) the counts differ by 0.05 % for RandomGen and by 3 to 4 % for general chains and stars.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import geometric_mean

from rich.console import Console
from rich.progress import track

from lab.factor_windows.workload import GENERATORS, window_set
from lab.report import group_by
from muntin.cost import PaperCost, total
from muntin.model.windows import Window
from muntin.planner.strategies import Problem, strategy_named

TECHNIQUES = {
    "BL": "direct",
    "UP": "unshared-pairs",
    "SP": "shared-pairs",
    "WCG": "wcg",
    "WCG-FW": "wcg-fw",
    "steiner": "steiner",
}
"""The paper's names (section 5.2) and ours, and the strategies behind them."""

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
"""A name, its strategy, and whether it takes the fewest pieces or the paper's multiplier."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel of a figure."""

    figure: int
    generator: str
    shape: str
    eta: float

    @property
    def title(self) -> str:
        """What stands above the panel."""
        return f"Figure {self.figure}: {self.generator}, {self.shape} windows, η = {self.eta:g}"


PANELS = (
    *(Panel(11, "RandomGen", "general", eta) for eta in (1, 10, 100)),
    *(Panel(12, "RandomGen", "tumbling", eta) for eta in (1, 10, 100)),
    *(Panel(13, "ChainGen", shape, 100) for shape in ("general", "tumbling")),
    *(Panel(14, "StarGen", shape, 100) for shape in ("general", "tumbling")),
    *(Panel(15, "RandomGraphGen", shape, 100) for shape in ("general", "tumbling")),
)


@dataclass(frozen=True, slots=True)
class Row:
    """The cost of one window set by one technique."""

    panel: Panel
    number: int
    windows: str
    technique: str
    cost: float

    @property
    def cells(self) -> dict[str, object]:
        """All of it, in one line."""
        own = {"windows": self.windows, "technique": self.technique, "cost": self.cost}
        return asdict(self.panel) | {"set": self.number} | own


@dataclass(frozen=True, slots=True)
class Gain:
    """The costs of one window set by each of the variants."""

    generator: str
    shape: str
    aggregate: str
    costs: dict[str, float]


class Costs:
    """Costs by panel and technique, in the order of the sets, and ratios between techniques."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = group_by(rows, lambda r: (r.panel, r.technique))
        self.panels = list(dict.fromkeys(panel for panel, _ in self._rows))

    def of(self, panel: Panel, technique: str) -> list[float]:
        """The costs of all sets."""
        return [row.cost for row in self._rows[panel, technique]]

    def ratios(self, panels: Iterable[Panel], over: str, under: str) -> list[float]:
        """Cost of one technique over another's, for every set of these panels."""
        return [
            a / b
            for panel in panels
            for a, b in zip(self.of(panel, over), self.of(panel, under), strict=True)
        ]

    def mean(self, panels: Iterable[Panel], over: str, under: str) -> float:
        """The geometric mean of the ratios: twice as cheap and twice as dear weigh the same."""
        return geometric_mean(self.ratios(panels, over, under))


def panel_rows(panel: Panel, index: int, seed: int) -> list[Row]:
    """The costs of one window set by every technique."""
    windows = window_set(panel.generator, panel.shape, index, seed)
    model = PaperCost(windows, panel.eta)
    problem = Problem(windows, panel.shape == "general", model)
    text = " ".join(f"{w.range}/{w.slide}" for w in windows)
    costs = {name: total(model, strategy_named(s)(problem)) for name, s in TECHNIQUES.items()}
    return [Row(panel, index + 1, text, name, cost) for name, cost in costs.items()]


def fewest_gains(seed: int, count: int, console: Console) -> list[Gain]:
    """The same strategies by the paper's multiplier and by the fewest pieces, at η = 100."""
    jobs = [
        (generator, shape, aggregate, window_set(generator, shape, index, seed))
        for generator in GENERATORS
        for shape, aggregate in (("general", "MIN"), ("general", "SUM"), ("tumbling", "MIN"))
        for index in range(count)
    ]
    jobs += [("dashboard", "general", aggregate, DASHBOARD) for aggregate in ("MIN", "SUM")]
    gains = []
    for generator, shape, aggregate, windows in track(
        jobs, "fewest pieces", console=console, transient=True
    ):
        costs = {}
        for name, strategy, fewest in VARIANTS:
            model = PaperCost(windows, 100, fewest=fewest)
            plan = strategy_named(strategy)(Problem(windows, aggregate == "MIN", model))
            costs[name] = total(model, plan)
        gains.append(Gain(generator, shape, aggregate, costs))
    return gains

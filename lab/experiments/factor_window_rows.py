"""What the factor-windows experiment measures: one cost a row, and how rows are summed up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log

TECHNIQUES = {
    "BL": "direct",
    "UP": "unshared-pairs",
    "SP": "shared-pairs",
    "WCG": "wcg",
    "WCG-FW": "wcg-fw",
    "steiner": "steiner",
}
"""The paper's names (section 5.2) and ours, and the strategies behind them."""


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


@dataclass(frozen=True, slots=True)
class Row:
    """The cost of one window set by one technique."""

    panel: Panel
    number: int
    windows: str
    technique: str
    cost: float


@dataclass(frozen=True, slots=True)
class Gain:
    """The costs of one window set by the paper's multiplier and by the fewest pieces."""

    generator: str
    shape: str
    aggregate: str
    costs: dict[str, float]


def geometric_mean(ratios: Iterable[float]) -> float:
    """The mean that treats twice as cheap and twice as dear alike.

    >>> geometric_mean([0.5, 2.0])
    1.0
    """
    logs = [log(ratio) for ratio in ratios]
    return exp(sum(logs) / len(logs))


class Costs:
    """Costs by panel, set and technique, and ratios between techniques."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._costs = {(r.panel, r.number, r.technique): r.cost for r in rows}
        self.panels = list(dict.fromkeys(panel for panel, _, _ in self._costs))

    def of(self, panel: Panel, technique: str) -> list[float]:
        """The costs of all sets, in order."""
        keys = [key for key in self._costs if key[0] == panel and key[2] == technique]
        return [self._costs[key] for key in sorted(keys, key=lambda key: key[1])]

    def ratios(self, panels: Iterable[Panel], over: str, under: str) -> list[float]:
        """Cost of one technique over another's, for every set of these panels."""
        return [
            a / b
            for panel in panels
            for a, b in zip(self.of(panel, over), self.of(panel, under), strict=True)
        ]

    def mean(self, panels: Iterable[Panel], over: str, under: str) -> float:
        """The geometric mean of the ratios."""
        return geometric_mean(self.ratios(panels, over, under))

"""How to plan: what optimize was told, kept with the plan so that it can be made again."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.cost import Constants, RateCost, Statistics
from muntin.cost.spark import SHIPPED
from muntin.errors import StrategyError, did_you_mean

ENGINES = ("spark", "stream", "sql")
ASSUMED = Statistics(origin="assumed")


@dataclass(frozen=True, slots=True)
class Options:
    """How to plan: the options of optimize."""

    strategy: str = "auto"
    statistics: Statistics = ASSUMED
    cost: str = "rate"
    operator: str | None = None
    engine: str = "spark"
    technique: str | None = None
    slicing: str = "pairs"
    constants: Constants = SHIPPED

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            known = did_you_mean(self.engine, ENGINES)
            raise StrategyError(f"unknown engine {self.engine!r}: {known}")

    @property
    def by_cost(self) -> bool:
        """Whether "auto" takes the plan of least cost, not the one predicted fastest on Spark."""
        return self.cost != "rate" or self.engine == "sql"

    @property
    def rates(self) -> RateCost:
        """The cost in operations a second under these statistics."""
        return RateCost(self.statistics.rate, self.statistics.keys)

"""How to plan: what optimize was told, kept with the plan so that it can be made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from muntin.choices import Engine
from muntin.cost import Constants, RateCost, Statistics
from muntin.cost.spark import SHIPPED
from muntin.errors import StrategyError, is_one_of, unknown

ENGINES = get_args(Engine)
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
        if not is_one_of(self.engine, ENGINES):
            raise StrategyError(unknown("engine", self.engine, ENGINES))

    @property
    def by_cost(self) -> bool:
        """Whether "auto" takes the plan of least cost, not the one predicted fastest on Spark."""
        return self.cost != "rate" or self.engine == "sql"

    @property
    def rates(self) -> RateCost:
        """The cost in operations a second under these statistics."""
        return RateCost(self.statistics.rate, self.statistics.keys)

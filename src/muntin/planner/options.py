"""How to plan: what optimize was told, kept with the plan so that it can be made again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

from muntin.cost import Constants, RateCost, Statistics
from muntin.cost.in_process import IN_PROCESS
from muntin.cost.spark import SHIPPED
from muntin.errors import StrategyError, is_one_of, unknown
from muntin.model.choices import Cost
from muntin.model.query import Query
from muntin.physical import OPERATORS, Question
from muntin.physical.question import Facts

ASSUMED = Statistics(origin="assumed", unknown=("rows", "keys", "rate"))
"""What planning takes for granted where nobody says anything."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to plan: the options of optimize, and what the data said where there was any."""

    strategy: str = "auto"
    statistics: Statistics = ASSUMED
    cost: str = "seconds"
    operator: str | None = None
    engine: str = "spark"
    technique: str | None = None
    slicing: str = "pairs"
    constants: Constants = SHIPPED
    facts: Facts = field(default_factory=Facts)

    def __post_init__(self) -> None:
        if not is_one_of(self.engine, OPERATORS):
            raise StrategyError(unknown("engine", self.engine, OPERATORS))
        if not is_one_of(self.cost, get_args(Cost)):
            raise StrategyError(unknown("cost", self.cost, get_args(Cost)))

    @property
    def by_seconds(self) -> bool:
        """Whether plans are judged by the seconds predicted for the operator that will run."""
        return self.cost == "seconds"

    @property
    def rates(self) -> RateCost:
        """The cost in operations a second under these statistics."""
        return RateCost(self.statistics.rate, self.statistics.keys)

    @property
    def forced(self) -> str | None:
        """The operator asked for, or the only one that the data leaves."""
        return self.facts.forced or self.operator

    @property
    def prices(self) -> Constants:
        """What work costs on the engine: on Spark as calibrated, in process as set by hand."""
        return IN_PROCESS if self.engine == "duckdb" else self.constants

    def question(self, query: Query) -> Question:
        """What operators are asked to judge plans for."""
        facts = self.facts
        return Question(
            query,
            self.statistics,
            self.prices,
            facts.stranger,
            facts.started_with,
            facts.technique,
            facts.update,
            facts.lateness,
            facts.fill_for,
            facts.until,
            facts.controlled,
        )

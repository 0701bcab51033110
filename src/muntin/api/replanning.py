"""Re-planning: whether another plan is better now that the data has changed.

A plan is chosen for a rate and a number of keys; as these change, another may win (the
factor-windows paper leaves it as future work to keep track of the rates of events). The plan as it
is and the plan that would be chosen now are priced under the same new statistics, by one model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from muntin.cost import Statistics, total
from muntin.planner.choice import choose
from muntin.planner.found import Found
from muntin.planner.search import find_plan
from muntin.report import number, times

Plan = TypeVar("Plan", bound=Found)

WORTH = 1.1
"""Another plan is said to be better from this ratio on: predictions are not exact."""


@dataclass(frozen=True, slots=True, repr=False)
class Replanned(Generic[Plan]):
    """The plan that would be chosen now, and what both would cost now."""

    plan: Plan
    before: Plan
    now: float
    then: float
    unit: str

    @property
    def ratio(self) -> float:
        """How many times more the present plan costs than the one that would be chosen now."""
        return self.now / self.then if self.then else 1.0

    @property
    def better(self) -> bool:
        """Whether changing the plan is worth it."""
        return self.ratio >= WORTH

    def __repr__(self) -> str:
        known = self.plan.options.statistics
        kept, new = _name(self.before), _name(self.plan)
        if not self.better:
            return f"keep {kept}: {number(self.now)} {self.unit} now, for {known}"
        return (
            f"change to {new}: {times(self.ratio)} better than {kept} "
            f"({number(self.then)} against {number(self.now)} {self.unit}) for {known}"
        )


def replan(
    plan: Plan, rows: float | None, keys: float | None, rate: float | None
) -> Replanned[Plan]:
    """Plan again for other statistics; what is not given stays as it was."""
    old = plan.options.statistics
    rate = old.rate if rate is None else rate
    keys = old.keys if keys is None else keys
    asked = Statistics(old.rows if rows is None else rows, keys, rate)
    known = asked if rows is not None else replace(asked, rows=old.span * rate)
    options = replace(plan.options, strategy="auto", operator=None, statistics=known)
    new = plan.of(find_plan(plan.query, options))
    if not options.by_seconds:
        now, then = (total(new.model, each.planned) for each in (plan, new))
        return Replanned(new, plan, now, then, new.model.unit)
    question = options.question(plan.query)
    kept = choose(plan.planned, question, options.engine, plan.operator.name)
    return Replanned(new, plan, kept.seconds, new.seconds, "s")


def _name(plan: Found) -> str:
    return f"{plan.strategy} by {plan.operator.name}"

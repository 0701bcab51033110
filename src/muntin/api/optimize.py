"""optimize: try strategies under one cost, check their plans, keep the cheapest.

No engine is needed: planning is arithmetic on windows.
"""

from __future__ import annotations

from muntin.api.plan import Plan
from muntin.cost import CostModel, PaperCost, RateCost, total
from muntin.errors import StrategyError, did_you_mean
from muntin.physical import choose
from muntin.plan import SharingPlan, check
from muntin.query import Query
from muntin.report import Alternative
from muntin.strategies import STRATEGIES, Problem, strategy_named


def optimize(
    query: Query,
    strategy: str = "auto",
    rate: float = 100.0,
    keys: float = 1,
    cost: str = "rate",
    operator: str | None = None,
) -> Plan:
    """The plan of one strategy, or of the cheapest one ("auto"), with all alternatives.

    `rate` is events per second of event time over all keys, `keys` how many distinct keys there
    are; together they decide whether slices shrink the data. Under cost "paper", `rate` is the
    paper's η per unit of the windows' numbers. `operator` forces how the plan runs on Spark.

    >>> import muntin as mt
    >>> windows = [mt.Window(n, n) for n in (10, 20, 30, 40)]
    >>> q = mt.query("ts", windows, [mt.min("t")])
    >>> optimize(q, "wcg", rate=1, cost="paper").cost
    150.0
    """
    if not isinstance(query, Query):
        raise StrategyError(f"optimize takes a query from mt.query(...), not {query!r}")
    problem = Problem(query.windows, query.idempotent, _cost_model(cost, query, rate, keys))
    if strategy != "auto":
        strategy_named(strategy)
    plans = {name: _planned(name, problem) for name in STRATEGIES}
    costs = {name: total(problem.cost, plan) for name, plan in plans.items()}
    chosen = min(costs, key=lambda name: costs[name]) if strategy == "auto" else strategy
    alternatives = tuple(Alternative(name, costs[name]) for name in costs)
    operators = choose(plans[chosen], query, RateCost(rate, keys), operator)
    return Plan(query, plans[chosen], chosen, costs[chosen], problem.cost, alternatives, operators)


def _planned(name: str, problem: Problem) -> SharingPlan:
    """A strategy's plan, proved right before anyone sees it."""
    plan = STRATEGIES[name](problem)
    check(plan, problem.windows)
    return plan


def _cost_model(name: str, query: Query, rate: float, keys: float) -> CostModel:
    match name:
        case "rate":
            return RateCost(rate, keys)
        case "paper":
            return PaperCost(query.windows, rate)
    raise StrategyError(f"unknown cost {name!r}: {did_you_mean(name, ['rate', 'paper'])}")

"""Planning one query: try strategies under one cost, check their plans, keep the best.

No engine is needed: planning is arithmetic on windows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from muntin.api.data_planning import planned_by_data
from muntin.api.plan import Plan
from muntin.cost import CostModel, PaperCost, RateCost, WeaveCost, total
from muntin.errors import StrategyError, did_you_mean
from muntin.physical import choose, choose_for_stream, predicted
from muntin.plan import SharingPlan, check, closed
from muntin.query import Query
from muntin.report import Alternative
from muntin.strategies import LIMITS, STRATEGIES, Problem, strategy_named

UNLIMITED = 2**62
ENGINES = ("spark", "stream", "sql")


@dataclass(frozen=True, slots=True)
class Options:
    """How to plan: the options of optimize."""

    strategy: str = "auto"
    rate: float = 100.0
    keys: float = 1
    cost: str = "rate"
    operator: str | None = None
    engine: str = "spark"
    technique: str | None = None
    slicing: str = "pairs"

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            known = did_you_mean(self.engine, ENGINES)
            raise StrategyError(f"unknown engine {self.engine!r}: {known}")

    @property
    def by_cost(self) -> bool:
        """Whether "auto" takes the plan of least cost, not the one predicted fastest on Spark."""
        return self.cost != "rate" or self.engine == "sql"


def planned(query: Query, options: Options) -> Plan:
    """The plan of the strategy asked for, or the best of all, with all alternatives."""
    if query.data_windows:
        return planned_by_data(query, options)
    if options.strategy != "auto":
        strategy_named(options.strategy)
    problem = Problem(query.windows, query.idempotent, _cost_model(query, options), options.slicing)
    tried = {name: _tried(name, problem, options.strategy == name) for name in STRATEGIES}
    plans = {name: plan for name, plan in tried.items() if isinstance(plan, SharingPlan)}
    rates = RateCost(options.rate, options.keys)
    alternatives = tuple(
        _alternative(name, plan, query, problem, rates) for name, plan in tried.items()
    )
    auto = options.strategy == "auto"
    chosen = _best(alternatives, plans, problem.cost, options) if auto else options.strategy
    decide = choose_for_stream if options.engine == "stream" else choose
    operators = decide(plans[chosen], query, rates, options.operator)
    if options.engine != "stream" and len(query.direct) == len(query.aggregates):
        alone = choose(plans[chosen], query, rates, "window")
        operators = replace(alone, reason="none of the aggregates has partials to share")
    total_cost = total(problem.cost, plans[chosen])
    return Plan(query, plans[chosen], chosen, total_cost, problem.cost, alternatives, operators)


def _tried(name: str, problem: Problem, asked: bool) -> SharingPlan | str:
    """A strategy's plan, proved right before anyone sees it, or why there is none.

    What the strategy that was asked for refuses is the caller's to know.
    """
    if not asked and len(problem.windows) > LIMITS.get(name, UNLIMITED):
        return f"skipped: more than {LIMITS[name]} windows"
    try:
        plan = STRATEGIES[name](problem)
    except StrategyError as refusal:
        if asked:
            raise
        return f"refused: {refusal}"
    check(plan, problem.windows)
    return plan


def _alternative(
    name: str, plan: SharingPlan | str, query: Query, problem: Problem, rates: RateCost
) -> Alternative:
    if isinstance(plan, str):
        return Alternative(name, None, note=plan)
    seconds = min(predicted(plan, query, rates).values(), default=inf)
    return Alternative(name, total(problem.cost, plan), seconds)


def _best(
    alternatives: tuple[Alternative, ...],
    plans: dict[str, SharingPlan],
    model: CostModel,
    options: Options,
) -> str:
    """The cheapest plan, or the one predicted fastest on Spark; simpler strategies win ties.

    SQL groups whole slices: what is read while it is open costs there what it costs when closed.
    """
    possible = [a for a in alternatives if a.cost is not None]
    if not options.by_cost:
        return min(possible, key=lambda a: a.seconds or 0.0).strategy
    if options.cost == "rate":
        return min(plans, key=lambda name: total(model, closed(plans[name])))
    return min(possible, key=lambda a: a.cost or 0.0).strategy


def _cost_model(query: Query, options: Options) -> CostModel:
    name, technique = options.cost, options.technique
    if technique is not None and name != "weave":
        raise StrategyError(
            f"technique {technique!r} has a cost only under cost='weave': "
            "on Spark and in SQL, windows are answered by operators"
        )
    match name:
        case "rate":
            return RateCost(options.rate, options.keys)
        case "paper":
            return PaperCost(query.windows, options.rate)
        case "weave":
            invertible = all(a.function.invertible for a in query.aggregates)
            return WeaveCost(technique or "panes", options.rate, options.keys, invertible)
    raise StrategyError(f"unknown cost {name!r}: {did_you_mean(name, ['rate', 'paper', 'weave'])}")

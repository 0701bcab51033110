"""Planning one query: try strategies under one cost, check their plans, keep the best.

No engine is needed: planning is arithmetic on windows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import get_args

from muntin.api.data_planning import planned_by_data
from muntin.api.options import Options
from muntin.api.plan import Plan
from muntin.choices import Cost
from muntin.cost import CostModel, PaperCost, SparkCost, WeaveCost, total
from muntin.cost.variants import variants
from muntin.errors import BudgetError, StrategyError, shown, unknown
from muntin.physical import Operators, choose, choose_for_stream, predicted, predicted_on_stream
from muntin.plan import SharingPlan, check, closed
from muntin.query import Query
from muntin.report import Alternative
from muntin.slicing import Slices
from muntin.slicing.edges import edge_work
from muntin.strategies import SHARES, STRATEGIES, Problem, budget_for, strategy_named


@dataclass(frozen=True, slots=True)
class Tried:
    """What a strategy gave: its plan, or a note why there is none; and the steps that it took."""

    plan: SharingPlan | None
    note: str
    steps: int


def planned(query: Query, options: Options) -> Plan:
    """The plan of the strategy asked for, or the best of all, with all alternatives."""
    if query.data_windows:
        return planned_by_data(query, options)
    if options.strategy != "auto":
        strategy_named(options.strategy)
    problem = Problem(query.windows, query.idempotent, _cost_model(query, options), options.slicing)
    auto = options.strategy == "auto"
    asked = {} if auto else {options.strategy: _tried(options.strategy, problem, asked=True)}
    tried = {name: asked.get(name) or _tried(name, problem) for name in STRATEGIES}
    plans = {name: each.plan for name, each in tried.items() if each.plan is not None}
    alternatives = tuple(
        _alternative(name, each, query, problem, options) for name, each in tried.items()
    )
    chosen = _best(alternatives, plans, problem.cost, options) if auto else options.strategy
    operators = _operators(plans[chosen], query, options)
    total_cost = total(problem.cost, plans[chosen])
    return Plan(
        query, plans[chosen], chosen, total_cost, problem.cost, alternatives, operators, options
    )


def _operators(plan: SharingPlan, query: Query, options: Options) -> Operators:
    if options.engine == "stream":
        return choose_for_stream(plan, query, options.rates, options.operator)
    spark = SparkCost(options.statistics, options.constants)
    if len(query.direct) == len(query.aggregates):
        alone = choose(plan, query, spark, "window")
        return replace(alone, reason="none of the aggregates has partials to share")
    return choose(plan, query, spark, options.operator)


def _tried(name: str, problem: Problem, asked: bool = False) -> Tried:
    """A strategy's plan, proved right before anyone sees it, or why there is none.

    What the strategy that was asked for refuses is the caller's to know. Each has a budget of its
    own, which the price of its plan is part of.
    """
    budget = budget_for(len(problem.windows), SHARES.get(name, 1), asked)
    try:
        plan = STRATEGIES[name](replace(problem, budget=budget))
        budget.spend(sum(edge_work(n.shape) for n in plan.nodes if isinstance(n.shape, Slices)))
    except BudgetError as over:
        if not asked:
            return Tried(None, f"left out: {over}", budget.spent)
        raise BudgetError(
            f"strategy {name!r} is {over} for these {len(problem.windows)} windows: "
            "use strategy='auto', which leaves it out"
        ) from None
    except StrategyError as refusal:
        if asked:
            raise
        return Tried(None, f"refused: {refusal}", budget.spent)
    check(plan, problem.windows)
    return Tried(plan, "", budget.spent)


def _alternative(
    name: str, tried: Tried, query: Query, problem: Problem, options: Options
) -> Alternative:
    plan = tried.plan
    if plan is None:
        return Alternative(name, None, note=tried.note, steps=tried.steps)
    if options.engine == "stream":
        seconds = min(predicted_on_stream(plan, query, options.rates).values())
    else:
        spark = SparkCost(options.statistics, options.constants)
        seconds = min(predicted(plan, query, spark).values(), default=inf)
    return Alternative(name, total(problem.cost, plan), seconds, steps=tried.steps)


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
            f"technique {shown(technique)} has a cost only under cost='weave': "
            "on Spark and in SQL, windows are answered by operators"
        )
    match name:
        case "rate":
            return options.rates
        case "paper":
            return PaperCost(query.windows, options.statistics.rate)
        case "weave":
            known, named = options.statistics, technique or "panes"
            return WeaveCost(named, known.rate, known.keys, variants(named, query.aggregates))
    raise StrategyError(unknown("cost", name, get_args(Cost)))

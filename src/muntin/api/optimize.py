"""optimize: try strategies under one cost, check their plans, keep the cheapest.

No engine is needed: planning is arithmetic on windows.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from muntin.api.plan import Plan
from muntin.cost import CostModel, PaperCost, RateCost, WeaveCost, total
from muntin.errors import StrategyError, did_you_mean
from muntin.physical import choose, choose_for_stream, predicted
from muntin.plan import SharingPlan, check
from muntin.query import Query
from muntin.report import Alternative
from muntin.strategies import LIMITS, STRATEGIES, Problem, strategy_named

UNLIMITED = 2**62
ENGINES = ("spark", "stream", "sql")


def optimize(
    query: Query,
    strategy: str = "auto",
    rate: float = 100.0,
    keys: float = 1,
    cost: str = "rate",
    operator: str | None = None,
    engine: str = "spark",
    technique: str | None = None,
    slicing: str = "pairs",
) -> Plan:
    """The plan of one strategy, or of the cheapest one ("auto"), with all alternatives.

    `rate` is events per second of event time over all keys, `keys` how many distinct keys there
    are; together they decide whether slices shrink the data. Under cost "paper", `rate` is the
    paper's η per unit of the windows' numbers. `operator` forces how the plan runs on Spark.
    Cost "weave" counts the aggregations of a stream engine whose windows are answered by
    `technique`: panes (if None), flatfat, flatfit or slick-deque. `slicing` is how the weaving
    strategies cut the windows of a tree: pairs, panes or cutty.
    For engine "spark" (a batch) or "stream", "auto" takes the plan predicted to run fastest there;
    for "sql" (text for any engine, or DuckDB in process) the one of least cost.

    >>> import muntin as mt
    >>> windows = [mt.Window(n, n) for n in (10, 20, 30, 40)]
    >>> q = mt.query("ts", windows, [mt.min("t")])
    >>> optimize(q, "wcg", rate=1, cost="paper").cost
    150.0
    """
    if not isinstance(query, Query):
        raise StrategyError(f"optimize takes a query from mt.query(...), not {query!r}")
    model = _cost_model(cost, query, rate, keys, technique)
    problem = Problem(query.windows, query.idempotent, model, slicing)
    if strategy != "auto":
        strategy_named(strategy)
    if engine not in ENGINES:
        raise StrategyError(f"unknown engine {engine!r}: {did_you_mean(engine, ENGINES)}")
    tried = {name: _tried(name, problem, strategy == name) for name in STRATEGIES}
    plans = {name: plan for name, plan in tried.items() if isinstance(plan, SharingPlan)}
    rates = RateCost(rate, keys)
    alternatives = tuple(
        _alternative(name, plan, query, problem, rates) for name, plan in tried.items()
    )
    chosen = (
        strategy
        if strategy != "auto"
        else _best(alternatives, by_cost=cost != "rate" or engine == "sql")
    )
    decide = choose_for_stream if engine == "stream" else choose
    operators = decide(plans[chosen], query, rates, operator)
    if engine != "stream" and len(query.direct) == len(query.aggregates):
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


def _best(alternatives: tuple[Alternative, ...], by_cost: bool) -> str:
    """The cheapest plan, or the one predicted fastest on Spark; simpler strategies win ties."""
    possible = [a for a in alternatives if a.cost is not None]
    if by_cost:
        return min(possible, key=lambda a: a.cost or 0.0).strategy
    return min(possible, key=lambda a: a.seconds or 0.0).strategy


def _cost_model(
    name: str, query: Query, rate: float, keys: float, technique: str | None
) -> CostModel:
    if technique is not None and name != "weave":
        raise StrategyError(
            f"technique {technique!r} has a cost only under cost='weave': "
            "on Spark and in SQL, windows are answered by operators"
        )
    match name:
        case "rate":
            return RateCost(rate, keys)
        case "paper":
            return PaperCost(query.windows, rate)
        case "weave":
            invertible = all(a.function.invertible for a in query.aggregates)
            return WeaveCost(technique or "panes", rate, keys, invertible)
    raise StrategyError(f"unknown cost {name!r}: {did_you_mean(name, ['rate', 'paper', 'weave'])}")

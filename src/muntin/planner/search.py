"""Planning one query: try strategies under the cost of each operator, check, keep the best.

No engine is needed: planning is arithmetic on windows. Under cost "seconds" every operator that may
run is asked for its surrogate, every strategy plans under each of them, and each plan is priced by
every operator that can run it: the pair predicted fastest is taken. An operator whose results alone
take longer than a plan already found is not planned for. The papers' costs are one model for all;
the operator is then the fastest one for the plan of least cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf
from operator import lt

from muntin.cost import CostModel, PaperCost, WeaveCost, total
from muntin.cost.variants import variants
from muntin.errors import BudgetError, StrategyError, shown
from muntin.model.query import Query
from muntin.physical import Question
from muntin.physical.operators.window import WINDOW
from muntin.physical.question import in_python
from muntin.plan import SharingPlan, check
from muntin.plan.slicing import Slices
from muntin.plan.slicing.edges import edge_work
from muntin.planner.choice import ALIKE, Choice, candidates, choose, least_regret
from muntin.planner.data_windows import find_data_plan
from muntin.planner.found import Alternative, Found
from muntin.planner.options import Options
from muntin.planner.strategies import (
    COST_FREE,
    FRUGAL,
    SHARES,
    STRATEGIES,
    Budget,
    Problem,
    budget_for,
    strategy_named,
    worth_planning,
)

KEYS = 100.0
"""Keys that there are taken to be where nobody says."""
PRICED = 100
"""Steps to lower, prove and price a node of a plan, by all operators."""
NOT_WORTH_IT = "left out: planning it could take longer than it saves"


@dataclass(frozen=True, slots=True)
class Aim:
    """What strategies minimise; and the seconds that no such plan stays below, in each case.

    The papers' costs are no seconds.
    """

    model: CostModel
    least: tuple[float, ...] = ()

    def is_idle(self, found: Iterable[Choice]) -> bool:
        """Whether one of the plans found is faster than all of this aim, whatever the data is."""
        return bool(self.least) and any(all(map(lt, c.cases, self.least)) for c in found)


@dataclass(frozen=True, slots=True)
class Tried:
    """A strategy under one model: its plan and how it would run, or why there is none."""

    strategy: str
    plan: SharingPlan | None = None
    choice: Choice | None = None
    cost: float = 0.0
    note: str = ""
    steps: int = 0
    refusal: StrategyError | None = None

    @property
    def alternative(self) -> Alternative:
        """What is told of it."""
        if self.choice is None:
            return Alternative(self.strategy, note=self.note, steps=self.steps)
        name, seconds = self.choice.operator.name, self.choice.seconds
        return Alternative(self.strategy, name, self.cost, seconds, steps=self.steps)


def find_plan(query: Query, options: Options) -> Found:
    """The plan of the strategy asked for, or the best of all, with all that were tried."""
    if query.data_windows:
        return find_data_plan(query, options)
    auto = options.strategy == "auto"
    if not auto:
        strategy_named(options.strategy)
    if len(query.direct) == len(query.aggregates) and options.engine == "spark":
        options = replace(options, facts=replace(options.facts, forced=WINDOW.name))
    if query.keys and "keys" in options.statistics.unknown:
        options = replace(options, statistics=replace(options.statistics, keys=KEYS))
    names = dict.fromkeys((*FRUGAL, *STRATEGIES)) if auto else (options.strategy,)
    question = options.question(query)
    aims = _aims(question, options)
    found: dict[SharingPlan, Choice] = {}  # strategies often build the same plan
    priced = 2 * PRICED if question.statistics.unknown else PRICED  # each case told and untold

    def run_by(plan: SharingPlan, budget: Budget) -> Choice:
        if plan not in found:
            budget.spent += priced * len(plan.nodes)
            ruled_out = options.facts.refused
            found[plan] = choose(plan, question, options.engine, options.forced, ruled_out)
        return found[plan]

    def in_use() -> list[CostModel]:
        return [aims[0].model, *(a.model for a in aims[1:] if not a.is_idle(found.values()))]

    tried: list[Tried] = []
    least = min((aim.least[0] for aim in aims if aim.least), default=0.0)
    for name in names:
        worth = _worth(tried, least, options)
        tried.append(_try(name, query, in_use(), options, run_by, worth))
    if auto:
        by_name = {each.strategy: each for each in tried}
        tried = [by_name[name] for name in STRATEGIES]
    best = _best(tried, options)
    if best.plan is None or best.choice is None:
        refusals = (each.refusal for each in tried if each.refusal is not None)
        raise next(refusals, StrategyError("no strategy has a plan for these windows"))
    alternatives = tuple(each.alternative for each in tried)
    return Found(
        query,
        best.plan,
        best.strategy,
        best.cost,
        aims[0].model,
        alternatives,
        best.choice,
        options,
    )


def _worth(tried: list[Tried], least: float, options: Options) -> float:
    """Steps that planning may still take; the papers' costs are no seconds to compare with."""
    if not options.by_seconds:
        return inf
    best, fruitless = inf, 0
    for each in tried:
        better = each.choice is not None and ALIKE * each.choice.seconds < best
        best = each.choice.seconds if each.choice is not None and better else best
        fruitless = 0 if better else fruitless + 1
    return worth_planning(best - least, fruitless, sum(each.steps for each in tried))


def _best(tried: list[Tried], options: Options) -> Tried:
    """The one predicted fastest, or safest, or of least cost; simpler strategies win ties."""
    choices = {i: each.choice for i, each in enumerate(tried) if each.choice is not None}
    if not (options.by_seconds and choices):
        return min((tried[i] for i in choices or range(len(tried))), key=lambda each: each.cost)
    position, regret = least_regret(list(choices.values()))
    best = list(choices)[position]
    unknown = options.statistics.unknown and options.strategy == "auto"
    choice = replace(choices[best], regret=regret if unknown else None)
    return replace(tried[best], choice=choice)


def _aims(question: Question, options: Options) -> list[Aim]:
    """What strategies minimise: the surrogate of every operator that may run, or one cost.

    The last operators, which serve the most windows, come first: budgets may end before the others.
    """
    if options.technique is not None and options.cost != "weave":
        raise StrategyError(
            f"technique {shown(options.technique)} has a cost only under cost='weave': "
            "on Spark and in SQL, windows are answered by operators"
        )
    if not options.by_seconds:
        return [Aim(_cost_model(question.query, options))]
    operators = candidates(question, options.engine)
    by_name = {operator.name: operator for operator in operators}
    if options.forced in by_name:
        operators = [by_name[options.forced]]
    elif options.forced is None and not in_python(question.query):
        operators = [o for o in operators if o.chosen and o.name not in options.facts.refused]
    if len(operators) == 1 and options.strategy != "auto":
        return [Aim(operators[0].surrogate(question))]  # nothing is left out
    stream = options.engine == "stream"
    cases = question.stream_cases if stream else question.batch_cases
    aims: dict[CostModel, Aim] = {}
    for operator in reversed(operators):
        model, least = operator.surrogate(question), tuple(map(operator.least, cases))
        known = aims.get(model, Aim(model, least))
        aims[model] = Aim(model, tuple(map(min, known.least, least)))
    return list(aims.values())


def _try(
    name: str,
    query: Query,
    models: list[CostModel],
    options: Options,
    run_by: Callable[[SharingPlan, Budget], Choice],
    worth: float,
) -> Tried:
    """The best that a strategy finds under any of the models, within one budget for all.

    A strategy that does not look at the cost is asked once. Where the budget ends under a later
    model, what was found before remains. What the strategy that was asked for refuses is the
    caller's to know.
    """
    if not worth:
        return Tried(name, note=NOT_WORTH_IT)
    asked = options.strategy == name
    budget = budget_for(len(query.windows), SHARES.get(name, 1), asked, worth)
    tried: list[Tried] = []
    for model in models[:1] if name in COST_FREE else models:
        problem = Problem(query.windows, query.idempotent, model, options.slicing, budget)
        must_work = asked and not any(each.plan for each in tried)
        try:
            plan = _build(name, problem)
            choice = run_by(plan, budget)
        except BudgetError as over:
            if must_work:
                raise BudgetError(
                    f"strategy {name!r} is {over} for these {len(problem.windows)} windows: "
                    "use strategy='auto', which leaves it out"
                ) from None
            note = NOT_WORTH_IT if budget.limit == worth else f"left out: {over}"
            tried.append(Tried(name, note=note))
        except StrategyError as refusal:
            if must_work:
                raise
            tried.append(Tried(name, note=f"refused: {refusal}", refusal=refusal))
        else:
            tried.append(Tried(name, plan, choice, _cost(plan, choice, model, options)))
    return replace(_best(tried, options), steps=budget.spent)


def _build(name: str, problem: Problem) -> SharingPlan:
    """A strategy's plan, proved right before anyone sees it; its price is part of the budget."""
    plan = STRATEGIES[name](problem)
    slices = (node.shape for node in plan.nodes if isinstance(node.shape, Slices))
    problem.budget.spend(sum(map(edge_work, slices)))
    check(plan, problem.windows)
    return plan


def _cost(plan: SharingPlan, choice: Choice, model: CostModel, options: Options) -> float:
    """Seconds, or operations of what runs; the papers' engines run what was planned."""
    if options.by_seconds:
        return choice.seconds
    return total(model, choice.plan if options.cost == "rate" else plan)


def _cost_model(query: Query, options: Options) -> CostModel:
    known, technique = options.statistics, options.technique or "panes"
    match options.cost:
        case "paper":
            return PaperCost(query.windows, known.rate)
        case "weave":
            rows = variants(technique, query.aggregates)
            return WeaveCost(technique, known.rate, known.keys, rows)
    return options.rates

"""Planning a query with windows that the data decides: the same plan type, checker and explainer.

Sessions alone take one another as pieces (`wcg`); anything else goes through the slices of Cutty
(`cutty`), where periodic windows join in, so that the source is read once. On a stream and in
process all of them do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.cost import total
from muntin.errors import StrategyError, shown
from muntin.model.data_windows import DataWindow
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.plan import SharingPlan, check
from muntin.planner.choosing import Choice, choose
from muntin.planner.found import Alternative, Found
from muntin.planner.strategies.data_windows import on_begins, session_chain

if TYPE_CHECKING:
    from muntin.planner.options import Options

KNOWN = ("auto", "cutty", "wcg")


def find_data_plan(query: Query, options: Options) -> Found:
    """The plan of such a query."""
    _refuse(options)
    rates = options.rates
    windows: list[Window | DataWindow] = [*query.windows, *query.data_windows]
    plans = _plans(query, options)
    for plan in plans.values():
        check(plan, windows)
    chosen = next(iter(plans)) if options.strategy == "auto" else options.strategy
    if chosen not in plans:
        raise StrategyError(
            "strategy 'wcg' computes sessions from sessions; other windows that the data decides, "
            "and sessions with a maximum, take strategy 'cutty'"
        )
    question, facts = options.question(query), options.facts
    choice = choose(plans[chosen], question, options.engine, options.forced, facts.refused)
    tried = [_alternative(chosen, choice, total(rates, plans[chosen]))]
    for name, plan in plans.items():
        if name != chosen:
            other = choose(plan, question, options.engine, None, facts.refused)
            tried.append(_alternative(name, other, total(rates, plan)))
    cost = total(rates, plans[chosen])
    return Found(query, plans[chosen], chosen, cost, rates, tuple(tried), choice, options)


def _alternative(name: str, choice: Choice, cost: float) -> Alternative:
    return Alternative(name, choice.operator.name, cost, choice.seconds)


def _plans(query: Query, options: Options) -> dict[str, SharingPlan]:
    """The plans that there are, the best first."""
    own = query.windows, query.data_windows, query.idempotent
    plans = {"cutty": on_begins(*own)}
    in_python = any(a.function.in_python for a in query.aggregates)
    if options.engine == "spark" and not query.windows and not in_python:
        chain = session_chain(query.data_windows, query.idempotent)
        if chain is not None:
            plans = {"wcg": chain, **plans}
    return plans


def _refuse(options: Options) -> None:
    if options.strategy not in KNOWN:
        raise StrategyError(
            f"strategy {shown(options.strategy)} plans periodic windows: with windows that the "
            "data decides, use 'auto', 'cutty' or, for sessions alone, 'wcg'"
        )
    if options.engine != "spark" and options.strategy == "wcg":
        where = "on a stream" if options.engine == "stream" else "in process"
        raise StrategyError(
            f"strategy 'wcg' merges sessions on batches of Spark: {where} use 'auto' or 'cutty'"
        )
    if options.cost not in ("seconds", "rate"):
        raise StrategyError(
            f"cost={shown(options.cost)} is for periodic windows: leave it out here"
        )

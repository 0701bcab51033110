"""Planning a query with windows that the data decides: the same plan type, checker and explainer.

Sessions alone take one another as pieces (`wcg`, in SQL); anything else goes through the slices of
Cutty (`cutty`), where periodic windows join in, so that the source is read once. On a stream all
of them do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.api.plan import Plan
from muntin.cost import RateCost, total
from muntin.data_windows import DataWindow
from muntin.errors import StrategyError, shown
from muntin.physical import Operators, choose_for_stream
from muntin.plan import SharingPlan, check
from muntin.query import Query
from muntin.report import Alternative
from muntin.strategies.data_driven import each_alone, on_begins, session_chain
from muntin.windows import Window

if TYPE_CHECKING:
    from muntin.api.options import Options

KNOWN = ("auto", "cutty", "wcg")
SESSION_OPERATORS = ("sessions", "kernel")

FEW = 6
"""Where a slice has fewer records than this, SQL, which sorts slices, is slower than NumPy: for 10
million records, 5 in a slice, 6.4 against 5.6 seconds; with 10 in a slice 4.0 against 5.9."""


def planned_by_data(query: Query, options: Options) -> Plan:
    """The plan of such a query."""
    _refuse(options)
    rates = options.rates
    windows: list[Window | DataWindow] = [*query.windows, *query.data_windows]
    plans = {
        "direct": each_alone(query.windows, query.data_windows, query.idempotent),
        "cutty": on_begins(query.windows, query.data_windows, query.idempotent),
    }
    in_python = any(a.function.in_python for a in query.aggregates)
    chain = session_chain(query.data_windows, query.idempotent)
    in_sql = options.engine != "stream" and not (query.windows or in_python)
    chain = chain if in_sql else None
    if chain is not None:
        plans["wcg"] = chain
    for plan in plans.values():
        check(plan, windows)
    auto = "wcg" if chain else "cutty"
    chosen = auto if options.strategy == "auto" else options.strategy
    if chosen not in plans:
        raise StrategyError(
            "strategy 'wcg' computes sessions from sessions; other windows that the data decides, "
            "and sessions with a maximum, take strategy 'cutty'"
        )
    tried = tuple(Alternative(name, total(rates, plan)) for name, plan in plans.items())
    if options.engine == "stream":
        operators = choose_for_stream(plans[chosen], query, rates, options.operator)
    else:
        operators = _operators(plans[chosen], chosen, rates, options.operator)
    cost = total(rates, plans[chosen])
    return Plan(query, plans[chosen], chosen, cost, rates, tried, operators, options)


def _refuse(options: Options) -> None:
    if options.strategy not in KNOWN:
        raise StrategyError(
            f"strategy {shown(options.strategy)} plans periodic windows: with windows that the "
            "data decides, use 'auto', 'cutty' or, for sessions alone, 'wcg'"
        )
    if options.engine == "stream":
        if options.strategy == "wcg":
            raise StrategyError(
                "strategy 'wcg' merges sessions in SQL, on batches: on a stream use 'auto' or "
                "'cutty'"
            )
    elif options.operator not in (None, *SESSION_OPERATORS):
        raise StrategyError(
            f"operator={shown(options.operator)} is for periodic windows: leave it out here, or "
            "for sessions alone use 'sessions' or 'kernel'"
        )
    if options.cost != "rate":
        raise StrategyError(
            f"cost={shown(options.cost)} is for periodic windows: leave it out here"
        )


def _operators(
    plan: SharingPlan, strategy: str, rates: RateCost, operator: str | None
) -> Operators:
    if strategy == "wcg":
        sparse = rates.rows(plan.nodes[0].shape) * FEW > rates.rate
        name = operator or ("kernel" if sparse else "sessions")
        how = {
            "sessions": "slices first, then merged in SQL, one sort for all gaps",
            "kernel": "runs without a pause first, then merged by NumPy",
        }
        why = f"slices would be {'many' if sparse else 'few'}"
        edges = {node.id: name if node.parent else "slices" for node in plan.nodes}
        return Operators(name, f"{why}: {how[name]}", edges)
    if operator is not None:
        raise StrategyError(f"operator={shown(operator)} is for sessions alone: leave it out here")
    reason = "records of a key in order, all windows in one pass of NumPy"
    return Operators("cutty", reason, {node.id: "cutty" for node in plan.nodes})

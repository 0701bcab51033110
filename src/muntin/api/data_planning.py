"""Planning a query with windows that the data decides: the same plan type, checker and explainer.

Sessions alone take one another as pieces (`wcg`, in SQL); anything else goes through the slices of
Cutty (`cutty`), where periodic windows join in, so that the source is read once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.api.plan import Plan
from muntin.cost import total
from muntin.data_windows import DataWindow
from muntin.errors import StrategyError
from muntin.physical import Operators
from muntin.plan import SharingPlan, check
from muntin.query import Query
from muntin.report import Alternative
from muntin.strategies.data_driven import each_alone, on_begins, session_chain
from muntin.windows import Window

if TYPE_CHECKING:
    from muntin.api.options import Options

KNOWN = ("auto", "cutty", "wcg")


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
    chain = None if query.windows or in_python else chain
    if chain is not None:
        plans["wcg"] = chain
    for plan in plans.values():
        check(plan, windows)
    chosen = ("wcg" if chain else "cutty") if options.strategy == "auto" else options.strategy
    if chosen not in plans:
        raise StrategyError(
            "strategy 'wcg' computes sessions from sessions; other windows that the data decides, "
            "and sessions with a maximum, take strategy 'cutty'"
        )
    tried = tuple(Alternative(name, total(rates, plan)) for name, plan in plans.items())
    operators = _operators(plans[chosen], chosen)
    cost = total(rates, plans[chosen])
    return Plan(query, plans[chosen], chosen, cost, rates, tried, operators, options)


def _refuse(options: Options) -> None:
    if options.strategy not in KNOWN:
        raise StrategyError(
            f"strategy {options.strategy!r} plans periodic windows: with windows that the data "
            "decides, use 'auto', 'cutty' or, for sessions alone, 'wcg'"
        )
    if options.engine == "stream":
        raise StrategyError(
            "windows that the data decides run on batches: use spark.read, or apply the plan in "
            "foreachBatch to whole keys"
        )
    if options.operator is not None or options.cost != "rate":
        what = f"operator={options.operator!r}" if options.operator else f"cost={options.cost!r}"
        raise StrategyError(f"{what} is for periodic windows: leave it out here")


def _operators(plan: SharingPlan, strategy: str) -> Operators:
    if strategy == "wcg":
        reason = "sessions in SQL: slices first, then one sort for all gaps"
        return Operators("sessions", reason, {node.id: "sessions" for node in plan.nodes})
    reason = "records of a key in order, all windows in one pass of NumPy"
    return Operators("cutty", reason, {node.id: "cutty" for node in plan.nodes})

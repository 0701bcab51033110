"""Planning a query with windows that the data decides: the same plan type, checker and explainer.

wcg      source ─▶ slices of the smallest gap ─▶ sessions of it ─▶ of the next larger gap ─▶ …
         For sessions alone, in batches of Spark. Sessions of a larger gap are unions of those of a
         smaller one, so one pass of the smallest feeds all; and records of one key in the same
         slice of that length are never a pause apart, so the source is grouped into slices before
         anything is put in order.
cutty    source ─▶ slices that begin where any window begins ─▶ every window, periodic ones too

Which pieces make an instance only the records tell: the checker knows the relation, and tests hold
it to generated records.
"""

from __future__ import annotations

from muntin.cost import total
from muntin.errors import StrategyError, shown
from muntin.model.data_windows import Begins, DataWindow, Session
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.plan import Node, SharingPlan, check
from muntin.plan.coverage import DATA_DEPENDENT
from muntin.plan.slicing import Cut, Slices
from muntin.plan.tree import slices_node, unused_id, window_node
from muntin.planner.choice import choose
from muntin.planner.found import Alternative, Found
from muntin.planner.options import Options

KNOWN = ("auto", "cutty", "wcg")


def find_data_plan(query: Query, options: Options) -> Found:
    """The plan of such a query, with the plans that it was compared with."""
    _refuse(options)
    plans = _plans(query, options)
    for plan in plans.values():
        check(plan, query.all_windows)
    chosen = next(iter(plans)) if options.strategy == "auto" else options.strategy
    if chosen not in plans:
        raise StrategyError(
            "strategy 'wcg' computes sessions from sessions; other windows that the data decides, "
            "and sessions with a maximum, take strategy 'cutty'"
        )
    question, refused = options.question(query), options.facts.refused
    choices, tried = {}, []
    for name in sorted(plans, key=lambda name: name != chosen):
        forced = options.forced if name == chosen else None
        choice = choices[name] = choose(plans[name], question, options.engine, forced, refused)
        cost = total(options.rates, plans[name])
        tried.append(Alternative(name, choice.operator.name, cost, choice.seconds))
    cost, choice = total(options.rates, plans[chosen]), choices[chosen]
    return Found(query, plans[chosen], chosen, cost, options.rates, tuple(tried), choice, options)


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


def session_chain(windows: tuple[DataWindow, ...], idempotent: bool) -> SharingPlan | None:
    """Sessions from the smallest gap to the largest; None if there is any other window.

    >>> from muntin.model.data_windows import session
    >>> plan = session_chain((session("1 hour"), session("5 minutes")), False)
    >>> [(node.id, node.parent) for node in plan.nodes]
    [('slices', None), ('session 5 minutes', 'slices'), ('session 1 hour', 'session 5 minutes')]
    """
    sessions = [w for w in windows if isinstance(w, Session) and w.maximum is None]
    if len(sessions) < len(windows):
        return None
    ordered = sorted(sessions, key=lambda w: w.gap)
    cells = Slices((Cut(ordered[0].gap, 0),), "slices")
    nodes = [slices_node(cells, unused_id("slices", [w.id for w in windows]))]
    for window in ordered:
        nodes.append(Node(window.id, window, nodes[-1].id, DATA_DEPENDENT))
    return SharingPlan.build(nodes, idempotent)


def on_begins(
    windows: tuple[Window, ...], data_windows: tuple[DataWindow, ...], idempotent: bool
) -> SharingPlan:
    """All windows on slices that begin where any of them begins."""
    ids = [w.id for w in windows] + [w.id for w in data_windows]
    slices = Begins(windows=(*windows, *data_windows))
    root = Node(unused_id("slices", ids), slices, None, DATA_DEPENDENT, hidden=True)
    periodic = [window_node(w, root.id) for w in windows]
    others = [Node(w.id, w, root.id, DATA_DEPENDENT) for w in data_windows]
    return SharingPlan.build([root, *periodic, *others], idempotent)

"""Which operator runs each edge, by predicted seconds.

    window   Spark's own window() queries in a union: what there is without sharing
    slices   one grouping of the source: each row falls into exactly one piece
    expand   each row is exploded into the instances it feeds, then grouped, level by level
    kernel   sorted pieces through NumPy: two scans and one combine a result, whatever the overlap

Predictions are seconds for ten million rows on two cores; the constants were measured with `muntin
bench batch`, and only their ratios matter to a choice. Levels below the first run either all by
expand or all by kernel: both start from the same grouped rows, and a second branch would compute
these again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from muntin.aggregates import Aggregate
from muntin.cost import RateCost, node_costs
from muntin.errors import StrategyError, did_you_mean
from muntin.kernels.mergers import not_merged
from muntin.kernels.tree import Branch
from muntin.physical.forest import disjoint, forest
from muntin.plan import SharingPlan, closed
from muntin.query import Query
from muntin.windows import Window

ROWS = 10_000_000
"""The volume that predictions are for."""

GROUP = 1.1e-7
"""Seconds to read a row and group it once."""
COPY = 0.85e-7
"""Seconds to copy a row into one more instance, and group it."""
EXPAND = 2.8e-7
"""Seconds to explode a partial into one instance that it feeds, and merge it there."""
SHIP = 6e-7
"""Seconds to shuffle and sort a partial and hand it to Python."""
SCAN = 0.8e-7
"""Seconds to scan a partial for one window."""
RESULT = 1.5e-7
"""Seconds to combine one result in Python and hand it back."""
SHUFFLE = 0.15
"""Seconds for one more stage, however few its rows."""

OPERATORS = ("window", "expand", "kernel")


@dataclass(frozen=True, slots=True)
class Operators:
    """How a plan runs: the operator of the whole, of each edge, and why."""

    name: str
    reason: str
    edges: dict[str, str] = field(default_factory=dict, repr=False)


def choose(plan: SharingPlan, query: Query, rates: RateCost, forced: str | None) -> Operators:
    """The cheapest operator that can run the plan, or the forced one if it can."""
    if forced is not None and forced not in OPERATORS:
        raise StrategyError(f"unknown operator {forced!r}: {did_you_mean(forced, OPERATORS)}")
    if forced is not None:
        refusal = kernel_refusal(plan, query) if forced == "kernel" else _python_refusal(query)
        if refusal:
            raise StrategyError(f"operator {forced!r} cannot run this plan: {refusal}")
        return _named(forced, plan, "as asked")
    seconds = predicted(plan, query, rates)
    if not seconds:
        raise StrategyError(f"no operator can run this plan: {kernel_refusal(plan, query)}")
    best = min(seconds, key=lambda name: seconds[name])
    others = ", ".join(f"{n} {s / seconds[best]:.3g}×" for n, s in seconds.items() if n != best)
    return _named(best, plan, f"predicted cheapest; {others}")


def predicted(plan: SharingPlan, query: Query, rates: RateCost) -> dict[str, float]:
    """Seconds for ten million rows, by every operator that can run the plan."""
    plan = closed(plan)
    seconds = {"window": _window(query, rates), "expand": _expand(plan, rates)}
    if any(a.function.in_python for a in query.aggregates):
        seconds = {}
    if kernel_refusal(plan, query) is None:
        seconds["kernel"] = _kernel(plan, rates)
    return seconds


def _named(name: str, plan: SharingPlan, reason: str) -> Operators:
    first = {node.id for node in plan.children(None)}
    alone = len(first) == 1 and disjoint(plan.children(None)[0])
    edges = {}
    for node in plan.nodes:
        if name == "window":
            edges[node.id] = "window"
        elif node.id in first:
            edges[node.id] = "slices" if alone else "expand"
        else:
            edges[node.id] = name
    return Operators(name, reason, edges)


def _python_refusal(query: Query) -> str | None:
    """Why only the kernel can run this query, or None."""
    own = next((a.name for a in query.aggregates if a.function.in_python), None)
    return f"{own} is written in Python, which only the kernel runs" if own else None


def kernel_refusal(plan: SharingPlan, query: Query) -> str | None:
    """Why the kernel cannot run this plan, or None."""
    strangers = [a for a in query.aggregates if not_merged(_mergers(a))]
    if strangers and not merged_beside(query):
        return f"{strangers[0].name} is merged only by the engine itself"
    if forest(plan) is None:
        return "a window is computed from one that overlaps itself and reads the source"
    return None


def merged_beside(query: Query) -> tuple[Aggregate, ...]:
    """What the engine merges beside the kernel, where another aggregate must run in the kernel."""
    if not any(a.function.in_python for a in query.aggregates):
        return ()
    return tuple(a for a in query.aggregates if not_merged(_mergers(a)))


def _mergers(aggregate: Aggregate) -> list[str]:
    function = aggregate.function
    unknown = [None] * max(len(aggregate.arguments), function.arity)
    return [partial.merger for partial in function.partials(unknown)]


def _window(query: Query, rates: RateCost) -> float:
    """One scan and one grouping for each window, and a copy for each instance of a row."""
    return sum(ROWS * (GROUP + COPY * (w.overlap - 1)) + SHUFFLE for w in query.windows)


def _first(plan: SharingPlan) -> float:
    roots = plan.children(None)
    copies = sum(n.shape.overlap if isinstance(n.shape, Window) else 1.0 for n in roots)
    return ROWS * (GROUP + COPY * (copies - 1)) + SHUFFLE


def _expand(plan: SharingPlan, rates: RateCost) -> float:
    costs = node_costs(rates, plan)
    below = sum(costs[node.id] for node in plan.nodes if node.parent is not None)
    stages = len(plan.levels()) - 1
    return _first(plan) + EXPAND * below * ROWS / rates.rate + SHUFFLE * stages


def _kernel(plan: SharingPlan, rates: RateCost) -> float:
    below = 0.0
    for number, branches in (forest(plan) or {}).items():
        rows = rates.rows(plan.nodes[number].shape)
        below += SHIP * rows + _branches(branches, rows, rates)
    return _first(plan) + below * ROWS / rates.rate + SHUFFLE


def _branches(branches: tuple[Branch, ...], rows: float, rates: RateCost) -> float:
    seconds = 0.0
    for branch in branches:
        results = rates.rows(branch.window)
        seconds += SCAN * rows + RESULT * results + _branches(branch.branches, results, rates)
    return seconds

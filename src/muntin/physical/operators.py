"""Which operator runs each edge, by predicted seconds.

    window   Spark's own window() queries in a union: what there is without sharing
    slices   one grouping of the source: each row falls into exactly one piece
    expand   each row is exploded into the instances it feeds, then grouped, level by level
    kernel   sorted pieces through NumPy: two scans and one combine a result, whatever the overlap

The constants are seconds for a million rows on one core, measured with `muntin bench batch`; only
their ratios matter to the choice. Levels below the first run either all by expand or all by kernel,
since both start from the same grouped rows and a second pass over them would be computed twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from muntin.cost import RateCost
from muntin.errors import StrategyError, did_you_mean
from muntin.kernels.columns import serves
from muntin.kernels.tree import Branch
from muntin.physical.forest import disjoint, forest
from muntin.plan import SharingPlan
from muntin.query import Query
from muntin.windows import Window

GROUP = 0.10
"""To hash one row into a group."""
COPY = 0.17
"""To copy a row into one more instance by window(), and group it."""
EXPAND = 0.60
"""To explode a partial into one instance it feeds, and merge it there."""
SHIP = 0.50
"""To sort a partial, hand it to Python and scan it for one window."""
RESULT = 0.55
"""To combine one result in Python and hand it back."""

OPERATORS = ("window", "expand", "kernel")


@dataclass(frozen=True, slots=True)
class Operators:
    """How a plan runs: the operator of the whole, of each edge, and why."""

    name: str
    reason: str
    edges: dict[str, str] = field(default_factory=dict)


def choose(plan: SharingPlan, query: Query, rates: RateCost, forced: str | None) -> Operators:
    """The cheapest operator that can run the plan, or the forced one if it can."""
    if forced is not None and forced not in OPERATORS:
        raise StrategyError(f"unknown operator {forced!r}: {did_you_mean(forced, OPERATORS)}")
    refusals = {"kernel": kernel_refusal(plan, query)}
    if forced is not None:
        if refusals.get(forced):
            raise StrategyError(f"operator {forced!r} cannot run this plan: {refusals[forced]}")
        return _named(forced, plan, "as asked")
    seconds = {"window": _window(query, rates), "expand": _expand(plan, rates)}
    if not refusals["kernel"]:
        seconds["kernel"] = _kernel(plan, rates)
    best = min(seconds, key=lambda name: seconds[name])
    others = ", ".join(f"{n} {s / seconds[best]:.3g}×" for n, s in seconds.items() if n != best)
    return _named(best, plan, f"predicted cheapest; {others}")


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


def kernel_refusal(plan: SharingPlan, query: Query) -> str | None:
    """Why the kernel cannot run this plan, or None."""
    mergers = [
        partial.merger
        for a in query.aggregates
        for partial in a.function.partials([None] * max(len(a.arguments), a.function.arity))
    ]
    stranger = serves(mergers)
    if stranger:
        return f"{stranger} is merged only by the engine itself"
    if forest(plan) is None:
        return "a window is computed from one that overlaps itself and reads the source"
    return None


def _window(query: Query, rates: RateCost) -> float:
    return sum(rates.rate * (GROUP + COPY * (w.overlap - 1)) for w in query.windows)


def _first(plan: SharingPlan, rates: RateCost) -> float:
    roots = plan.children(None)
    copies = sum(1 if disjoint(node) else _overlap(node.shape) for node in roots)
    return rates.rate * (GROUP if copies == 1 else GROUP + COPY * copies)


def _overlap(shape: object) -> float:
    return shape.overlap if isinstance(shape, Window) else 1.0


def _expand(plan: SharingPlan, rates: RateCost) -> float:
    below = [rates.edge(p, n.shape, n.pieces) for p, n in plan.edges() if n.parent is not None]
    return _first(plan, rates) + EXPAND * sum(below)


def _kernel(plan: SharingPlan, rates: RateCost) -> float:
    grown = forest(plan) or {}
    seconds = _first(plan, rates)
    for number, branches in grown.items():
        if branches:
            seconds += _branches(branches, rates.rows(plan.nodes[number].shape), rates)
    return seconds


def _branches(branches: tuple[Branch, ...], rows: float, rates: RateCost) -> float:
    seconds = 0.0
    for branch in branches:
        results = rates.rows(branch.window)
        seconds += SHIP * rows + RESULT * results
        seconds += _branches(branch.branches, results, rates)
    return seconds

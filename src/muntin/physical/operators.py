"""Which operator runs each edge, by predicted seconds.

    window   Spark's own window() queries in a union: what there is without sharing
    slices   one grouping of the source: each row falls into exactly one piece
    expand   each row is exploded into the instances it feeds, then grouped, level by level
    kernel   sorted pieces through NumPy: two scans and one combine a result, whatever the overlap

The work of each is counted (muntin.physical.work) and priced (muntin.cost.spark). Levels below the
first run either all by expand or all by kernel: both start from the same grouped rows, and a second
branch would compute these again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from muntin.aggregates import Aggregate
from muntin.cost import SparkCost
from muntin.cost.spark import Work
from muntin.errors import StrategyError, is_one_of, unknown
from muntin.kernels.mergers import not_merged
from muntin.physical.forest import disjoint, forest
from muntin.physical.work import Counter
from muntin.plan import SharingPlan, closed
from muntin.query import Query

OPERATORS = ("window", "expand", "kernel")


@dataclass(frozen=True, slots=True)
class Operators:
    """How a plan runs: the operator of the whole, of each edge, and why."""

    name: str
    reason: str
    edges: dict[str, str] = field(default_factory=dict, repr=False)
    seconds: float | None = None
    """How long the plan is predicted to take, where that is known."""


def choose(plan: SharingPlan, query: Query, cost: SparkCost, forced: str | None) -> Operators:
    """The cheapest operator that can run the plan, or the forced one if it can."""
    if forced is not None and not is_one_of(forced, OPERATORS):
        raise StrategyError(unknown("operator", forced, OPERATORS))
    if forced is not None:
        refusal = kernel_refusal(plan, query) if forced == "kernel" else _python_refusal(query)
        if refusal:
            raise StrategyError(f"operator {forced!r} cannot run this plan: {refusal}")
        return _named(forced, plan, "as asked", predicted(plan, query, cost).get(forced))
    seconds = predicted(plan, query, cost)
    if not seconds:
        raise StrategyError(f"no operator can run this plan: {kernel_refusal(plan, query)}")
    best = min(seconds, key=lambda name: seconds[name])
    others = ", ".join(f"{n} {s / seconds[best]:.3g}×" for n, s in seconds.items() if n != best)
    return _named(best, plan, f"predicted fastest; {others}", seconds[best])


def predicted(plan: SharingPlan, query: Query, cost: SparkCost) -> dict[str, float]:
    """Seconds by every operator that can run the plan."""
    works = works_of(plan, query, cost)
    return {name: cost.constants.seconds(work) for name, work in works.items()}


def works_of(plan: SharingPlan, query: Query, cost: SparkCost) -> dict[str, Work]:
    """The work of every operator that can run the plan."""
    plan = closed(plan)
    counter = Counter(query, cost.statistics, cost.constants.cores)
    works: dict[str, Work] = {}
    if not any(a.function.in_python for a in query.aggregates):
        works = {"window": counter.window(), "expand": counter.expand(plan)}
    if kernel_refusal(plan, query) is None:
        works["kernel"] = counter.kernel(plan)
    return works


def _named(name: str, plan: SharingPlan, reason: str, seconds: float | None) -> Operators:
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
    return Operators(name, reason, edges, seconds)


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

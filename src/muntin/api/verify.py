"""verify: run the engine's own window queries beside ours and compare every row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, overload

from muntin.api.engine import engine_of
from muntin.api.optimize import optimize
from muntin.api.plan import Plan
from muntin.api.plans import Plans
from muntin.engines.verification import Verification
from muntin.errors import StrategyError, shortened
from muntin.model.choices import Strategy
from muntin.model.query import Query
from muntin.report import Outcome


@dataclass(frozen=True, slots=True, repr=False)
class Verifications(Outcome):
    """The outcome of several queries, by their ids."""

    queries: Mapping[str, Verification]

    @property
    def rows(self) -> int:
        """How many rows were compared."""
        return sum(each.rows for each in self.queries.values())

    @property
    def different(self) -> int:
        """How many rows differ."""
        return sum(each.different for each in self.queries.values())

    def __repr__(self) -> str:
        return "\n".join(f"{shortened(id)}: {each!r}" for id, each in self.queries.items())


@overload
def verify(data: Any, query: Query | Plan, strategy: Strategy = "auto") -> Verification: ...


@overload
def verify(
    data: Any,
    query: Plans | None = None,
    strategy: Strategy = "auto",
    queries: Mapping[str, Query] | None = None,
) -> Verifications: ...


def verify(
    data: Any,
    query: Any = None,
    strategy: Strategy = "auto",
    queries: Mapping[str, Query] | None = None,
) -> Verification | Verifications:
    """Whether the plan's rows equal the engine's own (Spark's window() rows), and where not.

    Of several queries (their plans, or `queries` by id) every one is compared by itself.
    """
    engine = engine_of(data)
    if engine.name == "stream":
        raise StrategyError(
            "verify compares finished results, and this is a streaming DataFrame: give it a batch "
            "of the same rows, read with spark.read"
        )
    plan: Plan | Plans
    if isinstance(query, Plan | Plans):
        plan = query
    elif queries is not None:
        plan = optimize(query, strategy, engine=engine.name, queries=queries)
    else:
        plan = optimize(query, strategy, engine=engine.name)
    if isinstance(plan, Plan):
        bound, choice = plan.on(engine, data)
        outcome: Verification = engine.compare(choice, bound)
        return outcome
    found: dict[str, Verification] = {}
    for each, one in zip(plan.sets, plan.plans, strict=True):
        bound, choice = one.on(engine, data)
        found |= {m.id: engine.compare(choice, bound, m) for m in each.members}
    return Verifications({id: found[id] for id in _ids(plan)})


def _ids(plans: Plans) -> list[str]:
    return [member.id for each in plans.sets for member in each.members]

"""verify: run the engine's own window queries beside ours and compare every row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from muntin.api.engine import engine_of
from muntin.api.optimize import optimize
from muntin.api.plan import Plan
from muntin.api.plans import Plans
from muntin.choices import Strategy
from muntin.errors import StrategyError
from muntin.printable import shortened
from muntin.query import Query
from muntin.report import Outcome

if TYPE_CHECKING:
    from muntin.embedded import Verification as InProcess
    from muntin.spark.verify import Verification


@dataclass(frozen=True, slots=True, repr=False)
class Verifications(Outcome):
    """The outcome of several queries, by their ids."""

    queries: Mapping[str, Verification | InProcess]

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
def verify(
    data: Any, query: Query | Plan, strategy: Strategy = "auto"
) -> Verification | InProcess: ...


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
) -> Verification | InProcess | Verifications:
    """Whether the plan's rows equal the engine's own (Spark's window() rows), and where not.

    Of several queries (their plans, or `queries` by id) every one is compared by itself.
    """
    if engine_of(data) == "stream":
        raise StrategyError(
            "verify compares finished results, and this is a streaming DataFrame: give it a batch "
            "of the same rows, read with spark.read"
        )
    plan: Plan | Plans
    if isinstance(query, Plan | Plans):
        plan = query
    elif queries is not None:
        plan = optimize(query, strategy, engine=engine_of(data), queries=queries)
    else:
        plan = optimize(query, strategy, engine=engine_of(data))
    if isinstance(plan, Plans):
        return Verifications(_each(data, plan))
    if engine_of(data) == "sql":
        from muntin.embedded import compare as compare_in_process

        if plan.query.data_windows:
            raise StrategyError(
                f"DuckDB has no window of its own to compare {plan.query.data_windows[0].id!r} "
                "with: verify sessions on Spark, others with muntin.userwindows.evaluate"
            )
        return compare_in_process(data, plan.query, plan.tree)
    from muntin.spark.verify import compare

    return compare(data, plan.query, plan.apply(data))


def _each(data: Any, plans: Plans) -> dict[str, Verification | InProcess]:
    if engine_of(data) == "sql":
        from muntin.embedded import compare_own

        return {
            member.id: compare_own(data, each.query, plan.tree, member)
            for each, plan in zip(plans.sets, plans.plans, strict=True)
            for member in each.members
        }
    from muntin.spark.verify import compare

    asked = {member.id: member.query for each in plans.sets for member in each.members}
    results = plans.apply(data, deliver="dict")
    return {id: compare(data, query, results[id]) for id, query in asked.items()}

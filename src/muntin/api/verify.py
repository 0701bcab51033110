"""verify: run the engine's own window queries beside ours and compare every row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import overload

from muntin.api.as_of import AsOfPlan
from muntin.api.engine import engine_of
from muntin.api.optimize import find_plans
from muntin.api.plan import Plan
from muntin.api.plans import Plans
from muntin.engines.verification import Verification
from muntin.errors import StrategyError, shortened
from muntin.model.choices import Strategy
from muntin.model.query import Query
from muntin.planner.options import ASSUMED, Options
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
def verify(
    data: object, query: Query | Plan | AsOfPlan, strategy: Strategy = "auto"
) -> Verification: ...


@overload
def verify(
    data: object,
    query: Plans | None = None,
    strategy: Strategy = "auto",
    queries: Mapping[str, Query] | None = None,
) -> Verifications: ...


def verify(
    data: object,
    query: Query | Plan | Plans | AsOfPlan | None = None,
    strategy: Strategy = "auto",
    queries: Mapping[str, Query] | None = None,
) -> Verification | Verifications:
    """Whether the plan's rows equal the engine's own (Spark's window() rows), and where not.

    `data` is a table, not a stream; `query` is from mt.query, or a plan of it; without a plan,
    `strategy` says how one is found.

    Of several queries (their plans, or `queries` by id) every one is compared by itself. Trailing
    windows (`mt.explain(rows, ...)` gives their plan) are compared with Spark's own RANGE frames,
    or with a range join where Spark has no such frame. The result prints one line, or the rows
    that differ; `.equal` is True or False. Tables in process are compared with DuckDB's
    direct evaluation.

    >>> import muntin as mt, pyarrow as pa
    >>> from datetime import datetime
    >>> rows = pa.table({"ts": [datetime(2026, 1, 1, 0, m) for m in (0, 7, 8)], "v": [1, 2, 4]})
    >>> windows = [mt.tumbling("5 minutes"), mt.hopping("10 minutes", "5 minutes")]
    >>> print(mt.verify(rows, mt.query("ts", windows, [mt.sum("v")])))
    equal: all 5 rows are those of DuckDB's direct evaluation
    """
    if isinstance(query, AsOfPlan):
        return query.bound.compare()
    engine = engine_of(data)
    if engine.name == "stream":
        raise StrategyError(
            "verify compares finished results, and this is a streaming DataFrame: give it a batch "
            "of the same rows, read with spark.read"
        )
    if isinstance(query, Plan | Plans):
        plan = query
    else:
        options = Options(strategy, engine=engine.name)
        plan = find_plans(query, queries, options, ASSUMED)
    if isinstance(plan, Plan):
        bound, choice = plan.bind(engine, data)
        outcome: Verification = engine.compare(choice, bound)
        return outcome
    found: dict[str, Verification] = {}
    for each, one in zip(plan.sets, plan.plans, strict=True):
        bound, choice = one.bind(engine, data)
        found |= {m.id: engine.compare(choice, bound, m) for m in each.members}
    return Verifications(found)

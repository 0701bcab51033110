"""verify: run the engine's own window queries beside ours and compare every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.api.optimize import optimize
from muntin.api.plan import Plan
from muntin.query import Query

if TYPE_CHECKING:
    from muntin.spark.verify import Verification


def verify(data: Any, query: Query | Plan, strategy: str = "auto") -> Verification:
    """Whether the plan's rows equal Spark's own window() rows, and where they differ."""
    from muntin.spark.verify import compare

    plan = query if isinstance(query, Plan) else optimize(query, strategy)
    return compare(data, plan.query, plan.apply(data))

"""verify: run the engine's own window queries beside ours and compare every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.api.engine import engine_of
from muntin.api.optimize import optimize
from muntin.api.plan import Plan
from muntin.query import Query

if TYPE_CHECKING:
    from muntin.embedded import Verification as InProcess
    from muntin.spark.verify import Verification


def verify(data: Any, query: Query | Plan, strategy: str = "auto") -> Verification | InProcess:
    """Whether the plan's rows equal the engine's own (Spark's window() rows), and where not."""
    from muntin.embedded import compare as compare_in_process

    engine = engine_of(data)
    plan = query if isinstance(query, Plan) else optimize(query, strategy, engine=engine)
    if engine == "sql":
        return compare_in_process(data, plan.query, plan.tree)
    from muntin.spark.verify import compare

    return compare(data, plan.query, plan.apply(data))

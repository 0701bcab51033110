"""Run a given sharing plan: on Spark by a named operator, in process, or as SQL text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from muntin.cost import Statistics
from muntin.dialects import render
from muntin.engines.duckdb import ENGINE
from muntin.engines.engine import Engine
from muntin.engines.verification import Verification
from muntin.model.query import Query
from muntin.physical import STREAM, PhysicalPlan, Question, lower
from muntin.physical.operators.sql import SQL
from muntin.plan import SharingPlan, refine, slice_roots
from muntin.planner.choice import Choice, choose

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


STREAM_OPERATORS = tuple(
    o.name for o in STREAM if o.chosen and o.aggregates and not o.for_data_windows
)
"""What runs periodic windows on a stream, by name."""


def question_of(query: Query, **known: Any) -> Question:
    """A query over data with these statistics."""
    return Question(query, Statistics(**known))


def chosen(
    plan: SharingPlan,
    query: Query,
    operator: str | None = None,
    engine: str = "spark",
    **known: Any,
) -> Choice:
    """The plan by the operator named, or by the one predicted fastest, as it will run."""
    return choose(plan, question_of(query, **known), engine, operator)


def as_sql(plan: SharingPlan, query: Query) -> PhysicalPlan:
    """The plan as SQL text runs it."""
    return lower(SQL.rewrite(plan, question_of(query)))


def for_stream(plan: SharingPlan) -> PhysicalPlan:
    """The plan as a stream keeps it: its first level are disjoint pieces."""
    return lower(slice_roots(refine(plan)))


def sql_text(
    plan: SharingPlan,
    query: Query,
    dialect: str,
    table: str,
    types: Mapping[str, str] | None = None,
) -> str:
    """The plan as one SQL statement."""
    return render(as_sql(plan, query), query, dialect, table, types)


def in_process(plan: SharingPlan, query: Query, data: Any, operator: str | None = None) -> Any:
    """The rows of the plan in process, as the kind of table given."""
    choice, bound = _ready(ENGINE, plan, query, data, operator)
    return ENGINE.run(choice, bound, "long", "omit")


def compared(plan: SharingPlan, query: Query, data: Any) -> Verification:
    """The rows of the plan on DuckDB against its direct evaluation."""
    choice, bound = _ready(ENGINE, plan, query, data, None)
    return ENGINE.compare(choice, bound)


def on_spark(
    plan: SharingPlan,
    query: Query,
    df: DataFrame,
    operator: str = "expand",
    layout: str = "long",
    empty: str = "omit",
) -> DataFrame:
    """The rows of the plan on a batch of Spark, by the operator named."""
    from muntin.engines.spark.engine import BATCH_ENGINE

    choice, bound = _ready(BATCH_ENGINE, plan, query, df, operator)
    return BATCH_ENGINE.run(choice, bound, layout, empty)


def _ready(
    engine: Engine, plan: SharingPlan, query: Query, data: Any, operator: str | None
) -> tuple[Choice, Any]:
    """The plan as it will run on this data, and the data that it is bound to."""
    bound = engine.bind(data, query)
    facts = engine.facts(bound, operator)
    question = Question(query, Statistics(), stranger=facts.stranger)
    return choose(plan, question, engine.name, facts.forced, facts.refused), bound

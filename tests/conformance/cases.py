"""A question as Muntin is asked it: the query, the table, and every plan that strategies give."""

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

import muntin as mt
from conformance.everyday import Question
from muntin.aggregates import aggregate_named
from muntin.cost import RateCost
from muntin.model.query import Query
from muntin.plan import SharingPlan, check
from muntin.planner.strategies import STRATEGIES, Problem

SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", "UTC")),
        ("k", pa.string()),
        ("part", pa.int32()),
        ("n", pa.int64()),
        ("x", pa.float64()),
        ("o", pa.int64()),
        ("s", pa.string()),
    ]
)
SPARK_TYPES = {
    **{"ts": "timestamp", "k": "string", "part": "int", "n": "bigint"},
    **{"x": "double", "o": "bigint", "s": "string"},
}


@dataclass(frozen=True)
class Case:
    """A question with one plan that answers it."""

    question: Question
    query: Query
    strategy: str
    plan: SharingPlan

    @property
    def table(self) -> pa.Table:
        """The rows."""
        return table_of(self.question)


def table_of(question: Question) -> pa.Table:
    """The rows of a question as an Arrow table."""
    return pa.Table.from_pylist(list(question.rows), SCHEMA)


def query_of(question: Question) -> Query:
    """The question in Muntin's words."""
    windows = [mt.hopping(*window) for window in question.windows]
    aggregates = []
    for i, (call, only) in enumerate(question.calls):
        made = aggregate_named(call.function, *call.arguments).alias(f"a{i}")
        aggregates.append(made.filter(only[0]) if only else made)
    where = question.where[0] if question.where else None
    return mt.query("ts", windows, aggregates, list(question.keys), where)


def cases_of(question: Question, strategies: Iterable[str] = STRATEGIES) -> list[Case]:
    """Every different plan of these strategies, checked, under the name of the first to give it."""
    query = query_of(question)
    cost = RateCost(question.rate, question.distinct_keys)
    problem = Problem(query.windows, query.idempotent, cost, question.slicing)
    found: dict[tuple[object, ...], Case] = {}
    for strategy in strategies:
        plan = STRATEGIES[strategy](problem)
        check(plan, query.windows)
        found.setdefault(plan.nodes, Case(question, query, strategy, plan))
    return list(found.values())

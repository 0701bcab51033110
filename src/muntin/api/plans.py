"""Plans for several queries: one for each set that shares, and every query's own rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from muntin.api.engine import engine_of
from muntin.api.plan import Plan
from muntin.api.shape import check_shape
from muntin.choices import Deliver, Dialect, Empty, Layout
from muntin.delivery import check_delivery
from muntin.errors import StrategyError
from muntin.printable import printable, shortened
from muntin.queries import Member, SharingSet


@dataclass(frozen=True, slots=True, repr=False)
class Plans:
    """The plans of several queries: `plans[i]` computes the combined query of `sets[i]`.

    Queries over the same rows with the same keys are planned as one; `explain()` says which, and
    why the others are not among them.
    """

    sets: tuple[SharingSet, ...]
    plans: tuple[Plan, ...]

    @property
    def cost(self) -> float:
        """The cost of all plans."""
        return sum(plan.cost for plan in self.plans)

    def explain(self) -> str:
        """Which queries share, why others do not, and every plan."""
        return "\n\n".join(
            f"{self._title(number)}\n{plan.explain()}" for number, plan in enumerate(self.plans)
        )

    def apply(
        self,
        data: Any,
        layout: Layout = "long",
        empty: Empty = "omit",
        deliver: Deliver = "one",
        **streaming: Any,
    ) -> Any:
        """Run all plans: one result with a column query_id, or with "dict" a result of each query.

        The one result has the columns of all queries, null in the rows of queries that did not ask
        for them. All other options are those of Plan.apply; the wide layout needs "dict". A Spark
        DataFrame of a dict is evaluated when it is used: use the one result to compute the rows of
        all queries in one pass.
        """
        check_delivery(deliver)
        check_shape(engine_of(data), layout, empty)
        if layout == "wide" and deliver != "dict":
            raise StrategyError(
                "layout='wide' has columns of its own for each query: deliver='dict'"
            )
        if engine_of(data) == "sql":
            return self._in_process(data, deliver)
        from muntin.spark.delivery import in_one, own
        from muntin.spark.layout import in_layout

        longs = [plan.apply(data, "long", empty, **streaming) for plan in self.plans]
        if deliver == "one":
            return in_one(longs, self.sets)
        return {
            member.id: in_layout(own(longs[number], member), member.query, layout)
            for number, member in self._members()
        }

    def to_sql(
        self, dialect: Dialect, table: str = "events", types: Mapping[str, str] | None = None
    ) -> str:
        """All plans as one SQL statement for "spark" or "duckdb", with a column query_id."""
        from muntin.sql import in_one_sql, writer_named

        texts = [plan.to_sql(dialect, table, types) for plan in self.plans]
        return in_one_sql(texts, self.sets, writer_named(dialect))

    def _in_process(self, data: Any, deliver: str) -> Any:
        from muntin.embedded import apply_all, apply_own

        trees = [plan.tree for plan in self.plans]
        if deliver == "one":
            return apply_all(trees, self.sets, data)
        return {
            member.id: apply_own(trees[number], self.sets[number].query, member, data)
            for number, member in self._members()
        }

    def _members(self) -> list[tuple[int, Member]]:
        return [(i, member) for i, each in enumerate(self.sets) for member in each.members]

    def _title(self, number: int) -> str:
        each = self.sets[number]
        ids = ", ".join(map(shortened, each.ids))
        if len(each.ids) > 1:
            title = f"queries {ids}: one plan"
        else:
            title = f"query {ids}: a plan of its own" if len(self.sets) > 1 else f"query {ids}"
        return f"{title} ({printable(each.reason)})" if each.reason else title

    def __repr__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return "".join(
            f"<h4>{escape(self._title(number))}</h4>{plan._repr_html_()}"
            for number, plan in enumerate(self.plans)
        )

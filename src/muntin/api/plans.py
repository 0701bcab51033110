"""Plans for several queries: one for each set that shares, and every query's own rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Literal, overload

from muntin.api.engine import check_shape, engine_of
from muntin.api.plan import Plan, Table
from muntin.api.stream_options import StreamOptions, check_names
from muntin.engines.engine import Engine
from muntin.errors import StrategyError, printable, shortened
from muntin.model.choices import Deliver, Dialect, Empty, Layout
from muntin.model.queries import SharingSet, check_delivery

if TYPE_CHECKING:
    from typing import Unpack


@dataclass(frozen=True, slots=True, repr=False)
class Plans:
    """The plans of several queries: `plans[i]` computes the combined query of `sets[i]`.

    mt.optimize(queries={...}) and mt.explain(df, queries={...}) make it. Queries over the same rows
    with the same keys are planned as one; `explain()` says which, and why the others are not among
    them. `apply` runs them all.

    >>> import muntin as mt
    >>> hours = mt.query("ts", [mt.tumbling("1 hour")], [mt.count()], keys="device")
    >>> days = mt.query("ts", [mt.tumbling("1 day")], [mt.max("v")], keys="device")
    >>> by_site = mt.query("ts", [mt.tumbling("1 day")], [mt.count()], keys="site")
    >>> plans = mt.optimize(queries={"hours": hours, "days": days, "sites": by_site})
    >>> [each.ids for each in plans.sets]
    [('hours', 'days'), ('sites',)]
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
            f"{self._title(number)}\n{self._shared(number)}{plan.explain()}"
            for number, plan in enumerate(self.plans)
        )

    @overload
    def apply(
        self,
        data: Table,
        layout: Layout = "long",
        empty: Empty = "omit",
        deliver: Literal["one"] = "one",
        **stream: Unpack[StreamOptions],
    ) -> Table: ...

    @overload
    def apply(
        self,
        data: Table,
        layout: Layout = "long",
        empty: Empty = "omit",
        *,
        deliver: Literal["dict"],
        **stream: Unpack[StreamOptions],
    ) -> dict[str, Table]: ...

    def apply(
        self,
        data: object,
        layout: Layout = "long",
        empty: Empty = "omit",
        deliver: Deliver = "one",
        **stream: Unpack[StreamOptions],
    ) -> object:
        """Run all plans: one result with a column query_id, or with "dict" a result of each query.

        The one result has the columns of all queries, null in the rows of queries that did not ask
        for them. All other options are those of Plan.apply; the wide layout needs "dict". A Spark
        DataFrame of a dict is evaluated when it is used: use the one result to compute the rows of
        all queries in one pass.
        """
        check_names(stream, StreamOptions)
        engine = engine_of(data)
        check_shape(engine.name, layout, empty)
        ran = [plan.bind(engine, data, empty=empty, **stream) for plan in self.plans]
        ready = [replace(p, choice=c) for p, (_, c) in zip(self.plans, ran, strict=True)]
        bound = [each for each, _ in ran]
        return Plans(self.sets, tuple(ready)).deliver(engine, bound, (layout, empty), deliver)

    def deliver(
        self, engine: Engine, bound: Sequence[object], shape: tuple[str, str], deliver: str
    ) -> object:
        """The results of plans that fit the data which their queries are bound to."""
        check_delivery(deliver)
        if shape[0] == "wide" and deliver != "dict":
            raise StrategyError(
                "layout='wide' has other columns for each query: add deliver='dict'"
            )
        choices = [plan.choice for plan in self.plans]
        return engine.deliver(self.sets, choices, bound, shape, deliver)

    def to_sql(
        self, dialect: Dialect, table: str = "events", types: Mapping[str, str] | None = None
    ) -> str:
        """All plans as one SQL statement for "spark" or "duckdb", with a column query_id."""
        from muntin.dialects import in_one_sql, writer_named

        texts = [plan.to_sql(dialect, table, types) for plan in self.plans]
        return in_one_sql(texts, self.sets, writer_named(dialect))

    def _title(self, number: int) -> str:
        each = self.sets[number]
        ids = ", ".join(map(shortened, each.ids))
        if len(each.ids) > 1:
            title = f"queries {ids}: one plan"
        else:
            title = f"query {ids}: a plan of its own" if len(self.sets) > 1 else f"query {ids}"
        return f"{title} ({printable(each.reason)})" if each.reason else title

    def _shared(self, number: int) -> str:
        """What several queries of a set ask for, a line; the slices of all are in its tree."""
        common = self.sets[number].common
        if not common:
            return ""
        each = (
            f"{shortened(name)} ({', '.join(map(shortened, ids))})" for name, ids in common.items()
        )
        return f"computed once for several: {'; '.join(each)}\n"

    def __repr__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return "".join(
            f"<h4>{escape(self._title(number))}</h4>{plan._repr_html_()}"
            for number, plan in enumerate(self.plans)
        )

"""The arguments of mt.aggregate and mt.explain: one query's parts, or several queries, bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from muntin.aggregates import Aggregate
from muntin.api.engine import engine_of
from muntin.api.optimize import Finding, given_statistics, optimized
from muntin.api.plan import Plan
from muntin.api.plans import Plans
from muntin.api.shape import check_shape
from muntin.api.statistics import statistics as find
from muntin.api.stream_options import STREAM_OPTIONS, PlanOptions, check_names
from muntin.engines.engine import Engine
from muntin.errors import QueryError
from muntin.model.data_windows import DataWindow
from muntin.model.query import Query, query
from muntin.model.windows import Window
from muntin.physical.question import Facts
from muntin.planner.options import Options


@dataclass(frozen=True)
class Asked:
    """What is asked of some data, and how to plan it; bound to the data once for each query."""

    data: Any
    query: Query | None
    queries: Mapping[str, Query] | None
    options: Options
    statistics: Finding
    stream: Mapping[str, Any]

    @cached_property
    def engine(self) -> Engine:
        """What runs it."""
        return engine_of(self.data)

    @cached_property
    def _bound(self) -> dict[int, Any]:
        return {}

    def bound(self, query: Query) -> Any:
        """The query bound to the data, once."""
        if id(query) not in self._bound:
            self._bound[id(query)] = self.engine.bind(self.data, query, **self.stream)
        return self._bound[id(query)]

    def plan(self) -> Plan | Plans:
        """The plan, or plans, for this very data."""
        options = replace(self.options, engine=self.engine.name)

        def facts(query: Query) -> Facts:
            return self.engine.facts(self.bound(query), options.operator)

        return optimized(self.query, self.queries, options, self.statistics, facts)

    def run(self, layout: str, empty: str, deliver: str) -> Any:
        """The result of what was planned."""
        check_shape(self.engine.name, layout, empty)
        plan = self.plan()
        if isinstance(plan, Plan):
            return self.engine.run(plan.choice, self.bound(plan.query), layout, empty)
        bound = [self.bound(each.query) for each in plan.plans]
        return plan.delivered(self.engine, bound, (layout, empty), deliver)


def asked(
    data: Any,
    time: str | None,
    windows: Iterable[Window | DataWindow],
    aggregates: Iterable[Aggregate],
    keys: str | Iterable[str],
    where: str | None,
    queries: Mapping[str, Query] | None,
    given: PlanOptions,
) -> Asked:
    """The one query or the several, never both."""
    check_names(given, PlanOptions)
    options = Options(
        given.get("strategy", "auto"),
        cost=given.get("cost", "seconds"),
        operator=given.get("operator"),
    )
    stream = {name: value for name, value in given.items() if name in STREAM_OPTIONS}
    order_by = given.get("order_by", ())
    if queries is None:
        if time is None:
            raise QueryError("no time: name the timestamp column, time='ts', or give queries={...}")
        one = query(
            time=time,
            windows=windows,
            aggregates=aggregates,
            keys=keys,
            where=where,
            order_by=order_by,
        )
        return Asked(data, one, None, options, _finding(data, given), stream)
    if any((time, windows, aggregates, keys, where, order_by)):
        raise QueryError(
            "queries={...} hold their own time, windows, aggregates, keys and where: "
            "give these to mt.query(...), or leave queries out"
        )
    if stream.get("control") is not None:
        raise QueryError("a control changes the windows of one query: leave out queries or control")
    return Asked(data, None, queries, options, _finding(data, given), stream)


def _finding(data: Any, given: PlanOptions) -> Finding:
    """What is known of the data, or how to find it for a query."""
    keys, known = given.get("distinct_keys"), given.get("statistics")
    if isinstance(known, str):
        return partial(find, data, how=known, keys=1 if keys is None else keys)
    return given_statistics(known, given.get("rows"), keys, given.get("rate"))

"""What mt.distinct and mt.join would run: the question checked, bound to its tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.aggregates import count
from muntin.api.bound_plan import BoundPlan
from muntin.api.engine import engine_of
from muntin.engines.bound_question import BoundQuestion
from muntin.errors import ColumnError, QueryError, WindowError, shown
from muntin.model.choices import Grouping, NestedLayout, Output
from muntin.model.durations import Duration
from muntin.model.query import Query, query
from muntin.model.windows import Window
from muntin.nesting.joint import joint_windows
from muntin.nesting.questions import DistinctItems, WindowJoin
from muntin.physical.operators.distinct import DISTINCT
from muntin.physical.operators.join import JOIN
from muntin.state.control import Control

JoinedWindows = Iterable[Window | Sequence[Window]]
"""Windows of a join: one for both sides, or a pair of one for each."""


class NestedPlan(BoundPlan[BoundQuestion]):
    """What mt.distinct or mt.join would run on these very tables: print it, or run it."""

    __slots__ = ()


def distinct_items(
    time: str,
    items: str | Iterable[str],
    windows: Iterable[Window],
    keys: str | Iterable[str] = (),
    where: str | None = None,
    layout: NestedLayout = "nested",
    grouping: Grouping = "greedy",
) -> DistinctItems:
    """The question of mt.distinct, checked."""
    groups, columns = _names("keys", keys), _names("items", items)
    if not columns:
        raise QueryError("no items: name the columns whose distinct values are asked for")
    pool = list(windows)
    for window in pool:
        if not isinstance(window, Window):
            raise WindowError(
                f"{shown(window)} is not a periodic window, and only these nest: use "
                "mt.tumbling(...) or mt.hopping(...)"
            )
    DISTINCT.check(layout, [*groups, *columns])
    asked = DistinctItems(_query(time, pool, [*groups, *columns], where), layout, grouping)
    asked.groups  # noqa: B018  (refuses an unknown grouping)
    return asked


def window_join(
    on: str | Iterable[str],
    time: str | tuple[str, str],
    windows: JoinedWindows,
    layout: NestedLayout = "nested",
    where: object = None,
) -> WindowJoin:
    """The question of mt.join, checked."""
    names = _names("on", on)
    if not names:
        raise QueryError("no keys: on='user' or on=['user', 'device'] names the columns to join on")
    times = (time, time) if isinstance(time, str) else tuple(time)
    if len(times) != 2:
        raise QueryError(f"time {shown(time)} must be one column, or one for each side")
    joint = joint_windows(windows)
    JOIN.check(layout, names)
    sides = ((times[0], joint[0].left), (times[1], joint[0].right))
    left, right = (_query(own, [window], names) for own, window in sides)
    return WindowJoin(left, right, joint, layout, where)


def plan_distinct(data: object, asked: DistinctItems, **stream: object) -> NestedPlan:
    """The question bound to its rows."""
    return NestedPlan(engine_of(data).bind_distinct(data, asked, **stream))


def plan_join(left: object, right: object, asked: WindowJoin, **stream: object) -> NestedPlan:
    """The question bound to both sides; refused where they are of two engines."""
    engine, other = engine_of(left), engine_of(right)
    if (engine.name == "duckdb") != (other.name == "duckdb"):
        raise ColumnError(
            f"the left side is a {type(left).__name__} and the right one a {type(right).__name__} "
            "of another engine: give both as Spark DataFrames, or both as tables in process"
        )
    return NestedPlan(engine.bind_join(left, right, asked, **stream))


def explain_distinct(
    data: object,
    time: str,
    windows: Iterable[Window],
    keys: str | Iterable[str],
    where: str | None,
    items: str | Iterable[str],
    layout: NestedLayout = "nested",
    grouping: Grouping = "greedy",
    watermark: Duration | None = None,
    output: Output = "append",
) -> NestedPlan:
    """What mt.distinct would run with these arguments."""
    asked = distinct_items(time, items, windows, keys, where, layout, grouping)
    return plan_distinct(data, asked, watermark=watermark, output=output)


def explain_join(
    data: object,
    time: str | tuple[str, str],
    windows: JoinedWindows,
    where: object,
    right: object,
    on: str | Iterable[str] = (),
    layout: NestedLayout = "nested",
    watermark: Duration | None = None,
    control: Control | None = None,
) -> NestedPlan:
    """What mt.join would run with these arguments."""
    asked = window_join(on, time, windows, layout, where)
    return plan_join(data, right, asked, watermark=watermark, control=control)


def _names(what: str, given: str | Iterable[str]) -> list[str]:
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable):
        raise QueryError(f"{what} {shown(given)} must be a list of columns, or one")
    return list(given)


def _query(time: str, windows: list[Window], names: list[str], where: str | None = None) -> Query:
    """Names and windows checked as those of any query; the count is never computed."""
    return query(time, windows, [count()], names, where)

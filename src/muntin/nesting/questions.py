"""What mt.distinct and mt.join are asked: names, windows and layout, checked; no data yet."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.model.choices import NestedLayout
from muntin.model.query import Query
from muntin.nesting.groups import Group
from muntin.nesting.joint import JointWindow
from muntin.nesting.manager import WindowManager


@dataclass(frozen=True, slots=True)
class DistinctItems:
    """The distinct values of the query's keys, items among them, in all of its windows."""

    query: Query
    layout: NestedLayout = "nested"
    grouping: str = "greedy"

    @property
    def groups(self) -> tuple[Group, ...]:
        """The windows, nested."""
        return WindowManager(self.query.windows, self.grouping).groups


@dataclass(frozen=True, slots=True)
class WindowJoin:
    """Pairs of rows with equal keys that meet in a window, and for which a condition holds.

    The two queries name each side's time, and the keys. `where` is SQL text over both sides, or
    what an engine has for that besides: a Column of Spark's.
    """

    left: Query
    right: Query
    windows: tuple[JointWindow, ...]
    layout: NestedLayout = "nested"
    where: object = None

    @property
    def on(self) -> tuple[str, ...]:
        """The columns that are equal on both sides."""
        return self.left.keys

    @property
    def reach(self) -> tuple[int, int]:
        """The widest range of each side.

        A right row is less than the first later than its left row, and less than the second
        earlier: no window holds rows that are further apart.
        """
        ahead = max(window.left.range for window in self.windows)
        return ahead, max(window.right.range for window in self.windows)

    @property
    def paired(self) -> bool:
        """Whether the sides differ in a window, so that a long result has bounds for each."""
        return not all(window.same for window in self.windows)

"""Nested windows as SQL: who ends when, who holds an item, and where a pair is held.

Engines write these expressions into queries of their own: Spark into DataFrames, batch and stream,
DuckDB into a statement. Times are microseconds under plain names.

At an end T of a group's seed the levels that fire are the narrowest so many; the widest of them
holds what all others hold. So each end of a group is looked at once, for that level: a level stands
for the ends at which it fires and the next wider one does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from muntin.dialects.lists import ListWriter
from muntin.model.windows import Window
from muntin.nesting import Group
from muntin.nesting.joint import JointWindow
from muntin.plan.slicing.cuts import ends

FOREVER = 2**63 - 1
"""Later than any instant."""

_CLASS = {"slide": "BIGINT", "phase": "BIGINT"}
_LEVEL = {"g": "INT", "reach": "BIGINT", **_CLASS}
_LEVEL |= {"wider": "BIGINT", "wider_phase": "BIGINT", "coincides": "INT"}
_MEMBER = {"id": "STRING", "reach": "BIGINT", **_CLASS}
_JOINT = {"id": "STRING", "l_reach": "BIGINT", "r_reach": "BIGINT", **_CLASS}


@dataclass(frozen=True, slots=True)
class NestedText:
    """Expressions over nested windows, in the SQL of one engine."""

    lists: ListWriter

    def group_ends(self, groups: Sequence[Group], t: str, until: str | None = None) -> str:
        """The ends (g, stop) of all groups after t, and up to `until`, of instances that hold t."""
        lists = self.lists
        levels = lists.constant(_levels(groups), _LEVEL)
        reach = f"{t} + l.reach" if until is None else f"least({t} + l.reach, {until})"
        bounds = lists.struct(
            {"first": self._after(t, "l"), "last": self._before(f"({reach})", "l")}
        )
        fires_alone = f"{self._past('e', 'l.wider_phase', 'l.wider')} <> l.coincides"
        # The bounds are an item of a list, so that they are computed once.
        at = lists.each(
            lists.steps("b.first", "b.last", "l.slide"),
            "e",
            lists.struct({"g": "l.g", "stop": "e"}),
            fires_alone,
        )
        return lists.flatten(
            lists.each(levels, "l", lists.flatten(lists.each(lists.array([bounds]), "b", at)))
        )

    def holders(self, groups: Sequence[Group]) -> str:
        """The windows of group g that end at `stop` and hold `last`, narrowest first."""
        members = [[_member(window) for window in group.windows()] for group in groups]
        every = self.lists.constant(members, _MEMBER, depth=2)
        ends_here = f"{self._past('stop', 'w.phase', 'w.slide')} = 0"
        return self.lists.each(
            self.lists.item(every, "g"), "w", "w", f"w.reach >= stop - last AND {ends_here}"
        )

    def held(self, windows: Sequence[JointWindow]) -> str:
        """The windows that hold a pair of times lt and rt, each with the first and the last end."""
        lists = self.lists
        both = "least(lt + w.l_reach, rt + w.r_reach)"
        fields = {name: f"w.{name}" for name in ("id", "l_reach", "r_reach", "slide")}
        fields |= {"first": self._after("greatest(lt, rt)", "w"), "last": self._before(both, "w")}
        bounds = lists.each(lists.constant(_joint(windows), _JOINT), "w", lists.struct(fields))
        return lists.each(bounds, "h", "h", "h.first <= h.last")

    def _past(self, instant: str, phase: str, slide: str) -> str:
        """How long after the latest end an instant is."""
        return self.lists.scalars.remainder(f"({instant} - {phase})", slide)

    def _before(self, instant: str, window: str) -> str:
        """The last end of a window at or before an instant."""
        past = self._past(instant, f"{window}.phase", f"{window}.slide")
        return f"{instant} - {past}"

    def _after(self, instant: str, window: str) -> str:
        """The first end of a window after an instant."""
        return f"{self._before(instant, window)} + {window}.slide"


def _levels(groups: Sequence[Group]) -> list[dict[str, object]]:
    """Each level of each group, and when the next wider one fires as well.

    That is where an end is `coincides` past the wider one's ends: 0, or for the widest never.
    """
    levels: list[dict[str, object]] = []
    for number, group in enumerate(groups):
        windows = [level.window for level in group.levels]
        for window, wider in zip(windows, [*windows[1:], None], strict=True):
            own = ends(window)
            step, phase, coincides = (1, 0, -1) if wider is None else (*ends(wider), 0)
            level = {"g": number, "reach": window.range, "slide": own.step, "phase": own.phase}
            levels.append({**level, "wider": step, "wider_phase": phase, "coincides": coincides})
    return levels


def _member(window: Window) -> dict[str, object]:
    """A window as a constant: its id, its range, and where it ends."""
    cut = ends(window)
    return {"id": window.id, "reach": window.range, "slide": cut.step, "phase": cut.phase}


def _joint(windows: Sequence[JointWindow]) -> list[dict[str, object]]:
    return [
        {
            "id": window.id,
            "l_reach": window.left.range,
            "r_reach": window.right.range,
            "slide": window.ends.step,
            "phase": window.ends.phase,
        }
        for window in windows
    ]

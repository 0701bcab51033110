"""Groups of nested windows as constants of Spark SQL: who ends when, and who holds what.

At an end T of a group's seed the levels that fire are the narrowest so many; the widest of them
holds what all others hold. So each end of a group is looked at once, for that level: a level stands
for the ends at which it fires and the next wider one does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from muntin.engines.spark.names import constant
from muntin.model.windows import Window
from muntin.nesting import Group
from muntin.plan.slicing.cuts import ends

_LEVEL = "g INT, range BIGINT, slide BIGINT, phase BIGINT, coarser BIGINT, coarser_phase BIGINT"
_MEMBER = "id STRING, range BIGINT, slide BIGINT, phase BIGINT"
_ENDS = """
flatten(transform({levels}, l -> flatten(transform(
  array(named_struct(
    'first', {t} - pmod({t} - l.phase, l.slide) + l.slide,
    'last', {reach} - pmod({reach} - l.phase, l.slide))),
  b -> if(b.first <= b.last,
          transform(filter(sequence(b.first, b.last, l.slide),
                           e -> l.coarser = 0 OR pmod(e - l.coarser_phase, l.coarser) != 0),
                    e -> named_struct('g', l.g, 'range', l.range, 'end', e)),
          array())))))
"""
FOREVER = "9223372036854775807L"


def group_ends(groups: Sequence[Group], t: str, until: str = FOREVER) -> str:
    """SQL for the ends (g, range, end) of all groups in (t, until] whose instances hold t."""
    levels = []
    for number, group in enumerate(groups):
        windows = [level.window for level in group.levels]
        for window, wider in zip(windows, [*windows[1:], None], strict=True):
            phase, coarser = ends(window).phase, ends(wider) if wider is not None else None
            own = {"g": number, "range": window.range, "slide": window.slide, "phase": phase}
            step, beyond = (coarser.step, coarser.phase) if coarser else (0, 0)
            levels.append({**own, "coarser": step, "coarser_phase": beyond})
    literal = constant(levels, f"ARRAY<STRUCT<{_LEVEL}>>")
    return _ENDS.format(levels=literal, t=t, reach=f"least({t} + l.range, {until})")


def holders(groups: Sequence[Group]) -> str:
    """SQL for the windows of group g that end at `end` and hold `last`, narrowest first."""
    members = [[member(window) for window in group.windows()] for group in groups]
    every = constant(members, f"ARRAY<ARRAY<STRUCT<{_MEMBER}>>>")
    return (
        f"filter(element_at({every}, g + 1), "
        "w -> w.range >= end - last AND pmod(end - w.phase, w.slide) = 0)"
    )


def member(window: Window) -> dict[str, object]:
    """A window as a constant: its id, its range, and where it ends."""
    cut = ends(window)
    return {"id": window.id, "range": window.range, "slide": cut.step, "phase": cut.phase}


def members(windows: Sequence[Window]) -> str:
    """SQL for windows, narrowest first."""
    ordered = sorted(windows, key=lambda w: (w.range, w.slide, w.offset))
    return constant([member(window) for window in ordered], f"ARRAY<STRUCT<{_MEMBER}>>")

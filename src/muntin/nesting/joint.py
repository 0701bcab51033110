"""Joint windows: one window for each side of a join, at the instants at which both end.

At an end T the left window holds the rows of [T - left.range, T), the right one those of
[T - right.range, T); a pair meets if both rows are held (section 4 of the subsumption paper, Join:
"a join operation between two sliding windows"). With tₗ and tᵣ the times of the two rows, that is
at every common end in

    (max(tₗ, tᵣ), min(tₗ + left.range, tᵣ + right.range)]

so the ends follow from the times, and windows need no join of their own. Ends of both windows are
two residue classes; those of both are one class, by the Chinese remainder theorem, or none. Where
both sides have the same window, this is that window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import lcm

from muntin.errors import WindowError, shown
from muntin.model.durations import duration_text
from muntin.model.windows import Window, check_overlap
from muntin.plan.slicing.cuts import Cut, ends

_LONGEST = 2**62
"""Microseconds: engines count them in 64 bits."""


@dataclass(frozen=True, slots=True)
class JointWindow:
    """The windows of the left and of the right side, and when both end.

    >>> near = JointWindow.of((Window(10, 2), Window(60, 3, id="hour")))
    >>> near.id, near.ends
    ('10 microseconds/2 microseconds & hour', Cut(step=6, phase=0))
    >>> near.held(left=3, right=20), near.held(left=20, right=3), near.held(left=11, right=5)
    (None, (24, 30), (12, 18))
    """

    left: Window
    right: Window
    ends: Cut = field(compare=False)
    id: str = field(compare=False)

    @classmethod
    def of(cls, given: Window | Sequence[Window]) -> JointWindow:
        """One window for both sides, or a pair: that of the left, and that of the right side."""
        left, right = _pair(given)
        for window in (left, right):
            check_overlap(window)
        id = left.id if left.id == right.id else f"{left.id} & {right.id}"
        return cls(left, right, _common_ends(left, right), id)

    @property
    def same(self) -> bool:
        """Whether both sides have the same window."""
        return self.left == self.right

    @property
    def order(self) -> tuple[int, ...]:
        """Smaller joint windows come first."""
        ranges = self.left.range, self.right.range
        return (max(ranges), min(ranges), self.left.range, self.ends.step, self.ends.phase)

    def held(self, left: int, right: int) -> tuple[int, int] | None:
        """The first and the last end at which rows of these times are held, if there is one."""
        first = self.ends.before(max(left, right)) + self.ends.step
        last = self.ends.before(min(left + self.left.range, right + self.right.range))
        return (first, last) if first <= last else None


def joint_windows(given: Iterable[Window | Sequence[Window]]) -> tuple[JointWindow, ...]:
    """The windows of a join, smallest first; refused where two are equal or share an id."""
    found: dict[JointWindow, JointWindow] = {}
    ids: dict[str, JointWindow] = {}
    for each in map(JointWindow.of, given):
        if each in found:
            raise WindowError(
                f"windows {shown(found[each].id)} and {shown(each.id)} are equal: keep one of them"
            )
        if each.id in ids:
            raise WindowError(
                f"window id {shown(each.id)} is given twice: give one of them another id, as in "
                "mt.hopping('1 hour', '5 minutes', id='mine')"
            )
        found[each] = ids[each.id] = each
    if not found:
        raise WindowError("no windows: give at least one, such as mt.tumbling('10 minutes')")
    return tuple(sorted(found, key=lambda each: each.order))


def _pair(given: object) -> tuple[Window, Window]:
    sides = (given, given) if isinstance(given, Window) else given
    if isinstance(sides, tuple | list) and len(sides) == 2:
        left, right = sides
        if isinstance(left, Window) and isinstance(right, Window):
            return left, right
        strange = left if isinstance(right, Window) else right
    else:
        strange = given
    raise WindowError(
        f"{shown(strange)} is not a periodic window, and only these nest: use mt.tumbling(...) or "
        "mt.hopping(...), or a pair of them, (left, right)"
    )


def _common_ends(left: Window, right: Window) -> Cut:
    """The instants at which an instance of each ends."""
    own, other = ends(left), ends(right)
    step = lcm(own.step, other.step)
    common = own.step * other.step // step
    if (other.phase - own.phase) % common or step > _LONGEST:
        often = "never" if step <= _LONGEST else "hardly ever"
        raise WindowError(
            f"windows {shown(left.id)} and {shown(right.id)} {often} end together: give both the "
            f"same slide, or slides of which one divides the other ({duration_text(left.slide)!r} "
            f"and {duration_text(right.slide)!r}), and offsets with which their ends meet"
        )
    turns = other.step // common
    inverse = pow(own.step // common, -1, turns) if turns > 1 else 0
    steps = (other.phase - own.phase) // common * inverse % turns
    return Cut(step, (own.phase + steps * own.step) % step)

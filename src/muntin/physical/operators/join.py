"""join: pairs of rows that meet in a window, each found once by the times of both.

Windows need no join of their own: the ends at which each holds a pair follow from the two times
(`muntin.nesting.joint`). So pairs are looked for once, as far apart as the widest windows reach.
"""

from __future__ import annotations

from muntin.errors import shown
from muntin.model.durations import duration_text
from muntin.nesting.joint import JointWindow
from muntin.nesting.questions import WindowJoin
from muntin.physical.operators.distinct import Distinct


class Join(Distinct):
    """The operator of mt.join, on batches, on streams and in process."""

    name = "join"
    card = "pairs of rows that meet in a window, each found once by the times of both"
    reserved = ("left", "right", "expires", "windows", "right_window")


JOIN = Join()

_LAYOUTS = {
    "nested": "one row for each pair, with all windows that hold it",
    "long": "one row for each pair and window instance",
}


def stretch(asked: WindowJoin) -> int:
    """How long the stretches of time are by which rows find each other.

    A left row looks at its own stretch only, into which right rows are copied from as far as they
    reach: into at most three.
    """
    return max(asked.reach)


def describe(asked: WindowJoin, where: str, how: str) -> list[str]:
    """What mt.join runs, line by line: where, how pairs are found, and the windows."""
    ahead, behind = map(duration_text, asked.reach)
    left, right = asked.left.time, asked.right.time
    condition = [] if asked.where is None else [f"of them those where {_text(asked.where)}"]
    return [
        f"join on {', '.join(asked.on)}: {JOIN.name}, {where}",
        "",
        f"pairs are found once: right.{right} less than {ahead} after left.{left}, "
        f"and less than {behind} before it",
        *how.splitlines(),
        *condition,
        *(f"  {_window(window)}" for window in asked.windows),
        f"result: {_LAYOUTS[asked.layout]}",
    ]


def _text(where: object) -> str:
    return where if isinstance(where, str) else shown(where)


def _window(window: JointWindow) -> str:
    step = duration_text(window.ends.step)
    if window.same:
        return f"{window.id}: {duration_text(window.left.range)} on both sides, every {step}"
    left, right = (duration_text(each.range) for each in (window.left, window.right))
    return f"{window.id}: {left} on the left, {right} on the right, every {step}"

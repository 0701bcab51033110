"""Comments that name the nodes of a rewritten query, and plain names for them.

An id may hold anything, and a comment ends with its line (in Spark not even there, after a
backslash): whatever is no letter, digit or harmless sign is written as a dot.
"""

from __future__ import annotations

from muntin.errors import MOST_SHOWN
from muntin.model.durations import duration_text
from muntin.model.windows import Window
from muntin.plan import Node, Shape, SharingPlan
from muntin.plan.coverage import EdgeKind, Source
from muntin.plan.slicing import Slices

_HARMLESS = " /@._+-:()…"


def harmless(text: str) -> str:
    """A text that stays within a comment.

    >>> harmless("10 min\\n; DROP TABLE x --")
    '10 min·· DROP TABLE x --'
    """
    short = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return "".join(c if c.isalnum() or c in _HARMLESS else "·" for c in short)


def plain(id: str) -> str:
    """What of an id can be part of a name.

    >>> plain("1 hour/5 minutes"), plain("é'; --")
    ('1_hour_5_minutes', '')
    """
    letters = [c if c.isascii() and c.isalnum() else " " for c in id.lower()]
    return "_".join("".join(letters).split())[:40]


def in_words(plan: SharingPlan, id: str) -> str:
    """A node and what it is made of, as in `40 minutes: 2 pieces of 20 minutes`."""
    node = plan.node(id)
    parent = plan.shape(node.parent)
    hidden = isinstance(node.shape, Window) and node.hidden
    name = harmless(node.id) + (" (factor window, not in the result)" if hidden else "")
    return f"{name}: {_made_of(parent, node)}"


def _made_of(parent: Shape, node: Node) -> str:
    match parent, node.shape:
        case _, Slices() as slices:
            steps = sorted({duration_text(cut.step) for cut in slices.cuts})
            finer = "slices" if isinstance(parent, Slices) else "records"
            return f"{finer} between cuts every {harmless(' and every '.join(steps))}"
        case Source() | Slices(), Window() as child:
            many = "one" if child.tumbling else "every"
            holding = "" if child.tumbling else " that holds it"
            pieces = "records" if isinstance(parent, Source) else "slices"
            return f"{pieces}, each in {many} instance of {duration_text(child.range)}{holding}"
        case _:
            assert isinstance(parent, Window), "an edge leads from the source, slices or a window"
            if node.pieces.kind is EdgeKind.SUFFIX and isinstance(node.shape, Window):
                delta = duration_text(node.shape.range - parent.range)
                return f"1 piece of {harmless(parent.id)} and slices of the {delta} before it"
            many = "1 piece" if node.pieces.count == 1 else f"{node.pieces.count} pieces"
            return f"{many} of {harmless(parent.id)}"

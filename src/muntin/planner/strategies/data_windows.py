"""Plans for windows that the data decides: sessions of one another, all others on Cutty's slices.

wcg      source ─▶ slices of the smallest gap ─▶ sessions of it ─▶ of the next larger gap ─▶ …
         Sessions of a larger gap are unions of those of a smaller one, so one pass of the smallest
         feeds all; and records of one key in the same slice of that length are never a pause
         apart, so the source is grouped into slices before anything is put in order.
cutty    source ─▶ slices that begin where any window begins ─▶ every window, periodic ones too

Which pieces make an instance only the records tell: the checker knows the relation, and tests hold
it to generated records.
"""

from __future__ import annotations

from muntin.model.data_windows import Begins, DataWindow, Session
from muntin.model.windows import Window
from muntin.plan import Node, SharingPlan
from muntin.plan.coverage import DATA_DEPENDENT, every
from muntin.plan.slicing import Slices
from muntin.plan.slicing.cuts import Cut
from muntin.plan.tree import sliced
from muntin.planner.strategies.hidden_ids import unused_id


def session_chain(windows: tuple[DataWindow, ...], idempotent: bool) -> SharingPlan | None:
    """Sessions from the smallest gap to the largest; None if there is any other window.

    >>> from muntin.model.data_windows import session
    >>> plan = session_chain((session("1 hour"), session("5 minutes")), False)
    >>> [(node.id, node.parent) for node in plan.nodes]
    [('slices', None), ('session 5 minutes', 'slices'), ('session 1 hour', 'session 5 minutes')]
    """
    sessions = [w for w in windows if isinstance(w, Session) and w.maximum is None]
    if len(sessions) < len(windows):
        return None
    ordered = sorted(sessions, key=lambda w: w.gap)
    cells = Slices((Cut(ordered[0].gap, 0),), "slices")
    nodes = [sliced(cells, unused_id("slices", [w.id for w in windows]))]
    for window in ordered:
        nodes.append(Node(window.id, window, nodes[-1].id, DATA_DEPENDENT))
    return SharingPlan.build(nodes, idempotent)


def on_begins(
    windows: tuple[Window, ...], data_windows: tuple[DataWindow, ...], idempotent: bool
) -> SharingPlan:
    """All windows on slices that begin where any of them begins."""
    ids = [w.id for w in windows] + [w.id for w in data_windows]
    slices = Begins(windows=(*windows, *data_windows))
    root = Node(unused_id("slices", ids), slices, None, DATA_DEPENDENT, hidden=True)
    periodic = [Node(w.id, w, root.id, every(w.range)) for w in windows]
    others = [Node(w.id, w, root.id, DATA_DEPENDENT) for w in data_windows]
    return SharingPlan.build([root, *periodic, *others], idempotent)


def each_alone(
    windows: tuple[Window, ...], data_windows: tuple[DataWindow, ...], idempotent: bool
) -> SharingPlan:
    """Every window reads the source."""
    periodic = [Node(w.id, w, None, every(w.range)) for w in windows]
    others = [Node(w.id, w, None, DATA_DEPENDENT) for w in data_windows]
    return SharingPlan.build([*periodic, *others], idempotent)

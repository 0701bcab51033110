"""The checker: a proof that a plan computes what was asked.

For every edge it shows that the records of each instance equal the union of the records of its
pieces, disjointly unless the aggregates are idempotent. This is arithmetic on residue classes, not
a test on samples, so it holds for all instances at once. Every plan of every strategy passes here
before it runs; the first edge that fails is named.

    from the source or slices   all pieces within the instance: its begins and ends must be cuts;
                                of kind prefix, the last is cut off at the end, wherever that is
    from a window               every offset is a begin of the parent, and the pieces leave no gap,
                                and overlap nowhere or only where that is allowed
    of kind suffix              one piece of a narrower window ends where the child does; what lies
                                before it begins and ends at cuts of the slices below the stairs
    slices from slices          every cut of the child is a cut of the parent
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from muntin.errors import PlanError
from muntin.model.data_windows import Begins, DataWindow, Session
from muntin.model.windows import Window
from muntin.plan.coverage import (
    EdgeKind,
    EdgePieces,
    Progression,
    Source,
    every,
    suffix_piece,
)
from muntin.plan.slicing import Slices
from muntin.plan.slicing.cuts import begins, ends
from muntin.plan.tree import Node, Shape, SharingPlan


def check(plan: SharingPlan, windows: Sequence[Window | DataWindow]) -> None:
    """Raise PlanError unless the plan computes exactly these windows, each correctly."""
    _check_order(plan)
    answered = {node.id: node.shape for node in plan.nodes if not node.hidden}
    missing = [w.id for w in windows if answered.get(w.id) != w]
    if missing:
        raise PlanError(f"the plan does not answer {missing}")
    extra = sorted(answered.keys() - {w.id for w in windows})
    if extra:
        raise PlanError(f"the plan answers what was not asked: {extra}")
    for parent, node in plan.edges():
        if node.pieces.kind is EdgeKind.SUFFIX:
            reason = _suffix_fault(parent, node, plan.shape(plan.foot(node)))
        else:
            reason = fault(parent, node, plan.idempotent)
        if reason:
            source = node.parent or "the source"
            raise PlanError(f"{node.id!r} cannot be computed from {source!r} as planned: {reason}")


def _check_order(plan: SharingPlan) -> None:
    """Every node once and after its parent, as `SharingPlan.build` would have ordered them."""
    placed: set[str | None] = {None}
    for node in plan.nodes:
        if node.id in placed:
            raise PlanError(f"two nodes have the same id: {node.id!r}")
        if node.parent not in placed:
            raise PlanError(f"{node.id!r} comes before its parent {node.parent!r}")
        placed.add(node.id)


def fault(parent: Shape, node: Node, idempotent: bool) -> str | None:
    """Why this edge is wrong, or None."""
    within = isinstance(parent, Slices) and isinstance(node.shape, Window)
    if node.pieces.kind is EdgeKind.PREFIX and not within:
        return "only a window on slices can end within a piece of its parent"
    match parent, node.shape:
        case Source(), Slices() | DataWindow():
            return None
        case (Begins(), _) | (_, DataWindow()):
            return _data_fault(parent, node.shape)
        case Source(), Window() as child:
            return _reads_all(child, node.pieces)
        case Slices(), Slices() as child:
            strange = [str(cut) for cut in child.cuts if not parent.cuts_at(cut)]
            return f"{strange} are not cuts of the finer slices" if strange else None
        case Slices(), Window() as child:
            if not parent.cuts_at(begins(child)):
                return "its instances do not begin where slices do"
            whole = node.pieces.kind is EdgeKind.WHOLE
            if whole and not parent.cuts_at(ends(child)):
                return "its instances do not end where slices do"
            return _reads_all(child, node.pieces)
        case Window(), Window() as child:
            return _begins_elsewhere(child, parent, node.pieces) or _leaves_gap_or_overlaps(
                child, parent, node.pieces, idempotent
            )
        case _:
            return "slices cannot be made of window instances"


def _suffix_fault(parent: Shape, node: Node, foot: Shape) -> str | None:
    """Why a stair is wrong, or None.

    That the delta ends at a cut need not be asked: there an instance of the parent begins, which is
    a stair below, or a window on the slices, and judged itself.
    """
    child, pieces = node.shape, node.pieces
    if not isinstance(parent, Window) or not isinstance(child, Window):
        return "only a window can add a delta to a narrower one"
    if child.range <= parent.range:
        return f"its range {child.range} is not wider than {parent.range}"
    askew = _begins_elsewhere(child, parent, pieces)
    if askew:
        return askew
    if pieces != suffix_piece(child, parent):
        return f"one piece of the parent at {child.range - parent.range} would end where it does"
    if not isinstance(foot, Slices):
        return "its stairs do not stand on slices, which its delta is made of"
    return None if foot.cuts_at(begins(child)) else "its instances do not begin where slices do"


def _data_fault(parent: Shape, child: Slices | Window | DataWindow) -> str | None:
    """The coverage relation of windows that the data decides.

    Begins    cuts where each of its windows begins, and is read up to any record: serves all
    Session   pauses longer than a gap are pauses longer than a smaller one: the sessions of the
              larger gap are unions of those of the smaller, as long as neither is cut short
    Slices    records of one slice are less than its length apart: no pause of a gap that long
    """
    match parent, child:
        case Begins(), Slices() | Begins():
            return "slices cannot be made of slices that the data decides"
        case Begins(), _:
            return None
        case Session(), Session():
            if parent.maximum is not None or child.maximum is not None:
                return "a session that is cut short at a maximum is no union of others"
            if child.gap < parent.gap:
                return f"its gap {child.gap} is smaller than {parent.gap}"
            return None
        case Slices(), Session():
            if child.maximum is not None:
                return "a session that is cut short at a maximum may end within a slice"
            longest = min(cut.step for cut in parent.cuts)
            return f"slices may be longer than its gap {child.gap}" if longest > child.gap else None
        case _:
            return "only slices, and sessions of smaller gaps, make such windows"


def _reads_all(child: Window, pieces: EdgePieces) -> str | None:
    read = every(child.range, pieces.kind)
    return None if pieces == read else "it does not read all of its range"


def _begins_elsewhere(child: Window, parent: Window, pieces: EdgePieces) -> str | None:
    if child.slide % parent.slide:
        return f"slide {child.slide} is not a multiple of {parent.slide}"
    for p in pieces.progressions:
        shift = child.offset + p.offset - parent.offset
        if shift % parent.slide or (p.count > 1 and p.stride % parent.slide):
            return f"no instance of the parent begins at offset {p.offset} with stride {p.stride}"
    return None


def _leaves_gap_or_overlaps(
    child: Window, parent: Window, pieces: EdgePieces, idempotent: bool
) -> str | None:
    """Walk the progressions in order, keeping how far the child is covered.

    Progressions that interleave are written out first, as single pieces.
    """
    runs = sorted(pieces.progressions, key=lambda p: p.offset)
    if any(after.offset <= before.last for before, after in pairwise(runs)):
        runs = [Progression(offset, 1, 1) for offset in sorted(pieces.offsets())]
    if runs[0].offset < 0:
        return f"its pieces begin at {runs[0].offset}, before the instance does"
    covered = 0
    for p in runs:
        if p.offset > covered or (p.count > 1 and p.stride > parent.range):
            return f"its pieces leave a gap at or after {min(p.offset, covered)}"
        overlaps = p.offset < covered or (p.count > 1 and p.stride < parent.range)
        if overlaps and not idempotent:
            return "its pieces overlap, and an aggregate would count records twice"
        covered = max(covered, p.last + parent.range)
    if covered != child.range:
        return f"its pieces reach {covered} of its range {child.range}"
    return None

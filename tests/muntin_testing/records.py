"""A plan carried out on explicit records, by its definition and nothing else.

Every record is its own instant, and a partial is the multiset of records that reached it. So what
the plan checker proves by arithmetic can be looked at: an instance is right when it holds each of
its records once (or at least once, where overlap is allowed) and no other.
"""

from itertools import chain
from math import lcm

from muntin.model.windows import Window
from muntin.plan import SharingPlan
from muntin.plan.coverage import EdgeKind, EdgePieces, Source
from muntin.plan.slicing import Slices
from muntin.plan.tree import Shape
from muntin_testing.windows import starts

Held = dict[int, list[int]]
"""The records of each instance or slice, by its begin."""

NOWHERE = 10**9
"""The record of a piece that does not exist."""


def carried_out(plan: SharingPlan, first: int, last: int) -> dict[str, Held]:
    """What every node holds when there is one record at each instant of [first, last)."""
    held: dict[str | None, Held] = {None: {t: [t] for t in range(first, last)}}
    for node in plan.nodes:
        of = held[node.parent]
        if isinstance(node.shape, Slices):
            held[node.id] = _sliced(node.shape, of)
        else:
            assert isinstance(node.shape, Window)
            held[node.id] = _instances(node.shape, plan.shape(node.parent), node.pieces, of)
            if node.pieces.kind is EdgeKind.SUFFIX:
                _add_deltas(held[node.id], node.pieces, held[plan.foot(node)])
    return {id: each for id, each in held.items() if id is not None}


def _sliced(slices: Slices, parent: Held) -> Held:
    held: Held = {}
    for begin, records in parent.items():
        held.setdefault(slices.start_of(begin), []).extend(records)
    return held


def _instances(window: Window, parent: Shape, pieces: EdgePieces, of: Held) -> Held:
    # A record or a slice need not begin at every offset; an instance of a parent must.
    missing: list[list[int]] = [] if isinstance(parent, Source | Slices) else [[NOWHERE]]
    offsets = list(pieces.offsets())
    held = {}
    for begin in starts(window, min(of), max(of)) if of else []:
        found = [p for d in offsets for p in ([of[begin + d]] if begin + d in of else missing)]
        if (
            found and pieces.kind is EdgeKind.PREFIX
        ):  # the last one, as it is when the instance ends
            found[-1] = [t for t in found[-1] if t < begin + window.range]
        held[begin] = list(chain.from_iterable(found))
    return held


def _add_deltas(held: Held, pieces: EdgePieces, foot: Held) -> None:
    """What lies before the pieces of the narrower window, as far as it begins within instances."""
    for begin, records in held.items():
        before = range(begin, begin + min(pieces.offsets()))
        records[:0] = chain.from_iterable(foot.get(t, []) for t in before)


def right(window: Window, held: Held, first: int, last: int, overlap_allowed: bool) -> bool:
    """Whether all instances that begin in [first, last) hold exactly their records."""
    for begin in starts(window, first, last):
        found = held.get(begin, [])
        records = sorted(set(found)) if overlap_allowed else sorted(found)
        if records != list(range(begin, begin + window.range)):
            return False
    return True


def plan_is_right(plan: SharingPlan, windows: list[Window]) -> bool:
    """Whether brute force finds every node right, over a common period of all slides and cuts.

    Records lie far enough around the period for nothing to be missing at its edges.
    """
    answered = [node.shape for node in plan.nodes if not node.hidden]
    if sorted(map(str, answered)) != sorted(map(str, windows)):
        return False
    shapes = [node.shape for node in plan.nodes]
    spans = [shape for shape in shapes if isinstance(shape, Window)]
    steps = [cut.step for shape in shapes if isinstance(shape, Slices) for cut in shape.cuts]
    period = lcm(*(w.slide for w in spans), *steps)
    margin = 3 * max([*(w.range for w in spans), *steps])
    held = carried_out(plan, -margin, period + margin)
    return all(
        right(node.shape, held[node.id], 0, period, plan.idempotent)
        for node in plan.nodes
        if isinstance(node.shape, Window)
    )

"""When one window can be computed from another, and from which of its instances.

`pieces` are the instances of a parent, by their offset from the child's start, whose union is one
instance of the child. All pieces of an edge are a few arithmetic progressions of offsets, so an
edge of 1,440 pieces is as small as one of two.

Theorems 1, 3 and 4 are the factor-windows paper's (section 2.2), with what its text leaves out:

* Theorem 1 also needs range1 ≥ range2 (else W(4, 2) would be covered by W(8, 2)).
* Equal ranges with a dividing slide: each instance is an instance of the parent, M = 1, and this
  is a partition for every aggregate.
* With offsets, offset1 - offset2 must be a multiple of slide2.

An edge also has a kind. Almost all pieces are taken `whole`. Cutty cuts slices only where instances
begin, so that an instance may end within a slice; of that slice, which is still open then, it takes
the `prefix` that lies within it. A window that nests a narrower one, so that both end together,
takes that one as its `suffix` and adds what lies before it, the delta (`suffix_piece`).

`fewest_pieces` goes beyond the paper: Theorem 3 reads every instance between two bounds, where the
fewest that cover the child suffice. W(24 h, 1 min) needs 24 disjoint instances of W(1 h, 1 min),
not 1,381, and so serves sums too, which Theorem 4 denies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from muntin.errors import PlanError
from muntin.model.windows import Window


@dataclass(frozen=True, slots=True)
class Source:
    """The rows themselves: the virtual root that covers every window (section 4.1)."""

    def __str__(self) -> str:
        return "source"


SOURCE = Source()


@dataclass(frozen=True, slots=True)
class Progression:
    """Offsets `offset`, `offset + stride`, … : `count` of them."""

    offset: int
    stride: int
    count: int

    def __post_init__(self) -> None:
        if self.stride < 1 or self.count < 1:
            raise PlanError(f"pieces need a stride and a count of at least 1, not {self}")

    @property
    def last(self) -> int:
        return self.offset + (self.count - 1) * self.stride


class EdgeKind(Enum):
    """How an instance takes the pieces of its parent."""

    WHOLE = "whole"
    """Each as it is: none reaches beyond the instance."""
    PREFIX = "prefix"
    """The last one only as far as the instance goes: a slice that is open where it ends."""
    SUFFIX = "suffix"
    """One of a narrower window, at the end; before it the delta, of the slices below the stairs."""


@dataclass(frozen=True, slots=True)
class EdgePieces:
    """Which of the parent's pieces make one instance, by offset from its start, and how."""

    progressions: tuple[Progression, ...]
    kind: EdgeKind = EdgeKind.WHOLE

    @property
    def count(self) -> int:
        return sum(p.count for p in self.progressions)

    def offsets(self) -> Iterator[int]:
        """Every offset, in the order of the progressions."""
        for p in self.progressions:
            yield from range(p.offset, p.last + 1, p.stride)


DATA_DEPENDENT = EdgePieces(())
"""The pieces of an instance that only the records tell: of a session, of a count window."""


def suffix_piece(child: Window, parent: Window) -> EdgePieces | None:
    """The one instance of a narrower window that ends with an instance of the child, or None.

    The child must end only where the parent does: Definition 1 of the subsumption paper, with
    Spark's alignment. Equal ranges have no delta: there the piece is the whole instance.

    >>> suffix_piece(Window(10, 4), Window(4, 2)).progressions
    (Progression(offset=6, stride=4, count=1),)
    >>> suffix_piece(Window(10, 4), Window(5, 2)) is None      # these end at odd instants
    True
    """
    delta = child.range - parent.range
    ends_apart = (delta + child.offset - parent.offset) % parent.slide
    if delta < 1 or child.slide % parent.slide or ends_apart:
        return None
    return EdgePieces((Progression(delta, child.slide, 1),), EdgeKind.SUFFIX)


def delta_window(child: Window, parent: Window) -> tuple[Window, float]:
    """A window as long as the delta of a suffix edge, and how many of its instances are needed.

    A delta shorter than the child's slide is sampled: a window of its length has more instances.

    >>> [(str(w), share) for narrow in (Window(4, 2), Window(9, 2, 1))
    ...                  for w, share in [delta_window(Window(10, 4), narrow)]]
    [('W(6, 4)', 1.0), ('W(1, 1)', 0.25)]
    """
    length = child.range - parent.range
    slide = min(length, child.slide)
    return Window(length, slide, child.offset % slide), slide / child.slide


def every(length: int, kind: EdgeKind = EdgeKind.WHOLE) -> EdgePieces:
    """Every record or slice that begins within `length` of the start, wherever it begins."""
    return EdgePieces((Progression(0, 1, length),), kind)


def covered_by(child: Window, parent: Window) -> bool:
    """Definition 1 by Theorem 1: the parent has instances at both ends of each of the child's.

    >>> covered_by(Window(10, 2), Window(8, 2)), covered_by(Window(8, 2), Window(10, 2))
    (True, False)
    """
    gap, apart = child.range - parent.range, child.offset - parent.offset
    return gap >= 0 and not any(n % parent.slide for n in (gap, apart, child.slide))


def partitioned_by(child: Window, parent: Window) -> bool:
    """Definition 5 by Theorem 4: covered, and the covering instances are disjoint.

    >>> partitioned_by(Window(10, 2), Window(2, 2)), partitioned_by(Window(10, 2), Window(8, 2))
    (True, False)
    """
    return covered_by(child, parent) and (parent.tumbling or child.range == parent.range)


def multiplier(child: Window, parent: Window) -> int:
    """Theorem 3: how many of the parent's instances lie within one of the child's.

    >>> multiplier(Window(10, 2), Window(8, 2))
    2
    """
    return 1 + (child.range - parent.range) // parent.slide


def covering_pieces(child: Window, parent: Window, disjoint: bool) -> EdgePieces | None:
    """The covering set of Definition 2: all instances within, or None where there is no cover.

    >>> covering_pieces(Window(10, 2), Window(4, 2), disjoint=False).count
    4
    """
    relation = partitioned_by if disjoint else covered_by
    if not relation(child, parent):
        return None
    return EdgePieces((Progression(0, parent.slide, multiplier(child, parent)),))


def fewest_pieces(child: Window, parent: Window, disjoint: bool) -> EdgePieces | None:
    """The fewest instances of the parent whose union is an instance of the child, or None.

    Disjoint pieces of one length r2 tile the child only at multiples of r2, so r2 divides r1 and,
    for more than one piece, slide2 divides r2. Where overlap is allowed, each piece begins as late
    as it can without a gap, and the last one ends with the child.

    >>> hour, day = 60, 24 * 60
    >>> fewest_pieces(Window(day, 1), Window(hour, 1), disjoint=True).progressions
    (Progression(offset=0, stride=60, count=24),)
    >>> list(fewest_pieces(Window(10, 2), Window(7, 1), disjoint=False).offsets())
    [0, 3]
    """
    if not covered_by(child, parent):
        return None
    if child.range == parent.range:
        return EdgePieces((Progression(0, parent.slide, 1),))
    if disjoint:
        if child.range % parent.range or parent.range % parent.slide:
            return None
        return EdgePieces((Progression(0, parent.range, child.range // parent.range),))
    stride = parent.range // parent.slide * parent.slide
    last = child.range - parent.range
    steps = last // stride
    body = Progression(0, stride, steps + 1)
    if steps * stride == last:
        return EdgePieces((body,))
    return EdgePieces((body, Progression(last, stride, 1)))

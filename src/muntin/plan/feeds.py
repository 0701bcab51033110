"""Feeds: which instances of a child a piece at position p belongs to.

The plan says which pieces make an instance; an engine that moves rows needs the inverse. For one
progression of offsets d + j·stride (0 ≤ j < count), a piece at p belongs to the instances that
start at p - d - j·stride, as far as the child has one there. That is a linear congruence in j:

    j·stride ≡ p - d - origin   (mod slide)

With g = gcd(stride, slide) it has a solution only if g divides the right side, and then

    j = j0 + i·turns,   j0 = ((p - d - origin)/g · inverse) mod turns,   turns = slide/g

One formula for all edges: records and slices are the progression with stride 1 over the whole
range, a tumbling parent has stride slide2, fewest pieces have stride range2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

from muntin.model.windows import Window
from muntin.plan.coverage import EdgePieces, Progression

_WORD = 2**62
"""Products of the formula must stay below this: engines compute in 64 bits."""


@dataclass(frozen=True, slots=True)
class Feed:
    """The constants of the formula for one progression of one child, `node` by number."""

    node: int
    origin: int
    offset: int
    stride: int
    count: int
    gcd: int
    turns: int
    inverse: int

    def starts(self, position: int) -> Iterator[int]:
        """The starts of the instances that a piece at the position belongs to, newest first.

        >>> [feed] = feeds_of(0, Window(10, 4), EdgePieces((Progression(0, 1, 10),)))
        >>> list(feed.starts(9))
        [8, 4, 0]
        """
        shift = position - self.offset - self.origin
        if shift % self.gcd:
            return
        first = shift // self.gcd % self.turns * self.inverse % self.turns
        for j in range(first, self.count, self.turns):
            yield position - self.offset - j * self.stride


def feeds_of(node: int, child: Window, pieces: EdgePieces) -> list[Feed]:
    """The feeds of one edge."""
    return [feed for p in pieces.progressions for feed in _feeds(node, child, p)]


def identity_feed(node: int, window: Window) -> Feed:
    """The feed that hands a row of a window on unchanged."""
    return _feed(node, window, Progression(0, window.slide, 1))


def _feeds(node: int, child: Window, progression: Progression) -> Iterator[Feed]:
    feed = _feed(node, child, progression)
    if feed.turns * feed.inverse < _WORD:
        yield feed
        return
    for j in range(progression.count):
        offset = progression.offset + j * progression.stride
        yield _feed(node, child, Progression(offset, child.slide, 1))


def _feed(node: int, child: Window, p: Progression) -> Feed:
    common = gcd(p.stride, child.slide)
    turns = child.slide // common
    inverse = pow(p.stride // common, -1, turns) if turns > 1 else 0
    return Feed(node, child.offset, p.offset, p.stride, p.count, common, turns, inverse)

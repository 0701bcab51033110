"""Edge programs: how the pieces of a parent become those of its child, whatever the engine.

Cut          each row or piece falls into one slice: the latest cut at or before it
Congruence   a piece belongs to the instances that a linear congruence gives (`muntin.plan.feeds`);
             read forwards, rows are exploded into instances (expand, SQL); read backwards, an
             instance gathers its pieces (the kernel)
ByData       which pieces make an instance only the records tell
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from muntin.model.windows import Window
from muntin.plan.coverage import Pieces
from muntin.plan.feeds import Feed, feeds_of
from muntin.plan.slicing import Slices


@dataclass(frozen=True, slots=True)
class Cut:
    """Each piece falls into one of these slices."""

    slices: Slices


@dataclass(frozen=True)
class Congruence:
    """Which pieces make an instance of a window; its feeds are found when they are needed."""

    node: int
    window: Window
    pieces: Pieces

    @cached_property
    def feeds(self) -> tuple[Feed, ...]:
        """The feeds of all progressions."""
        return tuple(feeds_of(self.node, self.window, self.pieces))


@dataclass(frozen=True, slots=True)
class ByData:
    """The records decide."""


Program = Cut | Congruence | ByData

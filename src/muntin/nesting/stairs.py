"""Stairs: one structure for all levels of a group, each record held once.

order  by time      time  a record moves up each stair once      space  the widest window's, and the
buffers

Stair k belongs to level k of a group, narrowest first. Its *core* g_k holds what its window covers
beyond the narrower ones, its *buffer* δ_k what has left the stair below since its window last fired
(the lowest buffer holds what has come in). Oldest on the left, at an instant T at which W₁ fires:

      T - range₁         T - range₀         T
    ───┼──── g₁ ──────┬─ δ₁ ─┼──── g₀ ───┬─ δ₀ ─┼───▶ time

When window k fires, its buffer settles into the core, and what is older than T - range_k goes to
the buffer above; the last stair lets it go. All narrower windows fire then too, so that their
buffers are empty, and the records of W_k at T are exactly those of the cores 0 to k. Section 2.3
and Figure 4 of the subsumption paper. With equal slides a buffer empties whenever it fills.

Stairs may come and go while records do. A withdrawn stair delegates what it holds to the buffer
above; a new one takes what the stair above holds into its buffer, from where the older part climbs
back when its window fires. Neither changes what the cores of a wider window hold together, and all
that was held is held for the new window too: nothing is missing from `whole_from` on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence, Sized
from math import inf
from typing import Any, Generic, TypeVar

from muntin.model.windows import Window
from muntin.plan.slicing.cuts import ends

Item = TypeVar("Item")


class Stair(ABC, Generic[Item]):
    """A core and a buffer; what they hold is up to the operator."""

    buffer: Sized
    core: Sized

    def __init__(self, window: Window) -> None:
        self.exchange(window)

        self.passed = -inf
        """All that is older has left this stair."""

    def exchange(self, window: Window) -> None:
        """Make this the window of the level."""
        self.window, self._ends = window, ends(window)

    def fires(self, instant: int) -> bool:
        """Whether an instance of the window ends at the instant."""
        return (instant - self._ends.phase) % self._ends.step == 0

    @abstractmethod
    def add(self, item: Item) -> None:
        """Put the newest item into the buffer."""

    @abstractmethod
    def settle(self, before: int) -> Iterable[Item]:
        """Move the buffer into the core; return what is older than `before`, oldest first."""

    @abstractmethod
    def held(self) -> list[Item]:
        """Everything, oldest first."""

    @abstractmethod
    def clear(self) -> None:
        """Give up everything."""

    def refill(self, items: Iterable[Item]) -> None:
        """Take what other stairs held, oldest first, into the buffer, which is empty."""
        for item in items:
            self.add(item)

    def __len__(self) -> int:
        return len(self.core) + len(self.buffer)


AnyStair = TypeVar("AnyStair", bound=Stair[Any])


class Stairs(Generic[AnyStair]):
    """The stairs of one group."""

    def __init__(
        self, windows: Iterable[Window], make: Callable[[Window], AnyStair], whole_from: float
    ) -> None:
        self._make = make
        self.steps: list[AnyStair] = [make(window) for window in windows]
        self.whole_from = whole_from
        """No item of this instant or a later one is missing."""

    @property
    def windows(self) -> list[Window]:
        """The windows of the levels, narrowest first."""
        return [step.window for step in self.steps]

    def add(self, item: object) -> None:
        """A new item comes in at the bottom."""
        self.steps[0].add(item)

    def climb(self, instant: int) -> Sequence[AnyStair]:
        """Let items move up at an instant; the stairs whose windows fire there are returned."""
        leaving: Iterable[object] = ()
        for fired, step in enumerate(self.steps):
            for item in leaving:
                step.add(item)
            if not step.fires(instant):
                return self.steps[:fired]
            step.passed = instant - step.window.range
            leaving = step.settle(instant - step.window.range)
        self.whole_from = max(self.whole_from, self.steps[-1].passed)
        return self.steps

    def follow(self, windows: Sequence[Window]) -> None:
        """Change the levels to these: withdraw, embed, or exchange the window of equal range."""
        kept = {window.range: window for window in windows}
        for at in reversed(range(len(self.steps))):
            if self.steps[at].window.range not in kept:
                self._withdraw(at)
        present = {step.window.range: step for step in self.steps}
        self.steps = []
        for window in reversed(windows):
            step = present.get(window.range)
            if step is None:
                step = self._make(window)
                if self.steps:
                    _move(self.steps[0], step)
            step.exchange(window)
            self.steps.insert(0, step)

    def held(self) -> list[Any]:
        """All items, oldest first."""
        return [item for step in reversed(self.steps) for item in step.held()]

    def _withdraw(self, at: int) -> None:
        step = self.steps.pop(at)
        if at < len(self.steps):
            for item in step.held():
                self.steps[at].add(item)
        elif self.steps:
            self.whole_from = max(self.whole_from, self.steps[-1].passed)

    def __len__(self) -> int:
        return sum(len(step) for step in self.steps)

    @property
    def buffered(self) -> int:
        """How many items wait in buffers above the lowest stair."""
        return sum(len(step.buffer) for step in self.steps[1:])


def _move(source: AnyStair, target: AnyStair) -> None:
    """Let the narrower, new stair hold what the one above it held."""
    target.refill(source.held())
    source.clear()

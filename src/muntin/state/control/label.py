"""A label: a window under an id, from its first complete instance to its last.

    since    the begin of its first instance; None if it was there before any row
    until    no instance that ends later is emitted; None while the window runs

Several labels may stand on the same window: it is computed once, and its rows are given out under
each id. Times are microseconds of event time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from muntin.model.windows import Window, parse_window
from muntin.state.control.command import window_text


@dataclass(frozen=True, slots=True)
class Label:
    """A window of a running stream; `aggregates` are those asked for, None for all.

    `order` is that of the command which registered it; windows of the start have none.
    """

    id: str
    window: Window
    aggregates: tuple[str, ...] | None = None
    since: int | None = None
    until: int | None = None
    order: int | None = None

    @property
    def running(self) -> bool:
        """Whether it was not suspended; its last instances may still be due after that."""
        return self.until is None

    @property
    def text(self) -> str:
        """The window by its range, slide and offset."""
        return window_text(self.window)

    def done(self, last: int) -> bool:
        """Whether every instance of a suspended window fired by `last`, or it never had one.

        >>> label = Label("x", Window(10, 10), since=20, until=30)
        >>> label.done(29), label.done(30), Label("x", Window(10, 10), since=25, until=30).done(0)
        (False, True, True)
        """
        if self.until is None:
            return False
        ended = self.since is not None and self.since + self.window.range > self.until
        return ended or self.until <= last

    def plain(self) -> list[Any]:
        """The label as JSON values."""
        return [self.id, self.text, self.aggregates, self.since, self.until, self.order]

    @staticmethod
    def of(plain: list[Any]) -> Label:
        """The label of JSON values."""
        id, text, names, since, until, order = plain
        shape = parse_window(text)
        window = Window(shape.range, shape.slide, shape.offset, id)
        return Label(id, window, None if names is None else tuple(names), since, until, order)

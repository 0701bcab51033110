"""What becomes of a command: obeyed, or refused with the reason.

The rules use only what every part of a stream knows alike: the labels, what the stream keeps, and
its newest event time. So all parts decide the same, and decide the same again when a micro-batch is
repeated. A controller asks the same rules before it writes a command.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from muntin.errors import did_you_mean, shown
from muntin.model.durations import duration_text
from muntin.model.windows import Window, parse_window
from muntin.state.control.command import MOST_WINDOWS, REGISTER, Command, window_text

FEW = 20
"""Windows among which a mistyped id is looked for."""


@dataclass(frozen=True, slots=True)
class Label:
    """A window of a running stream under an id, from its first complete instance to its last.

    `since` is the begin of its first instance, None if it was there before any row. No instance
    that ends after `until` is emitted; None while the window runs. Times are microseconds of event
    time. `aggregates` are those asked for, None for all; `order` is that of the command which
    registered it: windows of the start have none.

    Several labels may stand on the same window: it is computed once, and its rows are given out
    under each id.
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

    def is_done(self, last: int) -> bool:
        """Whether every instance of a suspended window fired by `last`, or it never had one.

        >>> label, never = (Label("x", Window(10, 10), since=n, until=30) for n in (20, 25))
        >>> label.is_done(29), label.is_done(30), never.is_done(0)
        (False, True, True)
        """
        if self.until is None:
            return False
        never = self.since is not None and self.since + self.window.range > self.until
        return never or self.until <= last

    def to_plain(self) -> list[object]:
        text = window_text(self.window)
        return [self.id, text, self.aggregates, self.since, self.until, self.order]

    @staticmethod
    def from_plain(plain: list[Any]) -> Label:
        id, text, names, since, until, order = plain
        shape = parse_window(text)
        window = Window(shape.range, shape.slide, shape.offset, id)
        return Label(id, window, None if names is None else tuple(names), since, until, order)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a stream can do for its windows: the aggregates that it keeps, and its grain."""

    aggregates: tuple[str, ...]
    grain: int = 1

    def fits_grain(self, window: Window) -> bool:
        """Whether range, slide and offset are multiples of the grain."""
        return not any(n % self.grain for n in (window.range, window.slide, window.offset))


def refusal(
    command: Command, running: Collection[str], terms: Terms | None, kept: int | None = None
) -> str | None:
    """Why a command cannot be obeyed while these windows run, or None.

    `kept` counts all windows of the stream, if some are suspended and still due.

    >>> refusal(Command("1", "suspend", "shrot"), ["short"], None)
    "there is no window 'shrot' to suspend: did you mean 'short'?"
    """
    if command.action != REGISTER:
        if command.id in running:
            return None
        return f"there is no window {shown(command.id)} to suspend: {_hint(command.id, running)}"
    if command.id in running:
        return f"the id {shown(command.id)} is taken: suspend that window first, or give another id"
    if (len(running) if kept is None else kept) >= MOST_WINDOWS:
        return f"the stream has {MOST_WINDOWS:,} windows, and takes no more: suspend some first"
    return None if terms is None else _beyond(terms, command)


def _hint(id: str, running: Collection[str]) -> str:
    if not running:
        return "none is running"
    few = len(running) <= FEW
    return did_you_mean(id, running) if few else f"list() shows the {len(running)} that run"


def _beyond(terms: Terms, command: Command) -> str | None:
    """Why a registration asks for more than the stream keeps, or None."""
    if command.window is not None and not terms.fits_grain(command.window):
        return (
            f"the window {shown(window_text(command.window))} does not fit the grain of this "
            f"stream, {duration_text(terms.grain)}: choose range, slide and offset as multiples "
            "of it"
        )
    for name in command.aggregates or ():
        if name not in terms.aggregates:
            hint = did_you_mean(name, terms.aggregates)
            return f"the stream keeps no partials of the aggregate {shown(name)}: {hint}"
    return None


def decide(
    labels: Sequence[Label],
    commands: Sequence[Command],
    terms: Terms,
    newest: int | None,
    first: int = 0,
) -> tuple[list[Label], list[str | None]]:
    """Obey commands in order, at the newest event time that was seen before them.

    Returns the labels after them, and for each command the reason of its refusal, or None. A
    suspended window keeps its instances that end by then; a registered one waits for the stream to
    say from when it is complete (`since` is left open). `first` is the order of the first command
    among all that the stream ever met.
    """
    now, refusals = list(labels), []
    for order, command in enumerate(commands, first):
        running = {label.id: place for place, label in enumerate(now) if label.running}
        reason = refusal(command, running, terms, kept=len(now))
        refusals.append(reason)
        if reason is not None:
            continue
        if command.window is not None:
            now.append(Label(command.id, command.window, command.aggregates, order=order))
        elif newest is None:  # there was no row at all
            del now[running[command.id]]
        else:
            place = running[command.id]
            now[place] = replace(now[place], until=newest)
    return now, refusals

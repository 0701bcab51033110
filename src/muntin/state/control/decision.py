"""What becomes of a command: obeyed, or refused with the reason.

The rules use only what every part of a stream knows alike: the labels, what the stream keeps, and
its newest event time. So all parts decide the same, and decide the same again when a micro-batch is
repeated. A controller asks the same rules before it writes a command.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from muntin.errors import did_you_mean, shown
from muntin.model.durations import duration_text
from muntin.state.control.command import REGISTER, Command, window_text
from muntin.state.control.label import Label
from muntin.state.control.limits import MOST_WINDOWS, unfit_text, unfit_window

FEW = 20
"""Windows among which a mistyped id is looked for."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a stream can do for its windows: the aggregates that it keeps, and its grain."""

    aggregates: tuple[str, ...]
    grain: int = 1


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
    return _unfit(command) or _off_grain(command, terms) or _not_kept(command, terms)


def _hint(id: str, running: Collection[str]) -> str:
    if not running:
        return "none is running"
    few = len(running) <= FEW
    return did_you_mean(id, running) if few else f"list() shows the {len(running)} that run"


def _unfit(command: Command) -> str | None:
    unfit = None if command.window is None else unfit_window(command.window)
    return unfit or unfit_text(command.id, "window id")


def _off_grain(command: Command, terms: Terms | None) -> str | None:
    window = command.window
    if window is None or terms is None:
        return None
    if any(length % terms.grain for length in (window.range, window.slide, window.offset)):
        return (
            f"the window {shown(window_text(window))} does not fit the grain of this stream, "
            f"{duration_text(terms.grain)}: choose range, slide and offset as multiples of it"
        )
    return None


def _not_kept(command: Command, terms: Terms | None) -> str | None:
    if terms is None:
        return None
    for name in command.aggregates or ():
        if name not in terms.aggregates:
            hint = did_you_mean(name, terms.aggregates)
            return f"the stream keeps no partials of the aggregate {shown(name)}: {hint}"
    return None


@dataclass(frozen=True, slots=True)
class Decided:
    """The labels after some commands, and for each command the reason of its refusal, or None."""

    labels: tuple[Label, ...]
    refusals: tuple[str | None, ...]


def decide(
    labels: Sequence[Label],
    commands: Sequence[Command],
    terms: Terms,
    newest: int | None,
    first: int = 0,
) -> Decided:
    """Obey commands in order, at the newest event time that was seen before them.

    A suspended window keeps its instances that end by then; a registered one waits for the stream
    to say from when it is complete (`since` is left open). `first` is the order of the first
    command among all that the stream ever met.
    """
    now, refusals = list(labels), []
    for order, command in enumerate(commands, first):
        running = [label.id for label in now if label.running]
        reason = refusal(command, running, terms, kept=len(now))
        refusals.append(reason)
        if reason is None and command.window is not None:
            now.append(Label(command.id, command.window, command.aggregates, order=order))
        elif reason is None:
            ends = [_ended(each, command.id, newest) for each in now]
            now = [label for label in ends if label is not None]
    return Decided(tuple(now), tuple(refusals))


def _ended(label: Label, id: str, newest: int | None) -> Label | None:
    """The label with its end, if it is the one; none if there was no row at all."""
    if label.id != id or not label.running:
        return label
    return None if newest is None else replace(label, until=newest)

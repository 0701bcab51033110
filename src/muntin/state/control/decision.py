"""What becomes of a command: obeyed, or refused with the reason.

The rules use only what every part of a stream knows alike: the labels, what the stream keeps, and
its newest event time. So all parts decide the same, and decide the same again when a micro-batch is
repeated. A controller asks the same rules before it writes a command.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from muntin.errors import ControlError, did_you_mean, shown
from muntin.model.data_windows import DataWindow, MeasureWindow, Session
from muntin.model.durations import duration_text
from muntin.model.frames import Trailing
from muntin.model.window_text import AnyWindow, parse_any_window, parse_trailing, text_of
from muntin.model.windows import Window
from muntin.state.control.command import MOST_WINDOWS, REGISTER, Command, check_window

FEW = 20
"""Windows among which a mistyped id is looked for."""

PERIODIC, DATA, TRAILING = "periodic", "data", "trailing"
"""The kinds of windows that a stream may have."""


@dataclass(frozen=True, slots=True)
class Label:
    """A window of a running stream under an id, from its first complete instance to its last.

    `since` is the begin of its first instance, None if it was there before any row. No instance
    that ends after `until` is emitted; None while the window runs. Times are microseconds of event
    time. `aggregates` are those asked for, None for all; `order` is that of the command which
    registered it: windows of the start have none. `text` is what it was registered by, if that is
    not the window's own text: the id of one that the stream was started with.

    Several labels may stand on the same window: it is computed once, and its rows are given out
    under each id.
    """

    id: str
    window: AnyWindow
    aggregates: tuple[str, ...] | None = None
    since: int | None = None
    until: int | None = None
    order: int | None = None
    text: str | None = None

    @property
    def periodic(self) -> Window:
        """The window, on a stream that has no others."""
        assert isinstance(self.window, Window), "its terms take no others"
        return self.window

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
        first = self.window.range if isinstance(self.window, Window) else 0
        never = self.since is not None and self.since + first > self.until
        return never or self.until <= last

    def to_plain(self) -> list[object]:
        text = self.text or text_of(self.window)
        return [self.id, text, self.aggregates, self.since, self.until, self.order]

    @staticmethod
    def from_plain(plain: list[Any], terms: Terms) -> Label:
        id, text, names, since, until, order = plain
        own = None if names is None else tuple(names)
        known = text if text in terms.known else None
        return Label(id, terms.read(text, id), own, since, until, order, known)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a stream can do for its windows: the aggregates that it keeps, and its grain.

    `kind` is that of its windows. Those in `known` can be registered by their ids: a controller
    need not know what they are. `inputs` are the expressions that the stream computes for windows
    which the data decides.
    """

    aggregates: tuple[str, ...]
    grain: int = 1
    kind: str = PERIODIC
    known: Mapping[str, AnyWindow] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()

    def fits_grain(self, window: Window) -> bool:
        """Whether range, slide and offset are multiples of the grain."""
        return not any(n % self.grain for n in (window.range, window.slide, window.offset))

    def read(self, text: str, id: str) -> AnyWindow:
        """The window that a text says to such a stream, under an id.

        >>> Terms((), kind="trailing").read("1 hour", "mine").length
        3600000000
        >>> Terms((), kind="data").read("5 fish", "mine")
        Traceback (most recent call last):
        muntin.errors.ControlError: range '5 fish' has the unknown unit 'fish': known: ...
        """
        if self.kind == PERIODIC:
            return check_window(text, id)
        try:
            known = self.known.get(text)
            parse = parse_trailing if self.kind == TRAILING else parse_any_window
            window = parse(text) if known is None else known
        except (ValueError, ArithmeticError) as error:  # ours are ValueErrors, as others may be
            raise ControlError(str(error)) from None
        if isinstance(window, Window):
            return check_window(window, id)
        return replace(window, id=id)

    def take(self, command: Command) -> AnyWindow:
        """The window of a registration; refused where this stream could never answer it."""
        given = command.window
        assert given is not None, "it is a registration"
        window = self.read(given, command.id) if isinstance(given, str) else given
        if isinstance(window, Trailing) and window.length is None:
            raise ControlError(
                f"{shown(text_of(window))} takes events however old, and a running stream has let "
                "them go: give it in windows= from the start, or register one with a length"
            )
        if isinstance(window, MeasureWindow) or (isinstance(window, Session) and window.maximum):
            raise ControlError(
                f"where {shown(text_of(window))} begins depends on records that a running stream "
                "has let go: give it in windows= from the start"
            )
        inputs = window.inputs if isinstance(window, DataWindow) else ()
        lacking = [sql for sql in inputs if sql not in self.inputs]
        if lacking:
            raise ControlError(
                f"the stream does not compute {shown(lacking[0])} for its windows: give the window "
                "in windows= from the start, and suspend and register it by its id"
            )
        return window


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
    try:
        window = terms.take(command)
    except ControlError as error:
        return str(error)
    if isinstance(window, Window) and not terms.fits_grain(window):
        return (
            f"the window {shown(text_of(window))} does not fit the grain of this "
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
            text = command.window if isinstance(command.window, str) else None
            known = text if text in terms.known else None
            window = terms.take(command)
            now.append(Label(command.id, window, command.aggregates, order=order, text=known))
        elif newest is None:  # there was no row at all
            del now[running[command.id]]
        else:
            place = running[command.id]
            now[place] = replace(now[place], until=newest)
    return now, refusals

"""Control: register and suspend windows of a stream while it runs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from muntin.aggregates import Aggregate
from muntin.errors import ControlError, shown
from muntin.model.durations import Duration, microseconds
from muntin.model.frames import Trailing
from muntin.model.window_text import AnyWindow, parse_any_window, parse_trailing, text_of
from muntin.model.windows import Window
from muntin.state.control.command import (
    REGISTER,
    SUSPEND,
    Command,
    Unreadable,
    check_names,
    check_text,
    check_window,
    new_key,
    read_command,
)
from muntin.state.control.decision import PERIODIC, refusal
from muntin.state.control.folder import Folder
from muntin.state.control.listing import Listing, list_windows


class Control:
    """The windows of a running stream: a directory of commands, which any process may write to.

    A stream is started with `mt.aggregate(stream, ..., control=mt.Control(path))`. Then, there or
    in another process that sees the same directory, windows are registered and suspended. What can
    be known to fail is refused at once; where two controllers write at the same time, the stream
    decides, and `list()` tells. mt.distinct and mt.join with layout="long", and mt.as_of, take a
    control too.

    `grain` is what all windows of the stream are multiples of: rows are pre-aggregated to it
    before they reach the state. Without one any window can be registered, at a cost. Instead of
    files, `commands` may be a streaming DataFrame of commands (docs/control.md); with a path, too,
    the stream's log is written there.

    >>> from tempfile import mkdtemp
    >>> control = Control(mkdtemp())
    >>> control.register("10 minutes/1 minute", id="short")
    'short'
    >>> control.list()
    id     window               aggregates  state
    short  10 minutes/1 minute  all         waiting
    >>> control.suspend("shrot")
    Traceback (most recent call last):
    muntin.errors.ControlError: there is no window 'shrot' to suspend: did you mean 'short'?
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        grain: Duration | None = None,
        commands: Any = None,
    ) -> None:
        if path is None and commands is None:
            raise ControlError(
                "a control needs the path of its directory, or commands=, a streaming DataFrame"
            )
        self.folder = None if path is None else Folder.at(path)
        self.commands = commands
        self.grain = 1 if grain is None else microseconds(grain, "grain")
        if self.grain <= 0:
            raise ControlError(f"grain {shown(grain)} must be positive")

    def register(
        self,
        window: AnyWindow | str,
        id: str | None = None,
        aggregates: Iterable[str | Aggregate] | None = None,
    ) -> str:
        """Ask the stream for a window, under an id; the id is given back.

        `window` is mt.tumbling(...), mt.hopping(...), or text such as "1 hour/5 minutes"; on a
        stream of windows that the data decides also mt.session(...), mt.count_window(...), or the
        id of one that it was started with; on one of mt.as_of mt.trailing(...) or "1 hour".
        `aggregates` are some of the stream's, by name: the columns of the others are null.
        """
        if not isinstance(window, str | AnyWindow):
            raise ControlError(
                f"a {type(window).__name__} cannot join a running stream: register "
                "mt.tumbling('10 minutes') or mt.hopping('1 hour', '5 minutes')"
            )
        folder = self._folder(REGISTER)
        stream = folder.read_stream()
        kind = None if stream is None else stream.terms.kind
        text = _text_for(window, kind)
        if text is None:
            assert isinstance(window, str | Window), "others are sent as texts"
            named = check_window(window, id)
            self._send(Command(new_key(), REGISTER, named.id, named, _names(aggregates)))
            return named.id
        own = check_text(id or (text if isinstance(window, str) else window.id), "window id")
        self._send(Command(new_key(), REGISTER, own, text, _names(aggregates)))
        return own

    def suspend(self, id: str) -> None:
        """Ask the stream to let a window go; its instances that are over are still emitted."""
        self._send(Command(new_key(), SUSPEND, str(id)))

    def list(self) -> Listing:
        """The windows of the stream, as far as it has logged them, and the commands that wait."""
        folder = self._folder("list windows")
        log, stream = [*folder.read_log(), *folder.refuse_unread()], folder.read_stream()
        as_text = stream is not None and stream.terms.kind != PERIODIC
        return list_windows(stream, log, folder.read_commands(as_text))

    def _send(self, command: Command) -> None:
        folder = self._folder(command.action)
        if self.commands is not None:
            raise ControlError(
                f"this control takes commands from a DataFrame: {command.action} "
                f"{shown(command.id)} by a row there"
            )
        known, stream = self.list(), folder.read_stream()
        reason = refusal(command, known.running, stream.terms if stream else None)
        if reason:
            raise ControlError(reason)
        read = read_command(command.to_json(), isinstance(command.window, str))
        if isinstance(read, Unreadable):  # no stream could
            raise ControlError(read.reason)
        folder.make().write_command(command)

    def _folder(self, what: str) -> Folder:
        if self.folder is None:
            raise ControlError(f"to {what}, a control needs a directory: mt.Control(path)")
        return self.folder


def _text_for(window: AnyWindow | str, kind: str | None) -> str | None:
    """The text to send, or None for a periodic window of a stream that has no others.

    A stream that has not been started yet may be of any kind.
    """
    if kind == PERIODIC or (kind is None and isinstance(window, Window)):
        if isinstance(window, str | Window):
            return None
        raise ControlError(
            f"{shown(window.id)} cannot join this stream, whose windows are periodic: register "
            "mt.hopping('1 hour', '5 minutes')"
        )
    if isinstance(window, str):
        return None if kind is None and _is_periodic(window) else window
    text = text_of(window)
    parse = parse_trailing if isinstance(window, Trailing) else parse_any_window
    try:
        said = parse(text) == window
    except (ValueError, ArithmeticError):
        said = False
    if not said:
        raise ControlError(
            f"{shown(window.id)} cannot be sent to a running stream, since no text says it: start "
            "the stream with it, and suspend and register it by its id"
        )
    return text


def _is_periodic(text: str) -> bool:
    """Whether a text is sent as it is read today; what none of the others read, too."""
    for parse in (parse_any_window, parse_trailing):
        with suppress(ValueError, ArithmeticError):
            return isinstance(parse(text), Window)
    return True


def _names(aggregates: Iterable[str | Aggregate] | None) -> tuple[str, ...] | None:
    if aggregates is None:
        return None
    given = [aggregates] if isinstance(aggregates, str | Aggregate) else aggregates
    if not isinstance(given, Iterable):
        given = ()
    names = [a.name if isinstance(a, Aggregate) else a for a in given]
    if not names or not all(isinstance(name, str) for name in names):
        raise ControlError("aggregates must be names of the stream's, at least one")
    return check_names(names)

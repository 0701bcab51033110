"""Control: register and suspend windows of a stream while it runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from muntin.aggregates import Aggregate
from muntin.errors import ControlError, shown
from muntin.model.durations import Duration, microseconds
from muntin.model.windows import Window
from muntin.state.control.command import (
    REGISTER,
    SUSPEND,
    Command,
    Unreadable,
    check_names,
    check_window,
    new_key,
    read_command,
)
from muntin.state.control.decision import refusal
from muntin.state.control.folder import Folder
from muntin.state.control.listing import Listing, list_windows


class Control:
    """The windows of a running stream: a directory of commands, which any process may write to.

    A stream is started with `mt.aggregate(stream, ..., control=mt.Control(path))`. Then, there or
    in another process that sees the same directory, windows are registered and suspended. What can
    be known to fail is refused at once; where two controllers write at the same time, the stream
    decides, and `list()` tells.

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
        window: Window | str,
        id: str | None = None,
        aggregates: Iterable[str | Aggregate] | None = None,
    ) -> str:
        """Ask the stream for a window, under an id; the id is given back.

        `window` is mt.tumbling(...), mt.hopping(...), or text such as "1 hour/5 minutes";
        `aggregates` are some of the stream's, by name: the columns of the others are null.
        """
        if not isinstance(window, str | Window):
            raise ControlError(
                f"a {type(window).__name__} cannot join a running stream: register "
                "mt.tumbling('10 minutes') or mt.hopping('1 hour', '5 minutes')"
            )
        named = check_window(window, id)
        self._send(Command(new_key(), REGISTER, named.id, named, _names(aggregates)))
        return named.id

    def suspend(self, id: str) -> None:
        """Ask the stream to let a window go; its instances that are over are still emitted."""
        self._send(Command(new_key(), SUSPEND, str(id)))

    def list(self) -> Listing:
        """The windows of the stream, as far as it has logged them, and the commands that wait."""
        folder = self._folder("list windows")
        log = [*folder.read_log(), *folder.refuse_unread()]
        return list_windows(folder.read_stream(), log, folder.read_commands())

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
        read = read_command(command.to_json())
        if isinstance(read, Unreadable):  # no stream could
            raise ControlError(read.reason)
        folder.make().write_command(command)

    def _folder(self, what: str) -> Folder:
        if self.folder is None:
            raise ControlError(f"to {what}, a control needs a directory: mt.Control(path)")
        return self.folder


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

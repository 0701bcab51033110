"""The directory of a control: small files, each written whole under a name of its own.

    commands/<key>.json    commands, by anyone, at any time
    log/<order>.json       what the stream made of each, as it met them
    stream.json            what the stream that uses the directory keeps

A file is written under a hidden name and then renamed, so that no reader ever sees half of one and
two writers never touch the same file. Files that are none of ours are never overwritten or removed,
whatever they are called, and none of them stops a reader.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from stat import S_ISREG
from uuid import uuid4

from muntin.errors import ControlError, shown
from muntin.state.control.command import MOST_BYTES, UNKNOWN, Command, read_command
from muntin.state.control.log import REFUSED, Entry, Stream

COMMAND_FILE = r"[^._/][^/]*[.]json"
"""Names of files that a stream reads; hidden ones are still being written."""

_ENTRY_FILE = re.compile(r"(\d{10,})(-\d+)?[.]json")
_HALF_AN_ENTRY = re.compile(r"[.]\d{10,}(-\d+)?[.]json[.][0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Folder:
    """A control's directory, on a file system that all who use it see under the same path."""

    path: Path

    @staticmethod
    def at(given: str | Path) -> Folder:
        """The directory at a path; other file systems than mounted ones are refused."""
        try:
            text = os.fspath(given).removeprefix("file://")
        except (TypeError, AttributeError):
            raise ControlError(f"a control needs a path, not a {type(given).__name__}") from None
        if "\0" in text:
            raise ControlError(f"a control at {shown(text)} cannot be: no path holds a NUL")
        if "://" in text:
            raise ControlError(
                f"a control at {text!r} cannot be written to as files: give a directory that this "
                "machine and all executors see, or commands=, a streaming DataFrame of commands"
            )
        return Folder(Path(text).absolute())

    @property
    def commands(self) -> Path:
        return self.path / "commands"

    @property
    def exists(self) -> bool:
        """Whether there is a control at all."""
        return self.commands.is_dir()

    def make(self) -> Folder:
        try:
            for each in (self.commands, self.path / "log"):
                each.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ControlError(
                f"a control cannot be made at {str(self.path)!r}: {error.strerror}"
            ) from None
        return self

    def write_command(self, command: Command) -> None:
        self._write(self.commands / f"{command.key}.json", command.to_json())

    def write_entry(self, entry: Entry) -> None:
        """Log what became of a command; again the same if a micro-batch is repeated."""
        names = (f"{entry.order:010}{f'-{i}' if i else ''}.json" for i in count())
        places = (self.path / "log" / name for name in names)
        free = next(at for at in places if not os.path.lexists(at) or _read_entry(at) is not None)
        self._write(free, entry.to_json())

    def write_stream(self, stream: Stream) -> None:
        """Say what the stream keeps."""
        self.read_stream()  # another file of that name is not overwritten
        self._write(self.path / "stream.json", stream.to_json())

    def forget(self) -> None:
        """A stream begins anew: what an earlier one made of the commands holds no more."""
        for file in _files(self.make().path / "log"):
            if _HALF_AN_ENTRY.fullmatch(file.name) or _read_entry(file) is not None:
                file.unlink(missing_ok=True)

    def read_commands(self, as_text: bool = False) -> list[Command]:
        """All commands in order; files that are none are left to the stream to refuse."""
        texts = map(_read_small, self._command_files())
        read = (read_command(text, as_text) for text in texts if text is not None)
        commands = (command for command in read if isinstance(command, Command))
        return sorted(commands, key=lambda command: command.key)

    def refuse_unread(self) -> Iterator[Entry]:
        """Refuse command files that no stream reads, since no log will."""
        for file in self._command_files():
            if not _is_small(file):
                reason = (
                    f"the file {shown(file.name)} cannot be read as a command, which is a file "
                    f"of 1 to {MOST_BYTES:,} bytes"
                )
                yield Entry(file.name, UNKNOWN, UNKNOWN, REFUSED, reason=reason)

    def read_log(self) -> list[Entry]:
        """What became of commands, in the order in which the stream met them."""
        entries = [each for each in map(_read_entry, _files(self.path / "log")) if each]
        return sorted(entries, key=lambda entry: (entry.order, entry.key))

    def read_stream(self) -> Stream | None:
        """What the stream keeps, once one was started."""
        file = self.path / "stream.json"
        try:
            return Stream.from_json(file.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError):
            raise ControlError(
                f"{str(file)!r} is not what a stream wrote there: move it away and start the "
                "stream again, or give the control a directory of its own"
            ) from None

    def _command_files(self) -> list[Path]:
        return [file for file in _files(self.commands) if re.fullmatch(COMMAND_FILE, file.name)]

    def _write(self, target: Path, text: str) -> None:
        hidden = target.with_name(f".{target.name}.{uuid4().hex}")
        try:
            # what UTF-8 cannot say, half a surrogate pair, is then an escape of JSON's
            with hidden.open("w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            hidden.replace(target)
        except OSError as error:
            with suppress(OSError):
                hidden.unlink(missing_ok=True)
            raise ControlError(f"{str(target)!r} cannot be written: {error.strerror}") from None


def _files(folder: Path) -> Iterator[Path]:
    """What a folder holds, in the order of names; nothing where there is no folder."""
    with suppress(FileNotFoundError, NotADirectoryError):
        yield from sorted(folder.iterdir())


def _is_small(file: Path) -> bool:
    """Whether it is a file, not empty and not too large."""
    try:
        about = file.stat()
    except OSError:
        return False
    return S_ISREG(about.st_mode) and 0 < about.st_size <= MOST_BYTES


def _read_small(file: Path) -> bytes | None:
    """The content of a small file; None where it is none, or gone."""
    with suppress(OSError):
        return file.read_bytes() if _is_small(file) else None
    return None


def _read_entry(file: Path) -> Entry | None:
    """The entry that a file of the log is, under its own name; else None."""
    name, text = _ENTRY_FILE.fullmatch(file.name), _read_small(file)
    if name is not None and text is not None:
        with suppress(ControlError, UnicodeDecodeError):
            entry = Entry.from_json(text.decode())
            return entry if entry.order == int(name[1]) else None
    return None

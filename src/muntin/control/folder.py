"""The directory of a control: small files, each written whole under a name of its own.

    commands/<key>.json    commands, by anyone, at any time
    log/<order>.json       what the stream made of each, as it met them
    stream.json            what the stream that uses the directory keeps

A file is written under a hidden name and then renamed, so that no reader ever sees half of one and
two writers never touch the same file.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from muntin.control.command import Command
from muntin.control.decision import Terms
from muntin.control.entry import Entry
from muntin.control.label import Label
from muntin.errors import ControlError
from muntin.windows import Window


@dataclass(frozen=True, slots=True)
class Stream:
    """What a stream keeps: the windows of its start, its terms, and for the reader its keys."""

    windows: tuple[Window, ...]
    terms: Terms
    keys: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The stream as JSON."""
        plain = {
            "windows": [Label(w.id, w).plain() for w in self.windows],
            "aggregates": self.terms.aggregates,
            "grain": self.terms.grain,
            "keys": self.keys,
        }
        return json.dumps(plain, ensure_ascii=False, indent=1)

    @staticmethod
    def from_json(text: str) -> Stream:
        """The stream of some JSON."""
        plain = json.loads(text)
        windows = tuple(Label.of(each).window for each in plain["windows"])
        terms = Terms(tuple(plain["aggregates"]), plain["grain"])
        return Stream(windows, terms, tuple(plain["keys"]))


@dataclass(frozen=True, slots=True)
class Folder:
    """A control's directory, on a file system that all who use it see under the same path."""

    path: Path

    @staticmethod
    def at(given: str | Path) -> Folder:
        """The directory at a path; other file systems than mounted ones are refused."""
        text = os.fspath(given).removeprefix("file://")
        if "://" in text:
            raise ControlError(
                f"a control at {text!r} cannot be written to as files: give a directory that this "
                "machine and all executors see, or commands=, a streaming DataFrame of commands"
            )
        return Folder(Path(text).absolute())

    @property
    def commands(self) -> Path:
        """Where commands are written."""
        return self.path / "commands"

    @property
    def exists(self) -> bool:
        """Whether there is a control at all."""
        return self.commands.is_dir()

    def made(self) -> Folder:
        """The same directory, made if it was not there."""
        try:
            for each in (self.commands, self.path / "log"):
                each.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ControlError(
                f"there can be no control at {str(self.path)!r}: {error.strerror}"
            ) from None
        return self

    def write_command(self, command: Command) -> None:
        """Give a command to the stream."""
        self._write(self.commands / f"{command.key}.json", command.to_json())

    def write_entry(self, entry: Entry) -> None:
        """Log what became of a command; again the same if a micro-batch is repeated."""
        self._write(self.path / "log" / f"{entry.order:010}.json", entry.to_json())

    def write_stream(self, stream: Stream) -> None:
        """Say what the stream keeps."""
        self._write(self.path / "stream.json", stream.to_json())

    def forget(self) -> None:
        """A stream begins anew: what an earlier one made of the commands holds no more."""
        shutil.rmtree(self.path / "log", ignore_errors=True)
        self.made()

    def read_commands(self) -> list[Command]:
        """All commands in order; files that are none are left to the stream to refuse."""
        found = []
        for text in _texts(self.commands):
            try:
                found.append(Command.from_json(text))
            except ControlError:
                continue
        return sorted(found)

    def read_log(self) -> list[Entry]:
        """What became of commands, in the order in which the stream met them."""
        entries = [Entry.from_json(text) for text in _texts(self.path / "log")]
        return sorted(entries, key=lambda entry: (entry.order, entry.key))

    def read_stream(self) -> Stream | None:
        """What the stream keeps, once one was started."""
        try:
            return Stream.from_json((self.path / "stream.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _write(self, target: Path, text: str) -> None:
        hidden = target.with_name(f".{target.name}.{uuid4().hex}")
        try:
            with hidden.open("w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            hidden.replace(target)
        except OSError as error:
            raise ControlError(f"{str(target)!r} cannot be written: {error.strerror}") from None


def _texts(folder: Path) -> Iterator[str]:
    """The files of a folder, in the order of their names."""
    for file in sorted(folder.glob("[!.]*.json")):
        try:
            yield file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:  # a stream that begins anew forgets its log
            continue

"""The windows of a stream with a control, as every bucket keeps them, and what commands change.

An entry of the state, `control`, has the labels of the moment, the stream's newest event time E,
the watermark of the step before, and how many commands were met. They are the same in every bucket,
since every bucket hears of all commands and of the newest row of every partition. What a window
that is registered answers from is the matter of each kind of bucket.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from muntin.errors import StateError
from muntin.model.durations import duration_text
from muntin.model.window_text import text_of
from muntin.model.windows import Window
from muntin.state.control import Command, Entry, Label, Terms, Unreadable, decide, read_command
from muntin.state.control.command import strip
from muntin.state.control.decision import PERIODIC
from muntin.state.control.log import REFUSED, RUNNING, SUSPENDED
from muntin.state.store import Store

ENTRY = "control"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Start:
    """What a stream with a control is started with: its windows in words, as labels, its terms."""

    words: tuple[str, ...]
    labels: tuple[Label, ...]
    terms: Terms


@dataclass(frozen=True, slots=True)
class KeptLabels:
    """The labels of a stream, its newest event time, and the watermark of the step before.

    `first` are the windows that it was started with, `met` counts the commands that it met. Where
    single events are kept, none is missing from `whole_from` on.
    """

    first: tuple[str, ...]
    labels: tuple[Label, ...]
    newest: int | None = None
    last: int = 0
    met: int = 0
    whole_from: int | None = None
    stored: bool = False

    @staticmethod
    def read(store: Store, start: Start) -> KeptLabels:
        """What a store holds, if the stream may go on from it; else the windows of its start."""
        entry = store.read(ENTRY)
        if entry is None:
            return KeptLabels(start.words, start.labels)
        plain = json.loads(entry)
        _check_format(plain["format"])
        if tuple(plain["first"]) != start.words:
            raise StateError(
                f"this stream was started with the windows {'; '.join(plain['first'])}, and the "
                f"query asks for {'; '.join(start.words)}: with a control, windows change by "
                "commands; give the first ones again, and register or suspend the others"
            )
        labels = tuple(Label.from_plain(each, start.terms) for each in plain["labels"])
        _check_grain(labels, start.terms)
        times = (plain["newest"], plain["last"], plain["met"], plain.get("whole_from"))
        return KeptLabels(start.words, labels, *times, stored=True)

    def write(self, store: Store) -> None:
        """Keep them."""
        plain = {
            "format": FORMAT,
            "first": self.first,
            "labels": [label.to_plain() for label in self.labels],
            "newest": self.newest,
            "last": self.last,
            "met": self.met,
        }
        if self.whole_from is not None:
            plain["whole_from"] = self.whole_from
        store.write(ENTRY, json.dumps(plain).encode())

    def obey(self, given: Sequence[bytes | str], terms: Terms) -> Obeyed:
        """Decide on the commands of a batch."""
        present = [label for label in self.labels if not label.is_done(self.last)]
        as_text = terms.kind != PERIODIC
        read = [read_command(each, as_text) for each in sorted(set(map(strip, given)))]
        read.sort(key=lambda each: each.key)
        commands = [each for each in read if isinstance(each, Command)]
        broken = [each for each in read if isinstance(each, Unreadable)]
        first = self.met + len(broken)
        labels, refusals = decide(present, commands, terms, self.newest, first)
        return Obeyed(labels, first, self, commands, refusals, broken)


@dataclass(frozen=True, slots=True)
class Obeyed:
    """The labels after the commands of a batch; those from the order `first` on are new."""

    labels: list[Label]
    first: int
    kept: KeptLabels
    commands: list[Command]
    refusals: list[str | None]
    broken: list[Unreadable]

    def is_new(self, label: Label) -> bool:
        """Whether a command of this batch registered it."""
        return label.order is not None and label.order >= self.first

    def ended(self, label: Label, before: Sequence[Label]) -> int:
        """By when the windows that had the label's id before have given their last instance."""
        ends = [each.until for each in before if each.id == label.id and each.until is not None]
        return max(ends, default=0)

    def log(self, labels: Sequence[Label], complete: Mapping[int, int]) -> tuple[Entry, ...]:
        """What became of the commands, once labels have their first instance.

        `complete` has, by the order of a command, from when on its window is complete.
        """
        return (*self._log_broken(), *self._log_commands(labels, complete))

    def _log_broken(self) -> Iterator[Entry]:
        newest = self.kept.newest
        for order, each in enumerate(self.broken, self.kept.met):
            key, action, id = each.key, each.action, each.id
            yield Entry(key, action, id, REFUSED, order, effective=newest, reason=each.reason)

    def _log_commands(
        self, labels: Sequence[Label], complete: Mapping[int, int]
    ) -> Iterator[Entry]:
        since = {label.order: label.since for label in labels}
        both = zip(self.commands, self.refusals, strict=True)
        for order, (command, reason) in enumerate(both, self.first):
            done = SUSPENDED if command.window is None else RUNNING
            begin, all_from = since.get(order), complete.get(order)
            yield Entry(
                command.key,
                command.action,
                command.id,
                REFUSED if reason else done,
                order,
                command.window_text,
                command.aggregates,
                effective=self.kept.newest,
                complete_from=None if reason else all_from,
                reason=reason,
                answers_from=None if reason or begin == all_from else begin,
            )


def _check_format(number: int) -> None:
    if number != FORMAT:
        raise StateError(
            f"the labels in the state of this stream have format {number}, and this version of "
            f"Muntin knows only {FORMAT}: go on with the version that wrote it"
        )


def _check_grain(labels: Sequence[Label], terms: Terms) -> None:
    for label in labels:
        if isinstance(label.window, Window) and not terms.fits_grain(label.window):
            raise StateError(
                f"the window {label.id!r} of this stream ({text_of(label.window)}) does "
                f"not fit the grain {duration_text(terms.grain)}: give the grain that it was "
                "started with"
            )

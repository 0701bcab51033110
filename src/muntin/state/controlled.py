"""A bucket whose windows come and go: commands first, then the rows of a batch.

Beside the pieces a bucket keeps its labels (`state.control`), the stream's newest event time E, and
the watermark of the step before. These are the same in every bucket of a stream, since every bucket
hears of all commands and of the newest row of every partition; and only they decide:

    commands   are obeyed in the order of their keys, at event time E
    slices     are the shared pairs of all windows of the moment: pieces come at the stream's grain
               and are put into them here, so that new edges refine the slices from now on
    register   where kept slices are cut at the window's edges, its first instance is the oldest
               that they make complete; else the first that begins after E (state.window_change)
    suspend    instances that end by E are emitted when the watermark passes, the others never
    leave      a window is forgotten when its last instance fired, with the slices only it needed

A window registered under the id of one that was suspended begins with the instance that ends after
the last of the other: no instance is emitted twice under one id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from muntin.errors import StateError
from muntin.kernels.monoids import Array
from muntin.kernels.tree import Branch
from muntin.model.durations import duration_text
from muntin.model.windows import Window, first_open
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import shared_pairs
from muntin.state.bucket import Bucket, Step
from muntin.state.control import Command, Entry, Label, Terms, Unreadable, decide, read_command
from muntin.state.control.command import strip, window_text
from muntin.state.control.log import REFUSED, RUNNING, SUSPENDED
from muntin.state.pieces import START, longs, starts
from muntin.state.spec import Spec
from muntin.state.state import Cache, Seen
from muntin.state.store import Store

ENTRY = "control"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Controlled:
    """A stream with a control: what it asks of a bucket but for windows, and those of its start."""

    spec: Spec
    windows: tuple[Window, ...]
    terms: Terms


@dataclass(slots=True)
class ControlledStep:
    """What one step did: results under their labels, the windows now, what became of commands."""

    step: Step
    results: Iterator[pa.Table]
    labels: tuple[Label, ...]
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class KeptLabels:
    """The labels of a stream, its newest event time, and the watermark of the step before.

    `first` are the windows that it was started with, `met` counts the commands that it met.
    """

    first: tuple[str, ...]
    labels: tuple[Label, ...]
    newest: int | None = None
    last: int = 0
    met: int = 0
    stored: bool = False

    @staticmethod
    def read(store: Store, stream: Controlled) -> KeptLabels:
        """What a store holds, if the stream may go on from it; else the windows of its start."""
        started = tuple(f"{w.id} = {window_text(w)}" for w in stream.windows)
        entry = store.read(ENTRY)
        if entry is None:
            return KeptLabels(started, tuple(Label(w.id, w) for w in stream.windows))
        plain = json.loads(entry)
        labels = tuple(Label.from_plain(each) for each in plain["labels"])
        times = (plain["newest"], plain["last"], plain["met"])
        kept = KeptLabels(tuple(plain["first"]), labels, *times, stored=True)
        kept._check(plain["format"], started, stream.terms)
        return kept

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
        store.write(ENTRY, json.dumps(plain).encode())

    def _check(self, number: int, started: tuple[str, ...], terms: Terms) -> None:
        if number != FORMAT:
            raise StateError(
                f"the labels in the state of this stream have format {number}, and this version of "
                f"Muntin knows only {FORMAT}: go on with the version that wrote it"
            )
        if self.first != started:
            raise StateError(
                f"this stream was started with the windows {'; '.join(self.first)}, and the query "
                f"asks for {'; '.join(started)}: with a control, windows change by commands; give "
                "the first ones again, and register or suspend the others"
            )
        for label in self.labels:
            if not terms.fits_grain(label.window):
                raise StateError(
                    f"the window {label.id!r} of this stream ({window_text(label.window)}) does "
                    f"not fit the grain {duration_text(terms.grain)}: give the grain that it was "
                    "started with"
                )


class ControlledBucket:
    """A bucket on its state in a store, for the length of one step."""

    def __init__(
        self, stream: Controlled, bucket: int, store: Store, cache: Cache | None = None
    ) -> None:
        self.stream, self.bucket, self.store, self.cache = stream, bucket, store, cache
        self.kept = KeptLabels.read(store, stream)

    def begin(self, pieces: Sequence[pa.Table]) -> None:
        """Take in pieces of the history, at the stream's grain; several calls add up.

        Only what the windows of the start need is kept.
        """
        until = self.stream.spec.until
        assert until is not None, "a stream with history says where it begins"
        spec = replace(self.stream.spec, bases=_bases(self.kept.labels))
        bucket = Bucket(spec, self.bucket, self.store, self.cache, Seen(until - 1))
        bucket.begin(_floor(pieces, spec))
        replace(self.kept, newest=until - 1, last=until).write(self.store)

    def step(
        self,
        pieces: Sequence[pa.Table],
        watermark: int,
        commands: Sequence[bytes | str] = (),
        newest: int | None = None,
    ) -> ControlledStep:
        """Obey the commands of a batch, take in its pieces, and emit what its watermark allows.

        `commands` and `newest`, the newest row, are those of the whole stream.
        """
        kept, terms = self.kept, self.stream.terms
        present = [label for label in kept.labels if not label.is_done(kept.last)]
        obeyed, broken = _read(commands)
        first = kept.met + len(broken)
        decided, refusals = decide(present, obeyed, terms, kept.newest, first)
        spec = replace(self.stream.spec, bases=_bases(decided))
        bucket = Bucket(spec, self.bucket, self.store, self.cache, Seen(kept.newest))
        labels = self._settle(decided, first, bucket)
        entries = [
            *_log_broken(broken, kept),
            *_log_commands(obeyed, refusals, labels, first, kept.newest),
        ]
        step = bucket.step(_floor(pieces, spec), watermark)
        shown = tuple(label for label in labels if not label.is_done(kept.last))
        known = [n for n in (kept.newest, newest) if n is not None]
        now = replace(
            kept,
            labels=shown,
            newest=max(known, default=None),
            last=bucket.state.header.last,
            met=kept.met + len(entries),
        )
        if now != kept or not kept.stored:
            now.write(self.store)
        return ControlledStep(step, _label(step.results, spec, shown, terms), shown, tuple(entries))

    def _settle(self, labels: Sequence[Label], first: int, bucket: Bucket) -> list[Label]:
        """The labels, new ones (by the command `first` or later) with their first instance."""
        if self.kept.newest is None:
            return list(labels)
        found: list[Label] = []
        for label in labels:
            since = label.since
            if label.order is not None and label.order >= first:
                [base] = bucket.state.header.bases
                ended = [each.until for each in found if each.id == label.id]
                last = max(self.kept.last, *(end for end in ended if end is not None), 0)
                complete = base.since(label.window)
                since = first_open(label.window, last)
                since = since if complete is None else max(since, complete)
            found.append(replace(label, since=since))
        return found


def _read(given: Sequence[bytes | str]) -> tuple[list[Command], list[Unreadable]]:
    """The commands in the order of their keys, and what is none."""
    read = [read_command(each) for each in sorted(set(map(strip, given)))]
    read.sort(key=lambda each: each.key)
    commands = [each for each in read if isinstance(each, Command)]
    return commands, [each for each in read if isinstance(each, Unreadable)]


def _bases(labels: Sequence[Label]) -> tuple[Base, ...]:
    """One set of slices for all windows of the moment, each of them once."""
    windows = list(dict.fromkeys(label.window for label in labels))
    if not windows:
        return ()
    branches = tuple(Branch(i, window, asked=True) for i, window in enumerate(windows))
    return (Base(0, shared_pairs(windows), branches),)


def _floor(pieces: Sequence[pa.Table], spec: Spec) -> list[pa.Table]:
    """Pieces at the stream's grain, put into the slices of the moment."""
    if not spec.bases:
        return []
    slices, found = spec.bases[0].slices, []
    for table in pieces:
        place = table.schema.get_field_index(START)
        start = pa.array(starts(slices, longs(table, START)))
        found.append(table.set_column(place, START, start))
    return found


def _log_broken(broken: Sequence[Unreadable], kept: KeptLabels) -> Iterator[Entry]:
    for order, each in enumerate(broken, kept.met):
        key, action, id = each.key, each.action, each.id
        yield Entry(key, action, id, REFUSED, order, effective=kept.newest, reason=each.reason)


def _log_commands(
    commands: Sequence[Command],
    refusals: Sequence[str | None],
    labels: Sequence[Label],
    first: int,
    newest: int | None,
) -> Iterator[Entry]:
    since = {label.order: label.since for label in labels}
    both = zip(commands, refusals, strict=True)
    for order, (command, reason) in enumerate(both, first):
        done = SUSPENDED if command.window is None else RUNNING
        yield Entry(
            command.key,
            command.action,
            command.id,
            REFUSED if reason else done,
            order,
            None if command.window is None else window_text(command.window),
            command.aggregates,
            effective=newest,
            complete_from=None if reason else since.get(order),
            reason=reason,
        )


def _label(
    results: Iterator[pa.Table], spec: Spec, labels: Sequence[Label], terms: Terms
) -> Iterator[pa.Table]:
    """Results under each label of their window: window_id and end instead of a node's number.

    `asked` has a letter for each aggregate of the stream, "1" where the label asks for it; it is
    null where all are asked for.
    """
    windows = {number: w for base in spec.bases for number, w in base.windows.items()}
    for table in results:
        window = windows[table.column("node")[0].as_py()]
        start = longs(table, START)
        for label in labels:
            if label.window == window:
                inside = _inside(label, start)
                if inside.any():
                    yield _rename(table.filter(pa.array(inside)), label, terms)


def _inside(label: Label, start: Array) -> Array:
    inside = np.ones(len(start), dtype=np.bool_)
    if label.since is not None:
        inside &= start >= label.since
    if label.until is not None:
        inside &= start + label.window.range <= label.until
    return inside


def _rename(table: pa.Table, label: Label, terms: Terms) -> pa.Table:
    rows, place = table.num_rows, table.schema.get_field_index(START)
    names = label.aggregates
    flags = None if names is None else "".join("01"[n in names] for n in terms.aggregates)
    end = pa.array(longs(table, START) + label.window.range)
    table = table.add_column(place + 1, "end", end)
    table = table.add_column(place + 2, "asked", pa.repeat(pa.scalar(flags, pa.string()), rows))
    id = pa.repeat(pa.scalar(label.id, pa.string()), rows)
    return table.set_column(table.schema.get_field_index("node"), "window_id", id)

"""A bucket whose windows come and go: commands first, then the rows of a batch.

Beside the pieces a bucket keeps its labels (`state.control`), the stream's newest event time E, and
the watermark of the step before. These are the same in every bucket of a stream, since every bucket
hears of all commands and of the newest row of every partition; and only they decide:

    commands   are obeyed in the order of their keys, at event time E
    slices     are the shared pairs of all windows of the moment: pieces come at the stream's grain
               and are put into them here, so that new edges refine the slices from now on
    register   where kept slices are cut at the window's edges, its first instance is the oldest
               that they make complete; else the first that begins after E (streams.change)
    suspend    instances that end by E are emitted when the watermark passes, the others never
    leave      a window is forgotten when its last instance fired, with the slices only it needed

A window registered under the id of one that was suspended begins with the instance that ends after
the last of the other: no instance is emitted twice under one id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from muntin.kernels.tree import Branch
from muntin.model.windows import Window
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import shared_pairs
from muntin.state.bucket import Bucket, Step
from muntin.state.control import (
    Command,
    Decided,
    Entry,
    Label,
    Terms,
    Unreadable,
    decide,
    read_command,
)
from muntin.state.control.entry import REFUSED, RUNNING, SUSPENDED
from muntin.state.control.parsing import stripped
from muntin.state.labels import KeptLabels, labelled
from muntin.state.pieces import START, longs, starts
from muntin.state.spec import Spec, first_open
from muntin.state.state import Cache, Seen
from muntin.state.store import Store


@dataclass(frozen=True, slots=True)
class Controlled:
    """A stream with a control: what it asks of a bucket but for windows, and those of its start."""

    spec: Spec
    windows: tuple[Window, ...]
    terms: Terms


@dataclass(frozen=True, slots=True)
class Batch:
    """What a bucket hears of a micro-batch: its pieces, all commands, the newest row of all."""

    watermark: int
    pieces: Sequence[pa.Table] = ()
    commands: Sequence[bytes | str] = ()
    newest: int | None = None


@dataclass(slots=True)
class ControlledStep:
    """What one step did: results under their labels, the windows now, what became of commands."""

    step: Step
    results: Iterator[pa.Table]
    labels: tuple[Label, ...]
    entries: tuple[Entry, ...]


class ControlledBucket:
    """A bucket on its state in a store, for the length of one step."""

    def __init__(
        self, stream: Controlled, bucket: int, store: Store, cache: Cache | None = None
    ) -> None:
        self.stream, self.bucket, self.store, self.cache = stream, bucket, store, cache
        self.kept = KeptLabels.read(store, stream.windows, stream.terms)

    def step(self, batch: Batch) -> ControlledStep:
        """Obey the commands of a batch, take in its rows, and emit what its watermark allows."""
        kept = self.kept
        present = [label for label in kept.labels if not label.done(kept.last)]
        commands, broken = _read(batch.commands)
        first = kept.met + len(broken)
        decided = decide(present, commands, self.stream.terms, kept.newest, first)
        spec = replace(self.stream.spec, bases=_bases(decided.labels))
        bucket = Bucket(spec, self.bucket, self.store, self.cache, Seen(kept.newest))
        labels = self._settled(decided.labels, first, bucket)
        entries = [_refused(kept.met + i, each, kept.newest) for i, each in enumerate(broken)]
        entries += _entries(first, commands, decided, labels, kept.newest)
        step = bucket.step(_floored(batch.pieces, spec), batch.watermark)
        shown = tuple(label for label in labels if not label.done(kept.last))
        newest = [n for n in (kept.newest, batch.newest) if n is not None]
        now = replace(
            kept,
            labels=shown,
            newest=max(newest, default=None),
            last=bucket.state.header.last,
            met=kept.met + len(entries),
        )
        now.write(self.store, unless=kept)
        results = labelled(step.results, spec, shown, self.stream.terms)
        return ControlledStep(step, results, shown, tuple(entries))

    def _settled(self, labels: Sequence[Label], first: int, bucket: Bucket) -> tuple[Label, ...]:
        """The labels, new ones (by the command `first` or later) with their first instance."""
        if self.kept.newest is None:
            return tuple(labels)
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
        return tuple(found)


def _read(given: Sequence[bytes | str]) -> tuple[list[Command], list[Unreadable]]:
    """The commands in the order of their keys, and what is none."""
    read = [read_command(each) for each in sorted(set(map(stripped, given)))]
    commands = [each for each in read if isinstance(each, Command)]
    broken = [each for each in read if isinstance(each, Unreadable)]
    return sorted(commands, key=lambda each: each.key), sorted(broken, key=lambda each: each.key)


def _bases(labels: Sequence[Label]) -> tuple[Base, ...]:
    """One set of slices for all windows of the moment, each of them once."""
    windows = list(dict.fromkeys(label.window for label in labels))
    if not windows:
        return ()
    branches = tuple(Branch(i, window, asked=True) for i, window in enumerate(windows))
    return (Base(0, shared_pairs(windows), branches),)


def _floored(pieces: Sequence[pa.Table], spec: Spec) -> list[pa.Table]:
    """Pieces at the stream's grain, put into the slices of the moment."""
    if not spec.bases:
        return []
    slices, found = spec.bases[0].slices, []
    for table in pieces:
        place = table.schema.get_field_index(START)
        start = pa.array(starts(slices, longs(table, START)))
        found.append(table.set_column(place, START, start))
    return found


def _refused(order: int, given: Unreadable, newest: int | None) -> Entry:
    key, action, id = given.key, given.action, given.id
    return Entry(key, action, id, REFUSED, order, effective=newest, reason=given.reason)


def _entries(
    first: int,
    commands: Sequence[Command],
    decided: Decided,
    labels: Sequence[Label],
    newest: int | None,
) -> list[Entry]:
    since = {label.order: label.since for label in labels}
    found = []
    both = zip(commands, decided.refusals, strict=True)
    for order, (command, reason) in enumerate(both, first):
        done = RUNNING if command.window is not None else SUSPENDED
        found.append(
            Entry(
                command.key,
                command.action,
                command.id,
                REFUSED if reason else done,
                order,
                None if command.window is None else Label("", command.window).text,
                command.aggregates,
                effective=newest,
                complete_from=None if reason else since.get(order),
                reason=reason,
            )
        )
    return found

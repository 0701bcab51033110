"""A bucket whose windows come and go: commands first, then the rows of a batch.

Beside the pieces a bucket keeps its labels (`state.control`), the stream's newest event time E, and
the watermark of the step before. These are the same in every bucket of a stream, since every bucket
hears of all commands and of the newest row of every partition; and only they decide:

    commands   are obeyed in the order of their keys, at event time E
    slices     are the shared pairs of all windows of the moment: pieces come at the stream's grain
               and are put into them here, so that new edges refine the slices from now on
    register   an instance that has not fired is emitted if the kept slices make it whole: they
               are cut where it begins and ends (state.early); all that begin after E are
    suspend    instances that end by E are emitted when the watermark passes, the others never
    leave      a window is forgotten when its last instance fired, with the slices only it needed

A window registered under the id of one that was suspended begins with the instance that ends after
the last of the other: no instance is emitted twice under one id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from muntin.kernels.monoids import Array
from muntin.kernels.tree import Branch
from muntin.model.window_text import text_of
from muntin.model.windows import Window, first_open
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import shared_pairs
from muntin.state.bucket import Bucket, Step
from muntin.state.control import Entry, Label, Terms
from muntin.state.kept_labels import KeptLabels, Obeyed, Start
from muntin.state.pieces import START, longs, starts
from muntin.state.spec import Spec
from muntin.state.state import Cache, Seen
from muntin.state.store import Store


@dataclass(frozen=True, slots=True)
class Controlled:
    """A stream with a control: what it asks of a bucket but for windows, and those of its start."""

    spec: Spec
    windows: tuple[Window, ...]
    terms: Terms

    @property
    def start(self) -> Start:
        """What it was started with."""
        words = tuple(f"{w.id} = {text_of(w)}" for w in self.windows)
        return Start(words, tuple(Label(w.id, w) for w in self.windows), self.terms)


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
        self.kept = KeptLabels.read(store, stream.start)

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
        obeyed = kept.obey(commands, terms)
        spec = replace(self.stream.spec, bases=_bases(obeyed.labels))
        bucket = Bucket(spec, self.bucket, self.store, self.cache, Seen(kept.newest))
        labels, complete = self._settle(obeyed, bucket)
        entries = obeyed.log(labels, complete)
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
        return ControlledStep(step, _label(step.results, spec, shown, terms), shown, entries)

    def _settle(self, obeyed: Obeyed, bucket: Bucket) -> tuple[list[Label], dict[int, int]]:
        """The labels, new ones with their first instance.

        And by the order of its command, from when on each of these is complete.
        """
        found, complete = list[Label](), dict[int, int]()
        for label in obeyed.labels:
            since = label.since
            if self.kept.newest is not None and obeyed.is_new(label):
                [base] = bucket.state.header.bases
                last = max(self.kept.last, obeyed.ended(label, found), 0)
                kept, since = base.kept(label.periodic), first_open(label.periodic, last)
                early = None
                if kept.since is not None and since < kept.since:
                    early, since = kept.early.first_from(since), kept.since
                assert label.order is not None, "a command registered it"
                complete[label.order] = since
                since = since if early is None else early
            found.append(replace(label, since=since))
        return found, complete


def _bases(labels: Sequence[Label]) -> tuple[Base, ...]:
    """One set of slices for all windows of the moment, each of them once."""
    windows = list(dict.fromkeys(label.periodic for label in labels))
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
        inside &= start + label.periodic.range <= label.until
    return inside


def _rename(table: pa.Table, label: Label, terms: Terms) -> pa.Table:
    rows, place = table.num_rows, table.schema.get_field_index(START)
    names = label.aggregates
    flags = None if names is None else "".join("01"[n in names] for n in terms.aggregates)
    end = pa.array(longs(table, START) + label.periodic.range)
    table = table.add_column(place + 1, "end", end)
    table = table.add_column(place + 2, "asked", pa.repeat(pa.scalar(flags, pa.string()), rows))
    id = pa.repeat(pa.scalar(label.id, pa.string()), rows)
    return table.set_column(table.schema.get_field_index("node"), "window_id", id)

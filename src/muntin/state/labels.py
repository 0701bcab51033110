"""Labels in the state of a bucket, and results given out under them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.errors import StateError
from muntin.kernels.monoids import Array
from muntin.model.durations import duration_text
from muntin.model.windows import Window
from muntin.state.control import Label, Terms
from muntin.state.pieces import START, longs
from muntin.state.spec import Spec
from muntin.state.store import Store

ENTRY = "control"
FORMAT = 1


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
    def read(store: Store, windows: Sequence[Window], terms: Terms) -> KeptLabels:
        """What a store holds, if the stream may go on from it; else the windows of its start."""
        started = tuple(f"{w.id} = {Label(w.id, w).text}" for w in windows)
        entry = store.read(ENTRY)
        if entry is None:
            return KeptLabels(started, tuple(Label(w.id, w) for w in windows))
        plain = json.loads(entry)
        labels = tuple(Label.of(each) for each in plain["labels"])
        times = (plain["newest"], plain["last"], plain["met"])
        kept = KeptLabels(tuple(plain["first"]), labels, *times, stored=True)
        _check(kept, plain["format"], started, terms)
        return kept

    def write(self, store: Store, unless: KeptLabels) -> None:
        """Keep them, unless the store holds just these."""
        if self == unless and self.stored:
            return
        plain = {
            "format": FORMAT,
            "first": self.first,
            "labels": [label.plain() for label in self.labels],
            "newest": self.newest,
            "last": self.last,
            "met": self.met,
        }
        store.write(ENTRY, json.dumps(plain).encode())


def _check(kept: KeptLabels, number: int, started: tuple[str, ...], terms: Terms) -> None:
    if number != FORMAT:
        raise StateError(
            f"the labels in the state of this stream have format {number}, and this version of "
            f"Muntin knows only {FORMAT}: go on with the version that wrote it"
        )
    if kept.first != started:
        raise StateError(
            f"this stream was started with the windows {'; '.join(kept.first)}, and the query asks "
            f"for {'; '.join(started)}: with a control, windows change by commands; give the first "
            "ones again, and register or suspend the others"
        )
    for label in kept.labels:
        lengths = (label.window.range, label.window.slide, label.window.offset)
        if any(length % terms.grain for length in lengths):
            raise StateError(
                f"the window {label.id!r} of this stream ({label.text}) does not fit the grain "
                f"{duration_text(terms.grain)}: give the grain that it was started with"
            )


def labelled(
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
                    yield _under(table.filter(pa.array(inside)), label, terms)


def _inside(label: Label, start: Array) -> Array:
    inside = np.ones(len(start), dtype=np.bool_)
    if label.since is not None:
        inside &= start >= label.since
    if label.until is not None:
        inside &= start + label.window.range <= label.until
    return inside


def _under(table: pa.Table, label: Label, terms: Terms) -> pa.Table:
    rows, place = table.num_rows, table.schema.get_field_index(START)
    names = label.aggregates
    flags = None if names is None else "".join("01"[n in names] for n in terms.aggregates)
    end = pa.array(longs(table, START) + label.window.range)
    table = table.add_column(place + 1, "end", end)
    table = table.add_column(place + 2, "asked", pa.repeat(pa.scalar(flags, pa.string()), rows))
    id = pa.repeat(pa.scalar(label.id, pa.string()), rows)
    return table.set_column(table.schema.get_field_index("node"), "window_id", id)

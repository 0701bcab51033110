"""Windows that the data decides, and that come and go while the stream runs.

When the watermark stands at W, the records before W have been taken and those from W on wait, so a
window that is registered sees every record from W on, though the newest is later:

    equal to one that runs    all that this one has is copied: it answers at once
    session                   a session is emitted if it begins at W + gap or later: before, it may
                              have begun with records that were taken
    count                     records are counted from W on
    periodic                  every instance that begins at W or later
    snapshot, punctuation,    as on a stream that begins at W
    landmark, threshold,
    a user's function

A window under the id of one that was suspended gives out what ends after the last of the other.
A session with a maximum length and a window of a measure depend on records before W in ways that
later ones do not tell, so `Terms` refuses them. A suspended window gives out what ends by E, the
newest event time when the stream met the command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from muntin.data_windows.controlled_records import ControlledRecordBucket, flags_of
from muntin.data_windows.stream_bucket import StreamBucket
from muntin.data_windows.stream_state import StreamSpec
from muntin.kernels.monoids import Array
from muntin.model.data_windows import DataWindow, Session
from muntin.model.windows import Window
from muntin.state.bucket import Step
from muntin.state.control import Label, Terms
from muntin.state.kept_labels import Obeyed
from muntin.state.pieces import longs


class ControlledStream(ControlledRecordBucket[StreamSpec]):
    """A bucket on its state in a store, for the length of one step."""

    def _open(self, labels: Sequence[Label], obeyed: Obeyed | None = None) -> StreamBucket:
        nodes = {self._node(label): label for label in labels}
        spec = replace(self.stream.spec, windows={n: _window(each) for n, each in nodes.items()})
        bucket = LabelledStream(spec, self.bucket, self.store, self.cache)
        bucket.nodes, bucket.terms = nodes, self.stream.start.terms
        before = {self._node(label) for label in self.kept.labels}
        if obeyed is not None and (obeyed.commands or before - set(nodes)):
            new = {n: self._equal(each) for n, each in nodes.items() if n not in before}
            bucket.change(new)
        return bucket

    def _since(self, label: Label, ended: int) -> int | None:
        window, now = _window(label), self.kept.last
        equal = self._equal(label)
        if equal is not None:
            return next(each.since for each in self.kept.labels if self._node(each) == equal)
        match window:
            case Session():
                return now + window.gap
            case Window():
                return now + (window.offset - now) % window.slide
        return now

    def _node(self, label: Label) -> int:
        """A number that no other window of the stream ever has."""
        start = self.stream.start.labels
        if label.order is not None:
            return len(start) + label.order
        return next(i for i, each in enumerate(start) if each.id == label.id)

    def _equal(self, label: Label) -> int | None:
        """The node of an equal window that runs, the oldest of them."""
        if self.kept.newest is None:
            return None
        same = [each for each in self.kept.labels if each.running and each.window == label.window]
        return self._node(same[0]) if same else None


class LabelledStream(StreamBucket):
    """A bucket whose rows come under the label of their window."""

    nodes: dict[int, Label]
    terms: Terms

    def step(self, tables: Sequence[pa.Table], watermark: int) -> Step:
        done = super().step(tables, watermark)
        done.results = self._under_labels(done.results)
        return done

    def _under_labels(self, results: Iterator[pa.Table]) -> Iterator[pa.Table]:
        for table in results:
            label = self.nodes[table.column("node")[0].as_py()]
            inside = _inside(label, table, self._ended(label))
            if inside.any():
                own = table.filter(pa.array(inside))
                place, rows = own.schema.get_field_index("node"), own.num_rows
                flags = pa.scalar(flags_of(label, self.terms), pa.string())
                own = own.add_column(place + 3, "asked", pa.repeat(flags, rows))
                id = pa.repeat(pa.scalar(label.id, pa.string()), rows)
                yield own.set_column(place, "window_id", id)

    def _ended(self, label: Label) -> int:
        """By when the windows that had its id before give their last row, if they still do."""
        before = list(self.nodes.values())
        before = before[: before.index(label)]
        return max((each.until or 0 for each in before if each.id == label.id), default=0)


def _inside(label: Label, table: pa.Table, ended: int) -> Array:
    """Which windows are whole: of those of functions, time does not tell."""
    start, end = longs(table, "start"), longs(table, "end")
    inside = end > ended
    if label.since is not None and isinstance(label.window, Window | Session):
        inside &= start >= label.since
    if label.until is not None:
        inside &= end <= label.until
    return inside


def _window(label: Label) -> Window | DataWindow:
    assert isinstance(label.window, Window | DataWindow), "its terms take no others"
    return label.window

"""Trailing windows that come and go: each row comes out once for every window of the moment.

A stream that keeps events as far back as R, the reach of its longest window, holds all events after
W - R when the watermark stands at W. So a window of reach r that is registered then answers

    r ≤ R    every row from then on
    r > R    every row from W - R + r on: nothing of its frame is missing there

and no row before that. What is kept then grows to the new reach; with the last window that needs
them events leave. Windows by rows, and lifetimes, take events however old: they cannot join later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from muntin.data_windows.controlled_records import ControlledRecordBucket, flags_of
from muntin.data_windows.record_buffer import TIME
from muntin.data_windows.trailing_bucket import ROW, TrailingBucket, TrailingSpec
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole
from muntin.model.frames import Trailing
from muntin.state.control import Label, Terms
from muntin.state.kept_labels import Obeyed
from muntin.state.pieces import longs

NOTHING = Trailing(1, None, 0, "nothing")
"""Stands for the windows of a stream that has none at the moment: almost nothing is kept for it."""


class ControlledTrailing(ControlledRecordBucket[TrailingSpec]):
    """A bucket on its state in a store, for the length of one step."""

    def _open(self, labels: Sequence[Label], obeyed: Obeyed | None = None) -> LabelledTrailing:
        frames = tuple(dict.fromkeys(map(_frame, labels))) or (NOTHING,)
        program = replace(self.stream.spec.program, frames=frames)
        spec = replace(self.stream.spec, program=program)
        bucket = LabelledTrailing(spec, self.bucket, self.store, self.cache)
        bucket.labels, bucket.terms = labels, self.stream.start.terms
        return bucket

    def _since(self, label: Label, ended: int) -> int:
        reach, first = _frame(label).reach, max(self.kept.last, ended) + 1
        assert reach is not None, "others are refused"
        whole_from = self.kept.whole_from
        return first if whole_from is None else max(first, whole_from + reach)

    def _reach_after(self, labels: Sequence[Label], last: int) -> int | None:
        reaches = [_frame(label).reach for label in labels]
        held = last + 1 - max((reach for reach in reaches if reach is not None), default=0)
        before = self.kept.whole_from
        return held if before is None else max(before, held)


class LabelledTrailing(TrailingBucket):
    """A bucket whose rows come under the label of each window that answers them."""

    labels: Sequence[Label] = ()
    terms: Terms

    def _features(self, rows: pa.Table, found: dict[str, pa.Array]) -> list[pa.Table]:
        return list(self._of_labels(rows, found))

    def _of_labels(self, rows: pa.Table, found: dict[str, pa.Array]) -> Iterator[pa.Table]:
        kinds = {field.name: field.type for field in rows.schema}
        frames = self.spec.program.frames
        for label in self.labels:
            answered = _answered(label, rows)
            if not answered.any():
                continue
            program = replace(self.spec.program, frames=(_frame(label),))
            own = _own(found, frames.index(_frame(label)))
            batch = program.features(whole(rows, ROW), own, kinds)
            table = pa.Table.from_batches([batch]).filter(pa.array(answered))
            flags = pa.scalar(flags_of(label, self.terms), pa.string())
            table = table.append_column("asked", pa.repeat(flags, table.num_rows))
            id = pa.repeat(pa.scalar(label.id, pa.string()), table.num_rows)
            yield table.append_column("window_id", id)


def _answered(label: Label, rows: pa.Table) -> Array:
    """Which rows a window answers; those without a time have no features while it runs."""
    if rows.column(TIME).null_count:
        return np.full(rows.num_rows, label.running)
    time = longs(rows, TIME)
    answered = np.ones(len(time), dtype=np.bool_)
    if label.since is not None:
        answered &= time >= label.since
    if label.until is not None:
        answered &= time <= label.until
    return answered


def _own(found: Mapping[str, pa.Array], place: int) -> dict[str, pa.Array]:
    """What was found for one frame, under the names of a program that has no other."""
    mark = f"f{place}_"
    return {f"f0_{n.removeprefix(mark)}": a for n, a in found.items() if n.startswith(mark)}


def _frame(label: Label) -> Trailing:
    assert isinstance(label.window, Trailing), "its terms take no others"
    return label.window

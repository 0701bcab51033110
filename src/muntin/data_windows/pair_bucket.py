"""One bucket of keys on a stream-stream join whose windows come and go.

A record is a row of the left or of the right side. A pair is held by a window at every end T with

    max(tₗ, tᵣ) < T ≤ min(tₗ, tᵣ) + range

(`muntin.nesting.joint`), and comes out when the watermark W has passed T: as an aggregate of the
instance would. In batch N, as in Spark's own join,

    late     a record with t ≤ W_{N-1} is dropped
    kept     records are kept one by one, in blocks of time, as long as an instance may hold them
    emitted  for each window, the pairs of the instances that end in (W_{N-1}, W_N]

time   of a step: the records of the instances that are due, and their pairs, each once an instance
space  the records since the begin of the oldest instance that is open
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.data_windows.record_bucket import RecordBucket
from muntin.data_windows.record_buffer import TIME, sort_records
from muntin.data_windows.stream_state import Words
from muntin.kernels.monoids import Array
from muntin.model.windows import Window
from muntin.state.bucket import Step
from muntin.state.control import Label
from muntin.state.pieces import GROUP, longs

LEFT, RIGHT = "left", "right"
"""The row of a side, null in records of the other."""

PORTION = 200_000
"""Rows of pairs and instances that are made at a time."""


@dataclass(frozen=True, slots=True)
class PairSpec:
    """What is asked of a bucket besides its windows, and the rules that its stream runs by.

    `block` is how long a stretch of kept records is. `asked` says in the user's words what was
    asked: a state of other words is refused. `late_now` judges lateness by the watermark of the
    present batch, else by the one before.
    """

    keys: tuple[str, ...]
    block: int = 1_000_000
    buckets: int = 1
    asked: tuple[tuple[str, tuple[str, ...]], ...] = ()
    late_now: bool = False
    until: int | None = None
    format: ClassVar[str] = "pairs 1"
    what: ClassVar[str] = "a join"

    def words(self) -> Words:
        """What was asked."""
        return {what: list(texts) for what, texts in self.asked}


class PairBucket(RecordBucket[PairSpec]):
    """A bucket on its state in a store, for the length of one step.

    >>> from muntin.state.store import MemoryStore
    >>> bucket = PairBucket(PairSpec(("k0",)), 0, MemoryStore())
    >>> bucket.labels = [Label("tens", Window(10, 10))]
    >>> sides = {"left": ["a", None, "b"], "right": [None, "x", None]}
    >>> records = pa.table({"k0": ["u"] * 3, "t": [3, 7, 12], **sides})
    >>> [pairs] = bucket.step([records], watermark=15).results
    >>> pairs.select(["window_id", "start", "left", "right"]).to_pylist()
    [{'window_id': 'tens', 'start': 0, 'left': 'a', 'right': 'x'}]
    """

    labels: Sequence[Label] = ()
    needed_from: int | None = None
    """Records before this instant may leave after the step; None keeps all."""

    def begin(self, tables: Sequence[pa.Table]) -> None:
        """A join starts from no history."""
        raise AssertionError("mt.join takes no history")

    def step(self, tables: Sequence[pa.Table], watermark: int) -> Step:
        """Take in the records of a batch, and emit the pairs that its watermark allows."""
        done, before = Step(iter(())), self.header.last
        now = max(watermark, before)
        arrived = self._admit(tables, (now if self.spec.late_now else before) + 1, done)
        if arrived is not None:
            self._waiting.add(arrived)
        due = [each for label in self.labels for each in self._due(label, before, now)]
        if due:  # then there were records, and their keys; some may leave before results are read
            keys = self._table("keys")
            done.results = (pairs for each in due for pairs in each.pairs(keys, self.spec.keys))
        left = self.needed_from is not None and self._waiting.drop(self.needed_from)
        if left:
            self._leave_keys(np.zeros(self._table("keys").num_rows, dtype=np.int64))
        self._close(now, left or bool(tables))
        return done

    def _due(self, label: Label, before: int, now: int) -> Iterator[_Due]:
        """The records of a window in its instances that end in (before, now]."""
        window, until = label.periodic, now if label.until is None else min(label.until, now)
        if label.since is not None:
            before = max(before, label.since + window.range - 1)
        first, last = _end_from(window, before + 1), _end_from(window, until + 1) - window.slide
        if first > last:
            return
        tables = self._waiting.between(first - window.range, last)
        if tables:
            yield _Due(label, pa.concat_tables(tables).combine_chunks(), first, last)


@dataclass(frozen=True, slots=True)
class _Due:
    """A window that is due at some ends, and the records that these instances hold."""

    label: Label
    records: pa.Table
    first: int
    last: int

    def pairs(self, keys: pa.Table, names: tuple[str, ...]) -> Iterator[pa.Table]:
        """A row for each pair and instance, some at a time."""
        window, left, right = self.label.periodic, *self._sides()
        ends = min(window.range, self.last - self.first) // window.slide + 1
        for one, other in _near(left, right, window.range, max(PORTION // ends, 1)):
            one, other, end = _ends(left, right, one, other, window, (self.first, self.last))
            if len(end):
                mine, theirs = left.take(pa.array(one)), right.column(RIGHT).take(pa.array(other))
                found = {
                    "window_id": pa.repeat(pa.scalar(self.label.id, pa.string()), len(end)),
                    "start": pa.array(end - window.range),
                    "end": pa.array(end),
                }
                found |= {name: keys.column(name).take(mine.column(GROUP)) for name in names}
                yield pa.table(found | {LEFT: mine.column(LEFT), RIGHT: theirs})

    def _sides(self) -> tuple[pa.Table, pa.Table]:
        return _side(self.records, LEFT), _side(self.records, RIGHT)


def _side(records: pa.Table, side: str) -> pa.Table:
    """The records of a side, by key and time."""
    return sort_records(records.filter(pc.is_valid(records.column(side))), ())


def _end_from(window: Window, instant: int) -> int:
    """The first end at an instant or later."""
    return instant + (window.offset + window.range - instant) % window.slide


def _near(
    left: pa.Table, right: pa.Table, reach: int, portion: int
) -> Iterator[tuple[Array, Array]]:
    """Places of left and right rows of one key that are less than `reach` apart, some at a time."""
    group, time = longs(left, GROUP).astype(np.int64), longs(left, TIME)
    others, times = longs(right, GROUP).astype(np.int64), longs(right, TIME)
    if not len(group) or not len(others):
        return
    # one line of keys and of the ranks of times: long times of many keys would not fit a number
    known = np.unique(times)
    step = len(known) + 1
    line = others * step + np.searchsorted(known, times)
    older = group * step + np.searchsorted(known, time - reach, "right")
    newer = group * step + np.searchsorted(known, time + reach, "left")
    low = np.searchsorted(line, older, "left")
    size = np.searchsorted(line, newer, "left") - low
    bounds = np.cumsum(size)
    begin = 0
    while begin < len(size):
        done = bounds[begin - 1] if begin else 0
        stop = max(int(np.searchsorted(bounds, done + portion, "right")), begin + 1)
        count = size[begin:stop]
        one = np.repeat(np.arange(begin, stop), count)
        place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        yield one, np.repeat(low[begin:stop], count) + place
        begin = stop


def _ends(
    left: pa.Table,
    right: pa.Table,
    one: Array,
    other: Array,
    window: Window,
    due: tuple[int, int],
) -> tuple[Array, Array, Array]:
    """The pairs once for each end that is due and at which both rows are held, and the ends."""
    mine, theirs = longs(left, TIME)[one], longs(right, TIME)[other]
    phase = window.offset + window.range
    first = np.maximum(mine, theirs) + 1
    first = np.maximum(first + (phase - first) % window.slide, due[0])
    last = np.minimum(np.minimum(mine, theirs) + window.range, due[1])
    count = np.maximum((last - first) // window.slide + 1, 0)
    place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    end = np.repeat(first, count) + place * window.slide
    return np.repeat(one, count), np.repeat(other, count), end

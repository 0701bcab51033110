"""Users' functions over a batch: one function a key, asked for the batch or record by record.

A function that takes batches gives two arrays a key, ends and begins; the k-th end closes the k-th
begin (first in, first out), so that runs of records follow without a loop.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from muntin.data_windows import UserWindow
from muntin.errors import UserWindowError
from muntin.kernels.monoids import Array
from muntin.userwindows.bulk import Batch, Runs
from muntin.userwindows.discretizer import Discretizer, Named
from muntin.userwindows.protocol import Policy, WindowFunction
from muntin.userwindows.ready import function_of
from muntin.userwindows.records import RecordWindows, record_limit


def asked(window: UserWindow, batch: Batch) -> Runs:
    """The windows of a user's function, key by key."""
    bounds = np.append(batch.firsts, batch.size).tolist()
    columns = {name: batch.column(name) for name in window.columns}
    found: list[tuple[int, int, int, int]] = []
    arrays: list[Runs] = []
    for low, high in pairwise(bounds):
        function = function_of(window)
        times = batch.time[low:high]
        own = {name: column.slice(low, high - low) for name, column in columns.items()}
        if isinstance(function, Policy):
            found += _triggered(window, function, times, own, low)
            continue
        runs = _at_once(window, function, times, own, low)
        if runs is None:
            found += _one_by_one(window, function, times, own, low)
        else:
            arrays.append(runs)
    table = np.asarray(found, dtype=np.int64).reshape(-1, 4)
    arrays.append(Runs(*(table[:, i] for i in range(4))))
    return Runs(*(np.concatenate([getattr(r, f) for r in arrays]) for f in Runs.__slots__))


def _rows(times: Array, columns: dict[str, pa.Array]) -> list[tuple[int, dict[str, object]]]:
    values = [column.to_pylist() for column in columns.values()]
    each = zip(*values, strict=True) if values else ((),) * len(times)
    return [
        (time, dict(zip(columns, row, strict=True)))
        for time, row in zip(times.tolist(), each, strict=True)
    ]


def _one_by_one(
    window: UserWindow,
    function: WindowFunction,
    times: Array,
    columns: dict[str, pa.Array],
    low: int,
) -> list[tuple[int, int, int, int]]:
    named = Named(function, window.id, window.limit, window.incomplete)
    discretizer = Discretizer([named])
    begins: dict[int, int] = {}
    found = []
    for i, (time, record) in enumerate(_rows(times, columns), low):
        ended, begun = discretizer.record(time, record)
        found += [(begins.pop(e.number), i, e.start, e.end) for e in ended]
        begins.update((b.number, i) for b in begun)
    stop = low + len(times)
    found += [(begins.pop(e.number), stop, e.start, e.end) for e in discretizer.finish()]
    return found


class _Nothing:
    """A monoid of nothing: a policy is asked for its windows only."""

    identity = None
    invertible = selective = commutative = True

    def lift(self, value: object) -> None:
        return None

    def combine(self, older: object, newer: object) -> None:
        return None

    def lower(self, partial: object) -> None:
        return None

    def invert(self, whole: object, older: object) -> None:
        return None


def _triggered(
    window: UserWindow, policy: Policy, times: Array, columns: dict[str, pa.Array], low: int
) -> list[tuple[int, int, int, int]]:
    records = RecordWindows(_Nothing(), [policy], "lazy", [window.id], record_limit([window]))
    found = []
    for time, record in _rows(times, columns):
        for e in records.record(time, None, record):
            found.append((low + e.first, low + e.stop, e.start, e.end))
    return found


def _at_once(
    window: UserWindow,
    function: WindowFunction,
    times: Array,
    columns: dict[str, pa.Array],
    low: int,
) -> Runs | None:
    if type(function).marks is WindowFunction.marks:
        return None
    values = {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}
    try:
        said = function.marks(times, values)
    except Exception as error:
        raise UserWindowError(
            f"window function {window.id!r} raised {error!r} for the {len(times)} records from "
            f"time {int(times[0])} to {int(times[-1])}"
        ) from error
    if said is None:
        return None
    ends, begins = (np.asarray(part) for part in said)
    if ends.shape != times.shape or begins.shape != times.shape:
        raise UserWindowError(
            f"window function {window.id!r} gave {ends.shape} ends and {begins.shape} begins for "
            f"{len(times)} records: give one number each"
        )
    return _matched(window, function, times, ends.astype(np.int64), begins.astype(np.int64), low)


def _matched(
    window: UserWindow,
    function: WindowFunction,
    times: Array,
    ends: Array,
    begins: Array,
    low: int,
) -> Runs:
    before = np.cumsum(begins) - begins
    open_after = np.cumsum(begins) - np.cumsum(ends)
    wrong = np.flatnonzero((np.cumsum(ends) > before) | (ends < 0) | (begins < 0))
    if len(wrong):
        at = int(wrong[0])
        raise UserWindowError(
            f"window function {window.id!r} ends {int(ends[at])} windows at time "
            f"{int(times[at])}, of which too few are open: an end needs a begin before it"
        )
    if int(open_after.max(initial=0)) > window.limit:
        at = int(np.argmax(open_after > window.limit))
        raise UserWindowError(
            f"window function {window.id!r} has {int(open_after[at])} open windows at time "
            f"{int(times[at])}, above its limit of {window.limit}: end them, or raise the limit "
            "with mt.user_window(..., limit=...)"
        )
    index = np.arange(len(times))
    first, stop = np.repeat(index, begins), np.repeat(index, ends)
    rest = len(first) - len(stop) if window.incomplete else 0
    stop = np.concatenate((stop, np.full(rest, len(times), dtype=stop.dtype)))
    first = first[: len(stop)]
    if type(function).bounds is WindowFunction.bounds:
        return Runs(first + low, stop + low, times[first], times[stop - 1] + 1)
    spans = zip(times[first].tolist(), times[stop - 1].tolist(), strict=True)
    pairs = np.asarray([function.bounds(*span) for span in spans], dtype=np.int64).reshape(-1, 2)
    return Runs(first + low, stop + low, pairs[:, 0], pairs[:, 1])

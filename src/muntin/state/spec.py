"""What a query asks of a bucket: its windows, made of which pieces, and how these merge.

A piece is the partial of one key in one slice. Its life follows from the windows alone: it counts
in the instances that contain it, so it is needed until the newest of them has fired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from muntin.aggregates.columns import PartialColumn
from muntin.kernels.monoids import Array
from muntin.kernels.tree import Read
from muntin.model.windows import Window
from muntin.physical.operators.kernel import Base


@dataclass(frozen=True, slots=True)
class Spec:
    """The windows and columns of a query, and the rules that its stream runs by.

    `keys` are the key columns of the pieces. `named` and `described` say in the user's words what
    the keys and the partial columns are, so that a state can be refused that holds others. With
    `update`, changed windows are emitted as they change instead of once when they are complete.
    `late_now` judges lateness by the watermark of the present batch, as Spark does with
    `spark.sql.streaming.statefulOperator.allowMultiple=false`; else by that of the one before.
    A stream that starts from history begins at the instant `until`: what ended by then never fires.
    `technique` answers windows that are due (`state.cores`); a state that was begun with another
    one keeps that, unless this one was `asked` for by name. With `lateness` (microseconds) fired
    windows are kept that long, and emitted again when late pieces change them. With `fill_for`
    (microseconds) keys without rows get empty windows that long. With `keeps_late` what is too late
    comes out beside the results, with `keeps_records` also the rows that it was made of. `read` is
    told what every result was made of, `taken` how many partials are taken up to emit what is due
    and to combine blocks.
    """

    bases: tuple[Base, ...]
    keys: tuple[str, ...]
    partials: tuple[PartialColumn, ...]
    buckets: int = 1
    named: tuple[str, ...] = ()
    described: tuple[str, ...] = ()
    update: bool = False
    late_now: bool = False
    wraps: bool = False
    technique: str = "b-int"
    asked: bool = False
    lateness: int | None = None
    fill_for: int | None = None
    keeps_late: bool = False
    keeps_records: bool = False
    until: int | None = None
    read: Read | None = None
    taken: Callable[[int], None] | None = None

    @property
    def revises(self) -> bool:
        """Whether fired windows are emitted again, with the number of their revision."""
        return self.lateness is not None and not self.update


def needed_until(windows: Iterable[Window], start: Array) -> Array:
    """The end of the newest instance that contains each of these slices.

    >>> needed_until([Window(10, 4)], np.array([3, 4, 9])).tolist()
    [10, 14, 18]
    """
    ends = [start - (start - w.offset) % w.slide + w.range for w in windows]
    return np.asarray(np.maximum.reduce(ends))


def first_end(windows: Iterable[Window], start: Array) -> Array:
    """The end of the first instance to fire of those that contain each of these slices.

    >>> first_end([Window(10, 4)], np.array([3, 4, 9])).tolist()
    [6, 6, 10]
    """
    ends = [start + 1 + (w.offset + w.range - start - 1) % w.slide for w in windows]
    return np.asarray(np.minimum.reduce(ends))


def last_due(window: Window, watermark: int) -> int:
    """The start of the newest instance that ends at or before the watermark.

    >>> last_due(Window(10, 4), 14), last_due(Window(10, 4), 13)
    (4, 0)
    """
    start = watermark - window.range
    return start - (start - window.offset) % window.slide

"""Windows whose instances end together: they share rows of a stream's state.

An engine that keeps a row of state for each instance and key evicts it by its end alone. So what
ends at one instant may stand in one row, each window in a place of its own:

    end 10:05   │ 1 minute │ 5 minutes │ 1 hour │        one row to read, write and evict, not three

A window joins the first row whose ends include all of its own: a finer slide offers its instants
to the coarser ones. Results do not depend on who sits with whom, only the number of rows does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from muntin.model.windows import Window

COLUMNS = 60
"""Partials that stand in one row of state: far more would leave Spark's generated code."""


def places(partials: int) -> int:
    """How many windows of so many partials share a row."""
    return max(COLUMNS // max(partials, 1), 1)  # median alone has none


class Seat(NamedTuple):
    """Where a window's partials stand: which kind of row, and which place in it."""

    row: int
    place: int


def seats(windows: Iterable[Window], most: int) -> dict[Window, Seat]:
    """A seat for every window, at most so many to a row; the order of the windows is of no matter.

    >>> hour, minutes = Window(60, 10), Window(5, 5)
    >>> seats([hour, minutes], most=2)[hour], seats([hour, minutes], most=1)[hour]
    (Seat(row=0, place=1), Seat(row=1, place=0))
    """
    rows: list[list[Window]] = []
    for window in sorted(set(windows), key=lambda w: (w.slide, w.range, w.offset)):
        fitting = (row for row in rows if len(row) < most and _ends_with(window, row[0]))
        row = next(fitting, None)
        if row is None:
            rows.append(row := [])
        row.append(window)
    return {w: Seat(i, j) for i, row in enumerate(rows) for j, w in enumerate(row)}


def _ends_with(window: Window, finer: Window) -> bool:
    """Whether every end of the window's instances is one of the finer's."""
    apart = (window.offset + window.range) - (finer.offset + finer.range)
    return window.slide % finer.slide == 0 and apart % finer.slide == 0

"""Trailing windows over all events at once, evaluated a portion of the rows at a time, in threads.

A portion takes the rows of a stretch and the events that any of them may reach, so that its arrays
stay in the processor's cache, and NumPy lets several threads work on several portions. Portions
grow until their events are together at most a few times all events: windows that reach far over a
dense key, or have no end, are evaluated whole.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pyarrow as pa

from muntin.kernels.frame_program import FrameProgram
from muntin.kernels.frames import Line, find_frames

PORTION = 1 << 16
"""Rows that are evaluated at a time, at least."""
MOST = 3
"""So many times all events are read at most, by all portions together."""


def evaluate_portions(
    program: FrameProgram, columns: Mapping[str, pa.Array], events: Line, rows: Line
) -> dict[str, pa.ChunkedArray]:
    """The features of these rows, as `FrameProgram.evaluate` finds them."""
    spans = _spans(program, events, rows)

    def evaluate(span: tuple[int, int, int, int]) -> dict[str, pa.Array]:
        first, stop, low, high = span
        own = {name: column.slice(low, high - low) for name, column in columns.items()}
        line = _part(events, low, high)
        same = rows is events and (first, stop) == (low, high)
        return program.evaluate(own, line, line if same else _part(rows, first, stop))

    with ThreadPoolExecutor(threads()) as pool:
        found = list(pool.map(evaluate, spans))
    return {name: pa.chunked_array([each[name] for each in found]) for name in found[0]}


def threads() -> int:
    """As many as this process has processors."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _spans(program: FrameProgram, events: Line, rows: Line) -> list[tuple[int, int, int, int]]:
    """Rows first … stop − 1 with the events low … high − 1 that they may reach."""
    size = PORTION
    while size < len(rows):
        cuts = np.append(np.arange(0, len(rows), size), len(rows))
        begins, ends = cuts[:-1], cuts[1:] - 1
        low = _reached(program, events, rows, begins)[0]
        high = _reached(program, events, rows, ends)[1]
        if int((high - low).sum()) <= MOST * len(events):
            return [
                (first, stop, int(a), int(b))
                for (first, stop), a, b in zip(pairwise(cuts.tolist()), low, high, strict=True)
            ]
        size *= 2
    return [(0, len(rows), 0, len(events))]


def _reached(
    program: FrameProgram, events: Line, rows: Line, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The first event that the frames of each of these rows hold, and the one after the last."""
    own = Line(rows.group[places], rows.time[places])
    bounds = find_frames(events, own, program.frames, program.closed)
    low, high = (np.stack(each) for each in zip(*bounds, strict=True))
    return low.min(axis=0), high.max(axis=0)


def _part(line: Line, first: int, stop: int) -> Line:
    return Line(line.group[first:stop], line.time[first:stop])

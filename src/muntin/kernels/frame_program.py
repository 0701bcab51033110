"""Trailing windows over Arrow columns: what to compute, and the computation for rows at hand.

    f0_n, f1_n, …     how many events the frame of a row holds, unless a partial counts just that
    f0_p0, f0_p1, …   the merged partials of its first frame, to be finished by the engine
    f0_h0, …          results that are computed from values: distinct counts, percentiles

Engines bring events and rows in order; whether they are all there are, or a portion of a partition
together with the older events that it may reach, makes no difference here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import (
    Input,
    PartialColumn,
    columns_of,
    distinct_inputs,
    inputs_of,
)
from muntin.aggregates.holistic import Percentile
from muntin.kernels.columns import encode
from muntin.kernels.framed import Framed, merge_frames
from muntin.kernels.framed_values import VALUES
from muntin.kernels.frames import CARRIED, Line, find_frames
from muntin.kernels.monoids import Array
from muntin.model.as_of import AsOf
from muntin.model.choices import Closed
from muntin.model.frames import Trailing


@dataclass(frozen=True, slots=True)
class FromValues:
    """An aggregate that is computed from the values of events, in these columns."""

    name: str
    how: str
    columns: tuple[str, ...]
    share: float


@dataclass(frozen=True, slots=True)
class FrameProgram:
    """Everything that is computed for a row; sent to a worker once for each partition."""

    frames: tuple[Trailing, ...]
    closed: Closed
    partials: tuple[PartialColumn, ...]
    values: tuple[FromValues, ...]
    wraps: bool = False

    @staticmethod
    def of(
        asked: AsOf,
        merged: Sequence[Aggregate],
        from_values: Sequence[Aggregate],
        type_of: Callable[[Input], str | None],
        wraps: bool = False,
    ) -> FrameProgram:
        """Partials p0, p1, … of some aggregates, results h0, h1, … of others from v0, v1, …"""
        inputs = distinct_inputs([*merged, *from_values])
        values = tuple(
            FromValues(
                f"h{i}",
                each.function.in_frames,
                tuple(f"v{inputs.index(own)}" for own in inputs_of(each)),
                each.function.share if isinstance(each.function, Percentile) else 0.0,
            )
            for i, each in enumerate(from_values)
        )
        partials = columns_of(merged, type_of).partials
        return FrameProgram(asked.frames, asked.closed, partials, values, wraps)

    @property
    def counter(self) -> str:
        """The column that says how many events a frame holds: that of a partial that counts them.

        Where one event stands for many, it does not count as many unless a partial does.
        """
        counts = (p.name for p in self.partials if p.counts is not None and p.counts == p.row)
        return next(counts, "n")

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of events that it reads."""
        merged = (name for p in self.partials for name in (p.name, *p.beside))
        return tuple(dict.fromkeys([*merged, *(c for v in self.values for c in v.columns)]))

    def types(self, kinds: Mapping[str, pa.DataType]) -> dict[str, pa.DataType]:
        """The types of all that `evaluate` finds, in order, given those of the columns it reads."""
        results = {
            each.name: {
                "distinct": pa.int64(),
                "percentile": pa.float64(),
                "nearest": kinds[each.columns[0]],
                "set": pa.list_(kinds[each.columns[0]]),
            }[each.how]
            for each in self.values
        }
        own = {"n": pa.int64()} if self.counter == "n" else {}
        own |= {**{p.name: kinds[p.name] for p in self.partials}, **results}
        return {
            f"f{i}_{name}": kind for i, _ in enumerate(self.frames) for name, kind in own.items()
        }

    @property
    def carries(self) -> bool:
        """Whether one partial can stand for all older events of a window without end."""
        endless = any(frame.is_endless for frame in self.frames)
        return endless and not self.values and all(p.code is None for p in self.partials)

    @property
    def coarse(self) -> int:
        """The grain, where one partial can stand for all events of a slice of that length; or 0."""
        mergeable = not self.values and all(p.code is None for p in self.partials)
        whole = all(frame.rows is None for frame in self.frames)
        return max(frame.grain for frame in self.frames) if mergeable and whole else 0

    def part(self, endless: bool) -> tuple[FrameProgram, dict[str, str]]:
        """The windows that hold all older events, or the others; and what its results are here."""
        own = [i for i, f in enumerate(self.frames) if f.is_endless == endless]
        part = replace(self, frames=tuple(self.frames[i] for i in own))
        results = ["n", *(p.name for p in self.partials), *(v.name for v in self.values)]
        return part, {f"f{turn}_{n}": f"f{i}_{n}" for turn, i in enumerate(own) for n in results}

    @property
    def merges(self) -> bool:
        """Whether one event may stand for several."""
        return self.carries or self.coarse > 0

    def slices(self, time: Array, newest: int) -> tuple[Array, Array]:
        """Of events in order, where the slices begin that may be merged for rows from `newest` on.

        And the instant of each: its bound that belongs to windows. The last number is where they
        end. A slice may be merged when it is over, and no window without a grain reaches it.
        """
        grain, first = self.coarse, int(np.searchsorted(time, CARRIED, side="right"))
        if self.closed in ("left", "both"):
            number, instant = time // grain, 0
        else:  # slices (a, a + grain]
            number, instant = -(-time // grain), -1
        exact = max(f.delay if f.grain else f.reach or f.delay for f in self.frames)
        stop = int(np.searchsorted((number + 1 + instant) * grain - instant, newest - exact + 1))
        own = number[first:stop]
        begins = np.flatnonzero(np.diff(own, prepend=own[:1] - 1)) + first
        return np.append(begins, max(first, stop)), number[begins] * grain

    def features(
        self, rows: pa.Array, found: Mapping[str, pa.Array], kinds: Mapping[str, pa.DataType]
    ) -> pa.RecordBatch:
        """Rows with what was found for them; where that is nothing, they have no features."""
        own = self.beside(len(rows), found, kinds)
        return pa.RecordBatch.from_arrays([rows, *own.values()], names=["r", *own])

    def beside(
        self, count: int, found: Mapping[str, pa.Array], kinds: Mapping[str, pa.DataType]
    ) -> dict[str, pa.Array]:
        """What stands beside so many rows, in order; nulls where nothing was found for them."""
        return {
            name: found[name].cast(kind) if found else pa.nulls(count, kind)
            for name, kind in self.types(kinds).items()
        }

    def evaluate(
        self, columns: Mapping[str, pa.Array], events: Line, rows: Line
    ) -> dict[str, pa.Array]:
        """The features of these rows, over events with these columns.

        A partial that counts events may have no column where each event counts.
        """
        bounds = find_frames(events, rows, self.frames, self.closed)
        frames = [Framed.of(each) for each in bounds]
        found: dict[str, pa.Array] = {}
        if self.counter == "n":
            found |= {f"f{i}_n": pa.array(frame.count) for i, frame in enumerate(frames)}
        for partial in self.partials:
            merged = self._merge(partial, columns, frames)
            found |= {f"f{i}_{partial.name}": array for i, array in enumerate(merged)}
        for each in self.values:
            own = [columns[name] for name in each.columns]
            computed = VALUES[each.how](own, each.share, frames)
            found |= {f"f{i}_{each.name}": array for i, array in enumerate(computed)}
        return found

    def _merge(
        self, partial: PartialColumn, columns: Mapping[str, pa.Array], frames: Sequence[Framed]
    ) -> list[pa.Array]:
        if partial.name not in columns:
            return [pa.array(frame.count) for frame in frames]
        own = [columns[name] for name in (partial.name, *partial.beside)]
        encoded = encode(partial.merger, own, self.wraps, partial.code)
        merged = merge_frames(encoded, frames, own[0].type)
        counts = partial.name == self.counter
        return [array.fill_null(0) for array in merged] if counts else merged

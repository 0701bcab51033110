"""One key of any size in a worker: what is held at a time is bounded by windows, not by keys."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from muntin.aggregates import count, max, sum
from muntin.engines.spark import frame_stage
from muntin.engines.spark.frame_layout import Layout
from muntin.engines.spark.frame_stage import FrameStage, Portion
from muntin.kernels.frame_program import FrameProgram
from muntin.model.as_of import as_of_query
from muntin.model.frames import lifetime, trailing

SECOND = 1_000_000
ROWS, BATCH = 40_000, 500


SENT = ("k0", "t", "p0", "p1", "p2")


def batches() -> Iterator[tuple[pa.Array, ...]]:
    """A record every second, of one key."""
    for first in range(0, ROWS, BATCH):
        place = np.arange(first, first + BATCH)
        columns = (place * 0, place * SECOND, place * 0 + 1, place % 7, place % 11)
        yield tuple(map(pa.array, columns))


def held_at_most(
    windows: list[Any], monkeypatch: pytest.MonkeyPatch, grain: str | None = None
) -> tuple[int, dict[str, list[int]]]:
    """The records of the largest portion, and what all portions gave."""
    asked = as_of_query("ts", windows, [count(), sum("v"), max("v")], "k", grain=grain)
    program = FrameProgram.of(asked, asked.aggregates, (), lambda _: "bigint")
    stage = FrameStage(Layout(SENT, ("k0",), event=None), program)
    sizes, features = [], Portion.features

    def counted(portion: Portion) -> pa.StructArray:
        sizes.append(portion.table.num_rows)
        return features(portion)

    monkeypatch.setattr(Portion, "features", counted)
    monkeypatch.setattr(frame_stage, "PORTION", 1000)
    found = pa.concat_arrays(list(stage(batches())))
    assert len(found) == ROWS
    names = [field.name for field in found.type]
    return np.max(sizes), dict(zip(names, (c.to_pylist() for c in found.flatten()), strict=True))


def test_a_window_of_time_holds_itself_and_a_portion(monkeypatch: pytest.MonkeyPatch) -> None:
    largest, found = held_at_most(["10 minutes"], monkeypatch)
    assert largest <= 600 + 1000 + BATCH
    assert found["f0_p0"] == [min(place, 600) for place in range(ROWS)]


def test_a_window_without_end_holds_a_portion(monkeypatch: pytest.MonkeyPatch) -> None:
    largest, found = held_at_most([lifetime(), trailing(rows=10)], monkeypatch)
    assert largest <= 11 + 1000 + BATCH
    assert found["f0_p0"] == list(range(ROWS))
    assert found["f0_p1"][1:] == np.cumsum(np.arange(ROWS - 1) % 7).tolist()


def test_a_grain_holds_one_record_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five hours of seconds are 300 slices of a minute, beside the last minute itself."""
    largest, found = held_at_most(["5 hours", "30 seconds"], monkeypatch, "1 minute")
    assert largest <= 302 + 120 + 1000 + BATCH
    wanted = [place - np.maximum((place - 18_000) // 60 * 60, 0) for place in range(ROWS)]
    assert found["f0_p0"] == wanted
    assert found["f1_p0"] == [min(place, 30) for place in range(ROWS)]


def test_features_come_in_the_order_of_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records that ask for nothing, or have no time, stand between others, and wait with them."""
    monkeypatch.setattr(frame_stage, "PORTION", 2)
    asked = as_of_query("ts", ["10 seconds"], [count()], "k", closed="both")
    program = FrameProgram.of(asked, asked.aggregates, (), lambda _: "bigint")
    stage = FrameStage(Layout(("k0", "t", "row", "e", "p0"), ("k0",), row="row"), program)
    keys = pa.array(["a", "a", "a", "a", "b", "b", "b"])
    time = pa.array([None, SECOND, SECOND, 5 * SECOND, None, SECOND, 2 * SECOND])
    row = pa.array([True, False, True, True, False, True, True])
    event = pa.array([True, True, True, True, True, False, True])
    sent = (keys, time, row, event, pa.array([1] * 7))
    parts = [tuple(each.slice(i, 1) for each in sent) for i in range(7)]
    found = [f and f["f0_p0"] for each in stage(iter(parts)) for f in each.to_pylist()]
    assert found == [None, None, 2, 3, None, 0, 1]

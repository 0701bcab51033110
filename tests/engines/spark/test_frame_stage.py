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


def batches(keys: int = 1) -> Iterator[pa.RecordBatch]:
    """A record every second, of one key."""
    for first in range(0, ROWS, BATCH):
        place = np.arange(first, first + BATCH)
        yield pa.RecordBatch.from_pydict(
            {"k0": place * 0, "t": place * SECOND, "e": place >= 0, "p0": place * 0 + 1,
             "p1": place % 7, "p2": place % 11, "r": place}
        )  # fmt: skip


def held_at_most(
    windows: list[Any], monkeypatch: pytest.MonkeyPatch, grain: str | None = None
) -> tuple[int, dict[str, list[int]]]:
    """The records of the largest portion, and what all portions gave."""
    asked = as_of_query("ts", windows, [count(), sum("v"), max("v")], "k", grain=grain)
    program = FrameProgram.of(asked, asked.aggregates, (), lambda _: "bigint")
    stage = FrameStage(Layout(("k0",), ("r",), packed=True), program)
    sizes, evaluated = [], Portion.evaluated

    def counted(portion: Portion) -> Iterator[pa.RecordBatch]:
        sizes.append(portion.table.num_rows)
        return evaluated(portion)

    monkeypatch.setattr(Portion, "evaluated", counted)
    monkeypatch.setattr(frame_stage, "PORTION", 1000)
    found = pa.Table.from_batches(list(stage(batches())))
    assert found.num_rows == ROWS
    return np.max(sizes), found.to_pydict()


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

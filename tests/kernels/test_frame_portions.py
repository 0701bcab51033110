"""Portions in threads find what all rows at once do, and grow where windows reach too far."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from muntin.aggregates import count, max, sum
from muntin.kernels import frame_portions
from muntin.kernels.frame_portions import _spans, evaluate_portions
from muntin.kernels.frame_program import FrameProgram
from muntin.kernels.frames import Line
from muntin.model.as_of import as_of_query
from muntin.model.frames import lifetime, trailing


def program(*windows: Any) -> FrameProgram:
    asked = as_of_query("ts", windows, [count(), sum("v"), max("v")], closed="both")
    return FrameProgram.of(asked, asked.aggregates, (), lambda _: "double")


def line(count: int, seed: int) -> Line:
    random = np.random.default_rng(seed)
    group, time = random.integers(0, 4, count), random.integers(0, 3000, count)
    order = np.lexsort((time, group))
    return Line(group[order], time[order])


@pytest.mark.parametrize("apart", [False, True])
def test_portions_change_nothing(apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    own = program("20us", trailing("100us", delay="7us"), trailing(rows=5))
    events = line(700, 1)
    rows = line(400, 2) if apart else events
    values = pa.array(np.random.default_rng(5).normal(size=700))
    columns = {"p1": values, "p2": values}
    wanted = own.evaluate(columns, events, rows)
    monkeypatch.setattr(frame_portions, "PORTION", 64)
    assert len(_spans(own, events, rows)) > 4
    found = evaluate_portions(own, columns, events, rows)
    for name, array in wanted.items():
        ours = found[name].combine_chunks()
        if pa.types.is_integer(array.type) or name.endswith("p2"):
            assert ours.equals(array), name
        else:
            pairs = zip(ours.to_pylist(), array.to_pylist(), strict=True)
            assert all(a == b or abs(a - b) < 1e-9 for a, b in pairs), name


def test_windows_without_end_take_all_events_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_portions, "PORTION", 16)
    one = Line(np.zeros(2000, dtype=np.int64), np.arange(2000))
    assert len(_spans(program("5us"), one, one)) == 125
    assert len(_spans(program(lifetime()), one, one)) <= 6

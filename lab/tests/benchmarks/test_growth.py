"""The growth benchmark: every side gives a time, what would take too long is said, axes add up."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from lab.benchmarks.growth import AXES, LIMIT, Measured, measure, run, save
from lab.benchmarks.growth_sides import Point, sides_of
from lab.benchmarks.workload import SETS
from lab.registry import Options


@pytest.mark.parametrize("axis", AXES)
def test_axes_grow(axis: str) -> None:
    points = AXES[axis](1_000_000)
    assert len(points) >= 4
    assert [p.at for p in points] == sorted({p.at for p in points})


@pytest.mark.long
def test_every_side_runs_batch_and_stream(spark: SparkSession, tmp_path: Path) -> None:
    found = measure("rows", [Point(400, SETS["mixed"], 400, keys=3)], sides_of(spark, tmp_path))
    assert len(found) == 4
    assert all(each.seconds is not None and each.seconds > 0 for each in found), found


def test_what_would_take_too_long_is_not_run() -> None:
    asked: list[float] = []

    def cubic(point: Point, limit: float) -> float:
        asked.append(point.at)
        return (point.at / 10) ** 3

    points = [Point(at, SETS["single"], 10) for at in (1, 10, 100, 1000)]
    found = measure("rows", points, {"cubic": cubic})
    assert asked == [1, 1, 10]  # the first to warm up
    assert [each.seconds for each in found] == [pytest.approx(0.001), 1.0, None, None]
    assert found[2].note == "not run: predicted 1000 s"
    assert found[3].note == "not run: a smaller place was too much"


def test_a_side_that_is_stopped_says_so() -> None:
    points = [Point(at, SETS["single"], 10) for at in (1, 10)]
    found = measure("rows", points, {"endless": lambda point, limit: None})
    assert found[0].note == f"stopped after {LIMIT:.0f} s"


def test_axes_are_kept_side_by_side(tmp_path: Path) -> None:
    first = [Measured("keys", "ours", at, float(at)) for at in (1, 10)]
    rows = [Measured("rows", "ours", 1, 2.0), Measured("rows", "ours", 10, None, "not run")]
    again = [Measured("keys", "ours", at, 2.0 * at) for at in (1, 10)]
    for found in (first, rows, again):
        save(tmp_path, found, Console())
    lines = (tmp_path / "growth.csv").read_text(encoding="utf-8").split()
    assert lines[0] == "axis,side,at,seconds,note"
    assert [line.split(",")[0] for line in lines[1:] if "," in line] == ["rows"] * 2 + ["keys"] * 2
    assert "keys,ours,10,20.0," in lines
    assert (tmp_path / "growth.png").stat().st_size > 10_000


def test_an_unknown_axis_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown set 'row': did you mean 'rows'"):
        run(Options(parts=("row",)), Console())

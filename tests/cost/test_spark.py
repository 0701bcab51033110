"""The cost on Spark: counts of cells, constants that are fitted, and the file that keeps them."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.cost import Constants, Statistics
from muntin.cost.calibration import Calibration, current_constants, fit, load
from muntin.cost.spark import KINDS, SHIPPED, Work
from muntin.cost.statistics import SECOND, occupied
from muntin.errors import CalibrationError
from muntin.model.windows import Window
from muntin.physical import Question, lower
from muntin.physical.operators.kernel import KERNEL
from muntin.plan.slicing import shared_pairs
from muntin.planner.choice import choose


@given(cells=st.floats(1, 1e9), rows=st.floats(1e-3, 1e9))
def test_no_more_cells_are_occupied_than_there_are_or_rows_fall_into(
    cells: float, rows: float
) -> None:
    assert 0 < occupied(cells, rows) <= min(cells, rows) * (1 + 1e-9)
    assert occupied(cells, rows) >= min(cells, rows) * 0.63


def test_held_rows_are_those_of_random_data() -> None:
    random, known = Random(5), Statistics(rows=3000, keys=40, rate=1.0)
    rows = [(random.randrange(40), random.randrange(3000 * SECOND)) for _ in range(3000)]
    window, slices = (
        Window(300 * SECOND, 60 * SECOND),
        shared_pairs([Window(100 * SECOND, 60 * SECOND)]),
    )
    instances = {(key, start) for key, t in rows for start in window.instances_of(t)}
    assert known.held(window) == pytest.approx(len(instances), rel=0.05)
    cut = {(key, max(t - (t - c.phase) % c.step for c in slices.cuts)) for key, t in rows}
    assert known.held(slices) == pytest.approx(len(cut), rel=0.05)


def test_fitting_finds_the_constants_of_a_machine() -> None:
    random = Random(1)
    truth = replace(SHIPPED, **{k: getattr(SHIPPED, k) * random.uniform(0.5, 3) for k in KINDS})
    works = [
        Work(**{k: random.expovariate(getattr(SHIPPED, k)) for k in KINDS if k != "plan"})
        for _ in range(60)
    ]
    found = fit(works, [truth.seconds(work) for work in works])
    for work in works:
        assert found.seconds(work) == pytest.approx(truth.seconds(work), rel=0.1)
    assert fit(works[:1], [truth.seconds(works[0])]).seconds(works[0]) > 0


def test_more_work_takes_longer() -> None:
    query = mt.query("ts", [mt.hopping("1 hour", "1 minute"), mt.tumbling("1 day")], [mt.avg("v")])
    plan = mt.optimize(query, "shared-pairs").planned

    def predicted(known: Statistics) -> dict[str, float]:
        question = Question(query, known)
        named = ("window", "expand", "kernel")
        return {name: choose(plan, question, "spark", name).seconds for name in named}

    for more in (Statistics(rows=2e7, rate=200.0), Statistics(keys=1e4), Statistics(rows=2e7)):
        few, many = predicted(Statistics()), predicted(more)
        assert all(many[name] >= few[name] for name in few)


def test_one_group_occupies_one_core() -> None:
    query = mt.query("ts", [mt.hopping("1 day", "1 minute")], [mt.avg("v")])
    physical = lower(mt.optimize(query, "shared-panes").tree)
    known = Statistics(rows=1e6)
    one = KERNEL.total_work(physical, Question(query, known, Constants(cores=4)))
    many = KERNEL.total_work(physical, Question(query, known, Constants(cores=1)))
    assert one.shipped == pytest.approx(4 * many.shipped)


def test_constants_are_kept_in_a_readable_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new" / "constants.toml"
    Calibration(replace(SHIPPED, read=3e-7, cores=8), "2024-01-01", "4.3.0", "local").save(path)
    monkeypatch.setenv("MUNTIN_CONSTANTS", str(path))
    found = current_constants()
    assert (found.read, found.cores, found.origin) == (3e-7, 8, "measured here, 2024-01-01")
    plan = mt.optimize(mt.query("ts", [mt.tumbling("1 hour")], [mt.count()]))
    assert "constants measured here, 2024-01-01" in plan.explain()
    monkeypatch.setenv("MUNTIN_CONSTANTS", "shipped")
    assert current_constants() is SHIPPED
    monkeypatch.delenv("MUNTIN_CONSTANTS")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert current_constants() is SHIPPED
    path.rename(tmp_path / "muntin-file")
    (tmp_path / "muntin").mkdir()
    (tmp_path / "muntin-file").rename(tmp_path / "muntin" / "spark-constants.toml")
    assert current_constants().cores == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = ", "cannot be read"),
        ("version = 99", "is of version 99, not 1"),
        ("version = 1", "no table"),
        ("version = 1\ncores = 2\n[seconds]\nplan = -1", "plan is -1"),
        ("version = 1\ncores = 2\n[seconds]\nplan = 'x'", "plan is 'x'"),
        ("version = 1\ncores = 2\n[seconds]\nplan = nan", "plan is nan"),
        ("version = 1\ncores = 2\n[seconds]\nplan = 1", "stage is None"),
        (f"version = 1\ncores = 2\n[seconds]\nplan = {10**400}", "plan is 10\\*\\*400"),
        (f"version = 1\ncores = {10**400}\n[seconds]", "no number of cores"),
        ("version = " + "9" * 5000, "cannot be read"),
        ("version = " + "[" * 5000, "cannot be read"),
    ],
)
def test_a_bad_file_is_refused_by_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "constants.toml"
    path.write_text(text)
    with pytest.raises(CalibrationError, match=f"{message}.*muntin calibrate"):
        load(path)


def test_constants_take_the_place_of_constants_only(tmp_path: Path) -> None:
    found, path = Calibration(SHIPPED, "2024-01-01", "4.3.0", "local"), tmp_path / "constants.toml"
    for _ in range(2):
        found.save(path)
    other = tmp_path / "thesis.txt"
    other.write_text("years of work")
    with pytest.raises(CalibrationError, match="already exists and holds no constants"):
        found.save(other)
    assert other.read_text() == "years of work"
    with pytest.raises(CalibrationError, match="cannot be written: Is a directory"):
        found.save(tmp_path)


@pytest.mark.parametrize(
    "wrong", [{"rows": 0}, {"keys": 0.5}, {"rate": -1}, {"rate": float("nan")}]
)
def test_impossible_statistics_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(mt.MuntinError, match="must be"):
        Statistics(**wrong)

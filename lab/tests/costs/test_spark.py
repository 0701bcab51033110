"""The tables of predictions against measurements; the runs themselves are the experiment's."""

from pathlib import Path

import pytest

from lab.costs.spark import MEASURED_CASES, Measured, auto_table, draw, plans_table, summary
from muntin.cli.calibration_cases import plans_of

FOUND = [
    Measured("a", "wcg, kernel", True, 1.0, 1.05),
    Measured("a", "direct, window", False, 4.0, 5.0),
    Measured("b", "shared-pairs, expand", True, 2.0, 2.5),
    Measured("b", "direct, window", False, 3.0, 2.0),
]


def test_the_summary_says_how_far_off_predictions_are() -> None:
    text = summary(FOUND)
    assert "4 plans of 2 sets" in text
    assert "mean deviation 23.7%" in text
    assert "rank correlation 0.800" in text
    assert "in 1 of 2 sets, 1.12 times the best in the mean, 1.25 at worst" in text
    assert auto_table(FOUND).row_count == 2
    assert plans_table(FOUND[:2]).row_count == 2


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw(FOUND, tmp_path / "plans.png")
    assert (tmp_path / "plans.png").read_bytes().startswith(b"\x89PNG")


def test_cases_have_plans_that_differ_and_auto_comes_first() -> None:
    case = next(case for case in MEASURED_CASES if case.name == "mixed")
    plans = plans_of(case, longest=2.6)
    assert len(plans) >= 4
    seconds = [plan.seconds or 0.0 for plan in plans.values()]
    assert seconds[0] <= 1.05 * min(seconds), "planning ends where little is left to save"

"""The benchmark of trailing windows runs, and its sides compute the same."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from lab.benchmarks import as_of, as_of_choice
from lab.registry import Options
from lab.timing import Times
from muntin.physical.operators.frames import count_work


@pytest.mark.long
def test_every_side_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(as_of, "SETS", {"fifty keys": 3, "grain": 1})
    options = Options(data=tmp_path, repeat=1)
    console = Console(record=True, width=120)
    console.print(as_of._measure("fifty keys", 500, spark, options))
    console.print(as_of._measure_grain("grain", 500, spark, options))
    printed = console.export_text()
    for side in (
        as_of.FLOOR,
        as_of.OURS,
        as_of.IN_PROCESS,
        as_of.DUCKDB,
        as_of.RANGE,
        "7 days, grain",
    ):
        assert side in printed


def test_constants_are_fitted_to_what_was_measured() -> None:
    """None is negative: what no measurement needs costs nothing."""
    amounts = [(1.0, 1e3, 1e5), (1.0, 1e5, 1e7), (1.0, 1e6, 1e8), (1.0, 1e6, 1e9)]
    wanted = (0.3, 0.0, 2e-8)
    seconds = [sum(n * each for n, each in zip(own, wanted, strict=True)) for own in amounts]
    assert as_of_choice.fit(amounts, seconds) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.long
def test_both_operators_are_timed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, spark: SparkSession
) -> None:
    cases = {"few": as_of_choice.Case(200, 3), "more": as_of_choice.Case(900, 3)}
    found = {
        name: as_of_choice._race(spark, name, case, Options(data=tmp_path, repeat=1))
        for name, case in cases.items()
    }
    console = Console(record=True, width=160)
    as_of_choice.print_results(cases, found, console)
    printed = console.export_text()
    assert "few" in printed
    assert "KERNEL_SECONDS = (" in printed


def test_what_fits_is_said_in_lines_to_copy() -> None:
    """Where Spark's own frames cost nothing but a start, the fitted constants take them always."""
    cases = as_of_choice.CASES
    work = {name: count_work(c.asked, c.statistics)[0] for name, c in cases.items()}
    found = {
        name: {
            "frames": Times((2.0 + features * 1e-6,), 0),
            "range": Times((0.25,), 0),
        }
        for name, (_, features) in work.items()
    }
    console = Console(record=True, width=160)
    as_of_choice.print_results(cases, found, console)
    printed = console.export_text()
    assert "KERNEL_SECONDS = (2, 1e-06)  # now (" in printed
    assert "OWN_SECONDS = (0.25, 0, 0, 0)  # now (" in printed
    assert "do not tell them apart: 3" in printed
    assert f"auto with the fitted constants: 0 of {len(cases)} wrong, 0.00 s lost" in printed
    wrong = next(line for line in printed.splitlines() if line.startswith("auto: "))
    taken = [row for row in printed.splitlines() if "rows" in row and "frames │ range" in row]
    assert len(taken) == int(wrong.split()[1]) > 0

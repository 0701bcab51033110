"""The weave experiment: workloads, its figures against plans of the strategies, and its files."""

import csv
import doctest
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from lab.multi_query.report import run
from lab.multi_query.run import OPTIMIZERS, SWEEPS, TECHNIQUES, bit_set, f1, timings, weave
from lab.multi_query.workload import Setting, workload
from lab.registry import Options, find
from muntin.cost import WeaveCost, total
from muntin.planner.strategies import STRATEGIES, Problem
from muntin.planner.strategies.coverage.divisors import divisors


def test_slides_are_factors_and_overlaps_lie_within_their_bound() -> None:
    queries = workload(Setting(queries=5_000, s_max=360, o_max=7), seed=2)
    assert set(queries.slides.tolist()) == set(divisors(360))
    assert set(queries.overlaps.tolist()) == set(range(1, 8))
    again = workload(Setting(queries=5_000, s_max=360, o_max=7), seed=2)
    assert np.array_equal(again.slides, queries.slides)


def test_skew_favours_long_slides_above_zero_and_short_ones_below() -> None:
    means = [workload(Setting(4_000, skew=z), seed=1).slides.mean() for z in (-1, 0, 1)]
    assert means == sorted(means)
    assert means[2] > 2 * means[1]
    counts = np.unique(workload(Setting(16_000), seed=1).slides, return_counts=True)[1]
    assert counts.min() > 800
    assert len(counts) == 16


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("technique", TECHNIQUES.values())
def test_costs_are_those_of_the_strategies_plans(optimizer: str, technique: str) -> None:
    setting = Setting(queries=25, s_max=60, o_max=40, rate=2.0)
    queries = workload(setting, seed=4)
    windows = queries.windows()
    assert len(windows) == 25
    model = WeaveCost(technique, setting.rate, unit_of_time=1)
    plan = STRATEGIES[OPTIMIZERS[optimizer]](Problem(windows, False, model))
    cost, trees = weave(queries, setting.rate, technique, optimizer)
    assert cost == pytest.approx(total(model, plan))
    level = plan.children(None if optimizer == "WeaveShare" else plan.children(None)[0].id)
    assert trees == len(level)


def test_all_ways_to_count_edges_give_the_same_plan() -> None:
    found = list(timings(seed=1, sizes=(60,)))
    assert {t.way for t in found} == {"ungrouped", "bit set", "F1"}
    assert len({(t.trees, round(t.cost, 9)) for t in found}) == 1


def test_a_million_queries_are_planned_in_seconds() -> None:
    queries = workload(Setting(1_000_000, 5_040, o_max=10), seed=1)
    plans = {weave(queries, 10.0, "panes", edges=edges) for edges in (f1, bit_set)}
    assert len(plans) == 1


@pytest.mark.long
def test_the_command_prints_its_tables_and_writes_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.multi_query.report.SAVINGS", 10)
    monkeypatch.setattr("lab.multi_query.report.GAPS", 2)
    console = Console(record=True, width=120)
    assert find("experiment", "weave") is run
    costs = run(Options(tmp_path, seed=1, sets=1), console, sizes=(10,))
    assert len(costs) == sum(len(s.values) for s in SWEEPS) * len(OPTIMIZERS) * len(TECHNIQUES)
    text = console.export_text()
    for part in ("270,000×", "Average number of trees", "guaranteed 0.25", "weave-plus mean"):
        assert part in text
    with (tmp_path / "weave_runs.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(costs)
    for name in ("weave_16", "weave_17_21", "weave_guarantee"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000


def test_the_documentation_shows_what_comes_out() -> None:
    page = Path(__file__).parents[3] / "docs" / "weaving.md"
    outcome = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert outcome.attempted >= 4
    assert outcome.failed == 0

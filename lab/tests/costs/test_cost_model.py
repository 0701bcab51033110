"""Woven plans run in process: answers against brute force, counts, and the files."""

import csv
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from lab.costs import cost_model
from lab.costs.cost_model import PARTS, Reality, deviation, normalised, readings
from lab.costs.plan_runs import PlanRun, TreeRun, count_operations, fold, prepare
from lab.multi_query.omega import aggregate_of, empty_window
from lab.multi_query.run import OPTIMIZERS, TECHNIQUES
from lab.multi_query.workload import Setting, workload
from lab.registry import Options
from muntin.cost import WeaveCost, total
from muntin.errors import ColumnError, StrategyError
from muntin.plan import SharingPlan
from muntin.planner.strategies import STRATEGIES, Problem

SMALL = Setting(queries=8, s_max=12, o_max=5)
VALUES = [(7 * i * i + 3 * i) % 101 for i in range(240)]
TURNS = len(VALUES) // SMALL.s_max


def planned(optimizer: str, technique: str) -> tuple[SharingPlan, WeaveCost]:
    model = WeaveCost(technique, 1.0, unit_of_time=1)
    windows = workload(SMALL, seed=3).windows()
    strategy = STRATEGIES[OPTIMIZERS[optimizer]]
    return strategy(Problem(windows, False, model)), model


def answers(run: PlanRun, tree: TreeRun, technique: str) -> list[list[int]]:
    """What the tree answers at each edge where it answers anything."""
    function = aggregate_of(technique).function
    pieces = cycle(run.pieces(VALUES, function))
    window, found = empty_window(technique, function, tree.asked), []
    slices = fold(tree.sizes, pieces, function, TURNS)
    for partial, asked in zip(slices, cycle(tree.asked), strict=False):
        window.slide(partial)
        if asked:
            found.append(sorted(window.query_all(asked).values()))
    return found


def by_definition(tree: TreeRun, fold: Callable[[list[int]], int]) -> list[list[int]]:
    """At each instant where a window ends, the records of each range up to there."""
    found = []
    for end in range(1, len(VALUES) + 1):
        ranges = {w.range for w in tree.windows if (end - w.range) % w.slide == 0}
        if ranges:
            found.append(sorted(fold(VALUES[max(0, end - r) : end]) for r in ranges))
    return found


@pytest.mark.parametrize("technique", TECHNIQUES.values())
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_answers_are_those_of_the_records(optimizer: str, technique: str) -> None:
    run = prepare(planned(optimizer, technique)[0], SMALL.s_max)
    assert (run.finest is not None) == (optimizer == "TriWeave")
    by: Callable[[list[int]], int] = sum if technique == "slick-deque-inv" else max
    for tree in run.trees:
        assert answers(run, tree, technique) == by_definition(tree, by)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_counted_operations_are_what_the_model_counts_where_it_is_exact(optimizer: str) -> None:
    for technique in ("panes", "slick-deque-inv"):
        plan, _ = planned(optimizer, technique)
        exact = WeaveCost(technique, 1.0, unit_of_time=1, counted=True)
        found = count_operations(prepare(plan, SMALL.s_max), technique, VALUES, TURNS)
        assert found == pytest.approx(total(exact, plan))


def reality(technique: str, cost: float, throughput: float) -> Reality:
    return Reality("WeaveShare", 10, technique, 1, cost, cost, cost, 1, throughput, throughput)


def test_deviation_is_that_of_normalised_throughputs() -> None:
    found = [reality("a", 1.0, 1000.0), reality("b", 4.0, 200.0)]
    assert normalised(found, "paper") == [1.0, 0.25]
    assert normalised(found, "throughput") == [1.0, 0.2]
    assert deviation(found, "paper") == pytest.approx((0 + 0.25) / 2)


@pytest.mark.long
def test_the_command_prints_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_model, "SETTING", SMALL)
    monkeypatch.setattr(cost_model, "OVERLAPS", (3, 5))
    monkeypatch.setattr(cost_model, "ROUNDS", 1)
    monkeypatch.setattr(cost_model, "WORK", 1)
    monkeypatch.setattr(cost_model, "GENERATED", 240)
    console = Console(record=True, width=100)
    cost_model.run(Options(tmp_path, parts=("in-process",)), console)
    said = console.export_text()
    assert "240 generated values, repeated" in said
    assert "Mean deviation of normalised throughput" in said
    with (tmp_path / "cost_model_in_process.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(OPTIMIZERS) * len(TECHNIQUES)
    assert all(float(row["throughput"]) > 0 for row in rows)
    assert (tmp_path / "cost_model_in_process.png").stat().st_size > 5_000


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(StrategyError, match=r"unknown part 'in-proces': did you mean 'in-process'"):
        cost_model.run(Options(parts=("in-proces",)), Console())
    with pytest.raises(ColumnError, match=r"debs2012_head\.parquet does not exist: --data is"):
        readings(tmp_path)
    assert "in-process" in PARTS


def test_rows_are_read_from_a_folder_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "debs2012_head.parquet"
    pq.write_table(pa.table({"mf01": pa.array([3, 1, 2], pa.int32())}), path)
    for place in (tmp_path, path):
        values, where = readings(place)
        assert values == [3, 1, 2]
        assert where == "3 rows of DEBS 2012 (mf01), repeated"

"""Ω of a stream's techniques: what is predicted against what a bucket takes up, and the choice."""

from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import muntin as mt
from conformance.selection import many
from lab.multi_query.stream import UNITS, count_partials, read_partials
from muntin.aggregates.columns import PartialColumn
from muntin.cost import RateCost
from muntin.model.windows import Window
from muntin.physical.blocks import rung_counts
from muntin.physical.due_techniques import LATE, TECHNIQUES, Kept, choose_technique
from muntin.physical.operators.bucketed import BUCKETED
from muntin.physical.operators.controlled import CONTROLLED
from muntin.physical.operators.kernel import bases
from muntin.planner.strategies import STRATEGIES, Problem
from muntin.state.bucket import Bucket
from muntin.state.cores import rungs
from muntin.state.spec import Spec
from muntin.state.store import MemoryStore
from muntin_testing.buckets import Row, spec_of, stepped
from muntin_testing.reached import Reached
from muntin_testing.running import for_stream

pytestmark = pytest.mark.slow

TOLERANCE = 0.05
"""How far a prediction may be from the count, as a part of it."""


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize(
    ("overlap", "due", "late"),
    [
        *((60, 1, 0.0), (600, 10, LATE), (3600, 60, 0.0), (36_000, 100, LATE)),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in ((60, 10, LATE), (600, 1, 0.0), (3600, 10, LATE), (36_000, 100, 0.0))
        ),
    ],
)
def test_what_is_predicted_is_what_is_read(
    technique: str, overlap: int, due: int, late: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not late:  # then every flip is like the last
        monkeypatch.setattr("lab.multi_query.stream.LEAST", 120)
    found = read_partials(technique, [Window(overlap, 1)], due, late)
    assert found.counted == pytest.approx(found.predicted, rel=TOLERANCE)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_windows_on_the_same_slices_share_blocks(technique: str) -> None:
    windows = [Window(900, 1), Window(600, 5), Window(120, 10)]
    found = read_partials(technique, windows, 10, LATE)
    assert found.counted == pytest.approx(found.predicted, rel=TOLERANCE)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_of_stairs_the_deltas_are_predicted(technique: str) -> None:
    """A step every 10 seconds, as predictions take it, and a late row before one of ten."""
    windows = [mt.hopping(f"{n} seconds", "10 seconds") for n in (3000, 7000, 11_500)]
    plan = STRATEGIES["subsume"](Problem(tuple(windows), False, RateCost(1e6)))
    physical, taken, random = for_stream(plan), list[int](), Random(2)
    _, predicted = BUCKETED.due_technique(physical, technique)
    partials = (PartialColumn("p0", "", "", "sum"),)
    spec = Spec(bases(physical), ("k0",), partials, technique=technique, taken=taken.append)
    store, cache, results, clock = MemoryStore(), dict[str, pa.Table](), 0, 1500

    def step(starts: list[int], watermark: int) -> int:
        columns = {"node": pa.array([0] * len(starts), pa.int32())}
        columns |= {"start": pa.array(starts), "k0": ["a"] * len(starts), "p0": [1] * len(starts)}
        found = Bucket(spec, 0, store, cache).step([pa.table(columns)], watermark).results
        return sum(table.num_rows for table in found)

    step([10_000_000 * n for n in range(clock)], 10_000_000 * (clock - 1))
    step([10_000_000 * (clock - 1)], 10_000_000 * clock)
    taken.clear()
    steps = many(200, 600)
    for _ in range(steps):
        late = [random.randrange(clock - 1200, clock)] if random.random() < LATE else []
        fresh = [10_000_000 * n for n in (*late, clock)]
        clock += 1
        results += step(fresh, 10_000_000 * clock)
    assert results == 3 * steps
    assert sum(taken) / results == pytest.approx(predicted[technique], rel=0.15)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_partials_are_counted_as_results_are_told_of_them(technique: str) -> None:
    """One result a step: what evaluation takes up is what the result was made of."""
    told, taken = list[int](), list[int]()
    spec = spec_of(
        [Window(600, 1)],
        technique=technique,
        read=lambda *each: told.extend(each[2].tolist()),
        taken=taken.append,
    )
    store, cache = MemoryStore(), dict[str, pa.Table]()
    filled: list[Row] = [(time, "a", 1, time) for time in range(600)]
    stepped(spec, store, filled, 599, cache=cache)
    combining = 0
    for clock in range(600, 650):
        told.clear()
        taken.clear()
        stepped(spec, store, [(clock, "a", 1, clock)], clock, cache=cache)
        assert len(told) == 1
        assert taken[-1] == told[0], "evaluation comes last"
        combining += len(taken) > 1
    assert combining == 0 if technique == "panes" else 1 <= combining <= 5, "one block in 37 steps"


def test_rungs_are_counted_as_they_are_listed() -> None:
    random, reached = Random(1), Reached()
    for _ in range(300):
        low = random.randrange(1000)
        high = low + random.randrange(1, random.choice((10, 100, 1000)))
        levels = [level for level, _ in rungs(low, high, range(low, high))]
        counted = [int(each[0]) for each in rung_counts(np.array([low]), np.array([high]))]
        assert counted == [levels.count(level) for level in range(len(counted))]
        assert sum(counted) == len(levels)
        reached[f"{max(levels)} levels"] += 1
    reached.at_least(20, "0 levels", "1 levels", "2 levels")


def test_auto_reads_about_as_little_as_any_technique(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.multi_query.stream.LEAST", 100)
    reached = Reached()
    for overlap in (4, 5, 40, 70, 240):
        windows = [Window(overlap, 1), Window(overlap // 2, 2)][: 1 + overlap % 4 // 2]
        chosen, _ = choose_technique([Kept(UNITS, tuple(windows))], step=1)
        counted = {
            name: count_partials(name, windows, 1, LATE, Random(overlap)) for name in TECHNIQUES
        }
        assert counted[chosen] <= 1.2 * min(counted.values()), (windows, chosen, counted)
        reached[chosen] += 1
    reached.at_least(1, *TECHNIQUES)


@pytest.mark.parametrize(
    ("windows", "best"),
    [
        ([mt.hopping("5 minutes", "1 minute")], "panes"),
        ([mt.tumbling("1 hour")], "panes"),
        ([mt.hopping("1 hour", "1 second")], "b-int"),
        ([mt.hopping("1 day", "5 minutes")], "two-stacks"),
    ],
)
def test_explain_names_the_technique_and_what_the_others_read(
    windows: list[Window], best: str
) -> None:
    query = mt.query("ts", windows, [mt.max("v")], keys="k")
    text = mt.optimize(query, "shared-pairs", engine="stream", operator="bucketed").explain()
    assert f"windows that are due are answered by {best}: {TECHNIQUES[best]}\n" in text
    [line] = [line for line in text.splitlines() if line.startswith(f"{best} is predicted")]
    assert "partials a result, at a step every 10 seconds; " in line
    assert all(name in line for name in TECHNIQUES)


def test_the_choice_does_not_depend_on_what_is_known_of_the_data() -> None:
    """A restart that is told more must find the same plan."""
    query = mt.query("ts", [mt.hopping("1 day", "5 minutes")], [mt.max("v")], keys="k")
    plans = [
        mt.optimize(query, "shared-pairs", rate, keys, engine="stream", operator="bucketed")
        for rate, keys in ((None, None), (1e6, 1), (0.1, 1e6))
    ]
    lines = {line for plan in plans for line in plan.explain().splitlines() if "a result" in line}
    assert len(lines) == 1


def test_update_mode_and_controls_say_what_they_do() -> None:
    query = mt.query("ts", [mt.hopping("1 day", "5 minutes")], [mt.max("v")], keys="k")
    plan = mt.optimize(query, "shared-pairs", engine="stream", operator="bucketed")
    physical, question = plan.choice.physical, plan.options.question(query)
    [changed] = BUCKETED.notes(physical, replace(question, update=True))
    assert changed.startswith("windows that changed are answered from all slices")
    assert CONTROLLED.due_technique(physical, "auto")[0] == "b-int"
    assert CONTROLLED.due_technique(physical, "panes")[0] == "panes"
    [due] = CONTROLLED.notes(physical, question)
    assert due.startswith("windows that are due are answered by b-int: ")

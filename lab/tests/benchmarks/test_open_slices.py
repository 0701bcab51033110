"""The benchmark of open slices: both plans give the same results, and the costs tell them apart."""

import pytest

from lab.benchmarks import open_slices
from lab.benchmarks.open_slices import SETS, count_steps, plan_of, time_plan
from muntin.physical.lowering import Prefix


def test_both_strategies_give_as_many_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_slices, "PIECES", 2_000)
    for name in SETS:
        plans = [plan_of(name, strategy) for strategy in ("shared-pairs", "cutty")]
        opened = [any(isinstance(n.program, Prefix) for n in plan.nodes) for plan in plans]
        assert opened == [False, True]
        results = {time_plan(plan, 1)[1] for plan in plans}
        assert len(results) == 1
        assert results.pop() > 100


def test_open_slices_pay_where_several_windows_end_within_them() -> None:
    ratio = {
        name: count_steps(plan_of(name, "cutty")) / count_steps(plan_of(name, "shared-pairs"))
        for name in SETS
    }
    assert ratio["one"] > 1
    assert ratio["ten of one slide"] < 0.5

"""replan: another plan where the data has changed, and none where it has not; wrong options."""

from typing import Any

import pytest

import muntin as mt

WINDOWS = [mt.hopping(f"{n} minutes", "1 minute") for n in (5, 60, 1440)]
QUERY = mt.query("ts", WINDOWS, [mt.min("v"), mt.max("v")], keys="k")


def test_nothing_changes_where_nothing_has_changed() -> None:
    plan = mt.optimize(QUERY, rate=100, distinct_keys=100)
    again = plan.replan()
    assert not again.better
    assert again.ratio == pytest.approx(1)
    assert repr(again).startswith(f"keep {plan.strategy} by {plan.operator.name}: ")


def test_a_plan_for_other_data_is_better_by_what_it_saves() -> None:
    plan = mt.optimize(QUERY, "direct", operator="window", rate=100, distinct_keys=100, rows=1e6)
    found = plan.replan(rate=200, keys=50)
    assert found.better
    assert found.plan.options.statistics == mt.Statistics(2e6, 50, 200, "given")
    assert found.now / found.then == found.ratio > 10
    assert f"change to {found.plan.strategy} by {found.plan.operator.name}: " in repr(found)
    assert not found.plan.replan().better


def test_under_another_cost_that_cost_decides() -> None:
    tumbling = mt.query("ts", [mt.tumbling(f"{n} minutes") for n in (20, 30, 40)], [mt.min("v")])
    plan = mt.optimize(tumbling, "direct", engine="sql", cost="rate")
    found = plan.replan(rate=10)
    assert found.better
    assert found.unit == "operations/s"
    assert mt.optimize(tumbling, "direct", engine="sql").replan(rate=10).unit == "s"


def test_impossible_statistics_are_refused() -> None:
    with pytest.raises(mt.MuntinError, match="rate -1 must be positive"):
        mt.optimize(QUERY).replan(rate=-1)
    with pytest.raises(mt.MuntinError, match="rate 'x' must be positive"):
        mt.optimize(QUERY).replan(rate="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"strategy": ["wcg"]}, r"strategy must be 'auto', .* not \['wcg'\]"),
        ({"engine": 5}, r"engine must be 'spark', 'stream', 'sql' or 'duckdb', not 5"),
        ({"slicing": [5]}, r"slicing must be 'panes', .* not \[5\]"),
        ({"technique": [5], "cost": "weave"}, r"technique \[5\] has no Ω: known: panes"),
        (
            {"operator": 5, "engine": "stream"},
            r"stream operator must be 'native', 'bucketed' or 'controlled', not 5",
        ),
    ],
)
def test_options_that_are_no_names_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(mt.MuntinError, match=message):
        mt.optimize(QUERY, **wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dialect": ["spark"]}, r"SQL dialect must be 'spark' or 'duckdb', not \['spark'\]"),
        ({"dialect": "spark", "table": 5}, r"table 5 must be the name of a table"),
        ({"dialect": "spark", "types": 5}, r"types 5 must be types by column"),
    ],
)
def test_sql_of_what_is_no_name_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(mt.MuntinError, match=message):
        mt.optimize(QUERY).to_sql(**wrong)

"""Which windows the kernel makes in runs of equal neighbours, and what explain() says of it."""

import muntin as mt
from muntin.model.choices import Strategy
from muntin.physical.operators.kernel import KERNEL

RANGES = ("5 minutes", "1 hour", "1 day")
SET = mt.query("ts", [mt.hopping(each, "1 minute") for each in RANGES], [mt.max("v")], keys=["k"])


def planned(strategy: Strategy, keys: int) -> tuple[list[str], str]:
    """The windows in runs, and what is printed."""
    plan = mt.optimize(
        SET, strategy, operator="kernel", rows=5_000_000, rate=100, distinct_keys=keys
    )
    physical = plan.choice.physical
    in_runs = KERNEL.in_runs(physical, plan.options.statistics)
    return [physical.nodes[number].id for number in sorted(in_runs)], str(plan)


def test_windows_of_slices_are_made_in_runs_where_rows_of_a_key_are_far_apart() -> None:
    names, shown = planned("shared-pairs", 500_000)
    assert names == ["5 minutes/1 minute", "1 hour/1 minute", "1 day/1 minute"]
    assert f"sent as one: of {', '.join(names)}" in shown


def test_what_others_are_made_of_is_laid_out_one_by_one() -> None:
    names, shown = planned("wcg", 500_000)
    assert names == ["1 hour/1 minute", "1 day/1 minute"]
    assert f"sent as one: of {', '.join(names)}" in shown


def test_few_keys_have_no_runs() -> None:
    names, shown = planned("shared-pairs", 100)
    assert not names
    assert "sent as one" not in shown

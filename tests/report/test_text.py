"""What explain() prints: kinds of edges, and strategies of equal cost in one line."""

from dataclasses import replace
from re import fullmatch
from typing import Any

import muntin as mt
from muntin.plan import close, refine
from muntin.planner.found import Alternative
from muntin.report import html, text

UNEVEN = [mt.hopping("14 minutes", "8 minutes"), mt.hopping("1 hour", "10 minutes")]


def plan(strategy: str, **options: Any) -> mt.Plan:
    return mt.optimize(mt.query("ts", UNEVEN, [mt.sum("v")]), strategy, **options)  # type: ignore[call-overload, no-any-return]


def test_open_slices_are_shown_as_they_run_with_a_note() -> None:
    """NumPy reads them, of fragments; SQL cuts them where windows end. That tree is shown."""
    opened, closed = (plan("cutty", operator=name) for name in ("kernel", "expand"))
    assert opened.planned == closed.planned
    assert opened.planned != opened.tree == refine(opened.planned)
    assert closed.planned != closed.tree == close(closed.planned)
    for found in (opened, closed):
        note = f"{found.operator.name} runs the plan of cutty in its own form, as shown"
        assert note in found.explain()
    assert "in its own form" not in plan("shared-pairs").explain()
    [line] = [line for line in opened.explain().split("\n") if "kernel: open" in line]
    assert fullmatch(r".*14 minutes/8 minutes +3 slices, the last one open +.*", line)
    assert "fragments, 18 an hour" in opened.explain()
    assert "one open" not in closed.explain()


def test_the_headline_is_in_seconds_or_in_the_cost_asked_for() -> None:
    [by_seconds, by_rate, direct] = [
        found.explain().partition("\n")[0]
        for found in (
            plan("shared-pairs"),
            plan("shared-pairs", cost="rate"),
            plan("direct", cost="rate"),
        )
    ]
    assert fullmatch(
        r"shared-pairs by \w+: predicted [\d.]+ s, [\d.]+× faster than Spark's own \([\d.]+ s\)",
        by_seconds,
    )
    assert fullmatch(
        r"shared-pairs by \w+: cost [\d.]+ operations/s, [\d.]+× below direct \([\d.]+\)", by_rate
    )
    assert fullmatch(r"direct by \w+: cost [\d.]+ operations/s", direct)


def test_every_strategy_is_named_once_and_equal_costs_share_a_line() -> None:
    found = plan("auto", cost="rate")
    table = found.explain().split("\nstrategy ")[1]
    words = table.partition("\n")[2].replace(",", " ").split()
    assert all(words.count(a.strategy) == 1 for a in found.alternatives)
    assert "random-\n" not in table
    folded = found.explanation().folded
    assert len(folded) < len(found.alternatives)
    assert sum(1 + len(others) for _, others in folded) == len(found.alternatives)


def test_a_named_strategy_is_tried_alone() -> None:
    found = plan("shared-pairs")
    assert [a.strategy for a in found.alternatives] == ["shared-pairs"]
    assert "\nstrategy " not in found.explain()


def test_the_chosen_strategy_speaks_for_its_equals() -> None:
    found = plan("auto").explanation()
    for name in ("shared-pairs", "all-share"):
        lines = text(replace(found, strategy=name)).split("\n")
        [line] = [line for line in lines if "← chosen" in line]
        assert line.startswith(name)


def test_reasons_are_folded_too_and_notebooks_show_the_same() -> None:
    explanation = replace(
        plan("direct").explanation(),
        alternatives=(
            Alternative("direct", "expand", 2.0, 1.0),
            Alternative("one", note="skipped: many"),
            Alternative("two", note="skipped: many"),
            Alternative("three", note="refused"),
        ),
    )
    assert "skipped: many  also two" in text(explanation)
    assert "refused  also" not in text(explanation)
    assert "<td>one, two</td>" in html(explanation)

"""What explain() prints: kinds of edges, and strategies of equal cost in one line."""

import muntin as mt
from muntin.report import html, text
from muntin.report.explanation import Alternative

UNEVEN = [mt.hopping("14 minutes", "8 minutes"), mt.hopping("1 hour", "10 minutes")]


def plan(strategy: str) -> mt.Plan:
    return mt.optimize(mt.query("ts", UNEVEN, [mt.sum("v")]), strategy)  # type: ignore[call-overload, no-any-return]


def test_an_open_slice_is_named_and_what_engines_do_with_it() -> None:
    said = plan("cutty").explain()
    assert "slices, the last still open (prefix)" in said
    assert "Spark and SQL cut them where windows end" in said
    assert "prefix" not in plan("shared-pairs").explain()


def test_every_strategy_is_named_once_and_equal_costs_share_a_line() -> None:
    found = plan("shared-pairs")
    table = found.explain().split("\nstrategy ")[1]
    words = table.partition("\n")[2].replace(",", " ").split()
    assert all(words.count(a.strategy) == 1 for a in found.alternatives)
    assert "random-\n" not in table
    folded = found._explanation().folded
    assert len(folded) < len(found.alternatives)
    assert sum(1 + len(f.others) for f in folded) == len(found.alternatives)


def test_the_chosen_strategy_speaks_for_its_equals() -> None:
    for name in ("shared-pairs", "all-share"):
        lines = plan(name).explain().split("\n")
        [line] = [line for line in lines if "← chosen" in line]
        assert line.startswith(name)


def test_reasons_are_folded_too_and_notebooks_show_the_same() -> None:
    explanation = plan("direct")._explanation()
    object.__setattr__(
        explanation,
        "alternatives",
        (
            Alternative("direct", 2.0, 1.0),
            Alternative("one", None, note="skipped: many"),
            Alternative("two", None, note="skipped: many"),
            Alternative("three", None, note="refused"),
        ),
    )
    assert "skipped: many  also two" in text(explanation)
    assert "refused  also" not in text(explanation)
    assert "<td>one, two</td>" in html(explanation)

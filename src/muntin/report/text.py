"""A plan as a text tree, with the strategies it was compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from muntin.errors import printable
from muntin.planner.found import Alternative
from muntin.report.explanation import Explanation, number

WIDTH = 100
"""Where lines of names are broken."""


def text(explanation: Explanation) -> str:
    """The tree (what each node is made of, its share, its operator), the total, alternatives."""
    parts = [f"{explanation.title}: {explanation.headline()}", "", *tree(explanation)]
    if notes := explanation.remarks:
        parts += ["", *map(printable, notes)]
    if len(explanation.alternatives) > 1:
        parts += ["", *_table(explanation)]
    return "\n".join(parts)


def tree(explanation: Explanation, figures: bool = True) -> list[str]:
    """The tree as lines, with or without figures."""
    rows = [("source", "", explanation.rest, ""), *_rows(explanation)]
    wide = [max(len(row[i]) for row in rows) for i in range(4)]
    return [
        f"{a:<{wide[0]}}  {b:<{wide[1]}}  {f'{c:>{wide[2]}}  ' if figures else ''}{d}".rstrip()
        for a, b, c, d in rows
    ]


def _rows(explanation: Explanation) -> Iterator[tuple[str, str, str, str]]:
    figures, operators = explanation.figures, explanation.operators

    def below(parent: str | None, indent: str) -> Iterator[tuple[str, str, str, str]]:
        children = explanation.plan.children(parent)
        for node in children:
            branch, deeper = ("└─ ", "   ") if node is children[-1] else ("├─ ", "│  ")
            label = indent + branch + explanation.label(node)
            yield label, explanation.made_of(node), figures[node.id], operators[node.id]
            yield from below(node.id, indent + deeper)

    return below(None, "")


def _table(explanation: Explanation) -> list[str]:
    width = max(len("strategy"), *(len(first.strategy) for first, _ in explanation.folded))
    cost = "" if explanation.model is None else f"  {explanation.model.unit:>16}"
    lines = [f"{'strategy':<{width}}  {'operator':<8}{cost}  {'predicted s':>11}"]
    for first, others in explanation.folded:
        chosen = "  ← chosen" if first.strategy == explanation.strategy else ""
        line = f"{first.strategy:<{width}}  {_cells(first, explanation)}{chosen}".rstrip()
        lines += _with_others(line, others)
    return lines


def _with_others(line: str, others: Sequence[str]) -> list[str]:
    """The names of equal strategies after the line, or below it where they are many."""
    if not others:
        return [line]
    names = "also " + ", ".join(others)
    if len(line) + 2 + len(names) <= WIDTH:
        return [f"{line}  {names}"]
    below = wrap(names, WIDTH - 7, break_on_hyphens=False)
    return [line, f"  {below[0]}", *(f"       {more}" for more in below[1:])]


def _cells(alternative: Alternative, explanation: Explanation) -> str:
    if alternative.cost is None:
        return f"{'–':<8}  {printable(alternative.note)}"
    cost = "" if explanation.model is None else f"  {number(alternative.cost):>16}"
    seconds = "" if alternative.seconds is None else number(alternative.seconds)
    return f"{alternative.operator or '–':<8}{cost}  {seconds:>11}"

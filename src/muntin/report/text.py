"""A plan as a text tree, with the strategies it was compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from muntin.plan import Node
from muntin.printable import printable
from muntin.report.explanation import Alternative, Explanation, number, times

WIDTH = 100
"""Where lines of names are broken."""


def text(explanation: Explanation) -> str:
    """The tree (each node's parent, pieces, cost and operator), the total and the alternatives."""
    rows = [("source", "", "", ""), *_tree(explanation, explanation.costs)]
    wide = [max(len(row[i]) for row in rows) for i in range(4)]
    tree = [f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c:>{wide[2]}}  {d}".rstrip() for a, b, c, d in rows]
    parts = [f"{explanation.strategy}: {explanation.headline()}", "", *tree]
    if explanation.notes:
        parts += ["", *map(printable, explanation.notes)]
    if explanation.alternatives:
        parts += ["", *_table(explanation)]
    return "\n".join(parts)


def _tree(
    explanation: Explanation,
    costs: Mapping[str, float],
    parent: str | None = None,
    indent: str = "",
) -> Iterator[tuple[str, str, str, str]]:
    children: list[Node] = explanation.plan.children(parent)
    for i, node in enumerate(children):
        last = i == len(children) - 1
        branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        label = indent + branch + explanation.label(node)
        operator = explanation.operators.get(node.id, "")
        yield label, explanation.made_of(node), number(costs[node.id]), operator
        yield from _tree(explanation, costs, node.id, indent + below)


def _table(explanation: Explanation) -> list[str]:
    width = max(len("strategy"), *(len(f.first.strategy) for f in explanation.folded))
    unit = explanation.model.unit
    lines = [f"{'strategy':<{width}}  {unit:>16}  against direct      predicted s"]
    for folded in explanation.folded:
        first = folded.first
        chosen = "  ← chosen" if first.strategy == explanation.strategy else ""
        line = f"{first.strategy:<{width}}  {_cells(first, explanation)}{chosen}"
        lines += _with_others(line, folded.others)
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
        return f"{'–':>16}  {printable(alternative.note)}"
    ratio = ""
    if explanation.direct is not None:
        ratio = times(explanation.direct / alternative.cost)
    seconds = "" if alternative.seconds is None else number(alternative.seconds)
    return f"{number(alternative.cost):>16}  {ratio:>14}  {seconds:>15}"

"""A plan as a text tree, with the strategies it was compared with."""

from __future__ import annotations

from collections.abc import Iterator

from muntin.plan import Node
from muntin.report.explanation import Alternative, Explanation, number, times


def text(explanation: Explanation) -> str:
    """The tree (each node's parent, pieces, cost and operator), the total and the alternatives."""
    rows = [("source", "", "", ""), *_tree(explanation)]
    wide = [max(len(row[i]) for row in rows) for i in range(4)]
    tree = [f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c:>{wide[2]}}  {d}".rstrip() for a, b, c, d in rows]
    parts = [f"{explanation.strategy}: {explanation.headline()}", "", *tree]
    if explanation.notes:
        parts += ["", *explanation.notes]
    if explanation.alternatives:
        parts += ["", *_table(explanation)]
    return "\n".join(parts)


def _tree(
    explanation: Explanation, parent: str | None = None, indent: str = ""
) -> Iterator[tuple[str, str, str, str]]:
    children: list[Node] = explanation.plan.children(parent)
    costs = explanation.costs
    for i, node in enumerate(children):
        last = i == len(children) - 1
        branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        label = indent + branch + explanation.label(node)
        operator = explanation.operators.get(node.id, "")
        yield label, explanation.made_of(node), number(costs[node.id]), operator
        yield from _tree(explanation, node.id, indent + below)


def _table(explanation: Explanation) -> list[str]:
    width = max(len("strategy"), *(len(a.strategy) for a in explanation.alternatives))
    unit = explanation.model.unit
    lines = [f"{'strategy':<{width}}  {unit:>16}  against direct  s per 10 M rows"]
    for alternative in explanation.alternatives:
        chosen = "  ← chosen" if alternative.strategy == explanation.strategy else ""
        lines.append(f"{alternative.strategy:<{width}}  {_cells(alternative, explanation)}{chosen}")
    return lines


def _cells(alternative: Alternative, explanation: Explanation) -> str:
    if alternative.cost is None:
        return f"{'–':>16}  {alternative.note}"
    ratio = ""
    if explanation.direct is not None:
        ratio = times(explanation.direct / alternative.cost)
    seconds = "" if alternative.seconds is None else number(alternative.seconds)
    return f"{number(alternative.cost):>16}  {ratio:>14}  {seconds:>15}"

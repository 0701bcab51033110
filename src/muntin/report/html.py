"""A plan as HTML, for notebooks: the picture and the table of alternatives."""

from __future__ import annotations

from html import escape

from muntin.printable import printable
from muntin.report.explanation import Explanation, number, times
from muntin.report.svg import svg

_CELL = "style='text-align:right;padding:2px 10px'"


def html(explanation: Explanation) -> str:
    """The headline, the tree as a picture, notes, and every strategy with its cost."""
    rows = []
    for folded in explanation.folded:
        alternative, others = folded.first, escape("".join(f", {n}" for n in folded.others))
        name = escape(alternative.strategy)
        chosen = alternative.strategy == explanation.strategy
        if alternative.cost is None:
            cells = f"<td {_CELL}>–</td><td colspan='2'>{escape(printable(alternative.note))}</td>"
        else:
            ratio = times(explanation.direct / alternative.cost) if explanation.direct else ""
            values = (number(alternative.cost), ratio, number(alternative.seconds or 0.0))
            cells = "".join(f"<td {_CELL}>{value}</td>" for value in values)
        rows.append(f"<tr><td>{f'<b>{name}</b>' if chosen else name}{others}</td>{cells}</tr>")
    notes = "".join(f"<p>{escape(printable(note))}</p>" for note in explanation.notes)
    return (
        f"<p><b>{escape(explanation.strategy)}</b>: {escape(explanation.headline())}</p>"
        f"{svg(explanation)}{notes}"
        f"<table><tr><th>strategy</th><th>{escape(explanation.model.unit)}</th>"
        f"<th>against direct</th><th>predicted s</th></tr>{''.join(rows)}</table>"
    )

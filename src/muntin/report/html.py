"""A plan as HTML, for notebooks: the picture and the table of alternatives."""

from __future__ import annotations

from html import escape

from muntin.errors import printable
from muntin.report.explanation import Explanation, number
from muntin.report.svg import svg

_CELL = "style='text-align:right;padding:2px 10px'"


def html(explanation: Explanation) -> str:
    """The headline, the tree as a picture, notes, and every strategy that was tried."""
    judged = explanation.model
    rows = []
    for alternative, equal in explanation.folded:
        name, others = escape(alternative.strategy), escape("".join(f", {n}" for n in equal))
        chosen = alternative.strategy == explanation.strategy
        if alternative.cost is None:
            note = escape(printable(alternative.note))
            cells = f"<td>–</td><td colspan='{1 if judged is None else 2}'>{note}</td>"
        else:
            seconds = "" if alternative.seconds is None else number(alternative.seconds)
            values = [seconds] if judged is None else [number(alternative.cost), seconds]
            cells = f"<td>{escape(alternative.operator or '–')}</td>"
            cells += "".join(f"<td {_CELL}>{value}</td>" for value in values)
        rows.append(f"<tr><td>{f'<b>{name}</b>' if chosen else name}{others}</td>{cells}</tr>")
    notes = "".join(f"<p>{escape(printable(note))}</p>" for note in explanation.remarks)
    unit = "" if judged is None else f"<th>{escape(judged.unit)}</th>"
    return (
        f"<p><b>{escape(explanation.title)}</b>: {escape(explanation.headline())}</p>"
        f"{svg(explanation)}{notes}"
        f"<table><tr><th>strategy</th><th>operator</th>{unit}<th>predicted s</th></tr>"
        f"{''.join(rows)}</table>"
    )

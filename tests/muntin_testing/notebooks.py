"""Run the cells of a notebook as Jupyter does, and collect what they show.

Jupyter itself is not needed: a cell prints, and shows its last expression if it is one. A figure of
matplotlib is shown as an SVG picture that is the same in every run, other values by their own
`_repr_html_`, or as text.
"""

from __future__ import annotations

import ast
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

Output = dict[str, Any]


def run_cell(source: str, names: dict[str, Any], number: int) -> list[Output]:
    """The outputs of one cell, as a notebook stores them; `names` are what cells define."""
    body = ast.parse(source).body
    last: ast.Expr | None = None
    if body and isinstance(body[-1], ast.Expr):
        last = body[-1]
        body = body[:-1]
    with redirect_stdout(StringIO()) as printed:
        exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    outputs: list[Output] = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(text)})
    if value is not None:
        shown = {"data": _data(value), "execution_count": number, "metadata": {}}
        outputs.append({**shown, "output_type": "execute_result"})
    return outputs


def _data(value: object) -> dict[str, list[str]]:
    """What is stored of a value, by the kind of its media."""
    if type(value).__module__.startswith("matplotlib."):
        return {"image/svg+xml": _lines(_svg(value)), "text/plain": ["a figure"]}
    plain = {"text/plain": _lines(repr(value))}
    html = getattr(value, "_repr_html_", None)
    return {"text/html": _lines(html()), **plain} if html is not None else plain


def _svg(figure: Any) -> str:
    import matplotlib
    from matplotlib import pyplot

    drawn = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "muntin", "svg.fonttype": "none"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None}, bbox_inches="tight")
    pyplot.close(figure)
    text = drawn.getvalue()
    return text[text.index("<svg") :]


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)

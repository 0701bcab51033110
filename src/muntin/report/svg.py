"""A plan as an SVG picture: the source on the left, each node right of its parent."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from muntin.plan import Node
from muntin.plan.slicing import Slices
from muntin.report.explanation import Explanation

_LETTER = 7.2
_ROW, _GAP, _BOX = 62, 40, 44
_FILL = {"source": "#1f2933", "asked": "#d7ebff", "factor": "#fff3d1", "slices": "#e3f6e5"}
_LINE = {"source": "#1f2933", "asked": "#3178c6", "factor": "#c98a00", "slices": "#3a8f4a"}
_FONT = "font-family='ui-sans-serif, system-ui, sans-serif' font-size='13'"


@dataclass(frozen=True, slots=True)
class _Box:
    x: float
    y: float
    width: float
    kind: str
    title: str
    detail: str


def svg(explanation: Explanation) -> str:
    """Boxes for nodes (asked for, factor windows, slices) with what each is made of."""
    boxes, links = _layout(explanation)
    width = max(b.x + b.width for b in boxes) + 20
    height = max(b.y for b in boxes) + _BOX + 20
    body = [_link(a, b) for a, b in links] + [_box(b) for b in boxes]
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0f} {height:.0f}' "
        f"width='{width:.0f}' height='{height:.0f}' role='img' aria-label='sharing plan'>"
        f"<rect width='100%' height='100%' rx='10' fill='#ffffff'/>{''.join(body)}</svg>"
    )


def _layout(explanation: Explanation) -> tuple[list[_Box], list[tuple[_Box, _Box]]]:
    levels = explanation.plan.levels()
    depth = {node.id: i for i, nodes in enumerate(levels, 1) for node in nodes}
    widths = [90.0] + [max(_width(explanation, node) for node in nodes) for nodes in levels]
    lefts = [20.0 + sum(widths[:i]) + _GAP * i for i in range(len(widths))]
    boxes: list[_Box] = []
    links: list[tuple[_Box, _Box]] = []
    row = 0

    def place(node: Node | None) -> _Box:
        nonlocal row
        children = explanation.plan.children(node.id if node else None)
        below = [place(child) for child in children]
        if below:
            y = (below[0].y + below[-1].y) / 2
        else:
            y = 20.0 + row * _ROW
            row += 1
        level = depth[node.id] if node else 0
        box = _Box(lefts[level], y, widths[level], *_words(explanation, node))
        boxes.append(box)
        links.extend((box, child) for child in below)
        return box

    place(None)
    return boxes, links


def _words(explanation: Explanation, node: Node | None) -> tuple[str, str, str]:
    if node is None:
        return "source", "source", "one read"
    kind = "slices" if isinstance(node.shape, Slices) else "factor" if node.hidden else "asked"
    figure = explanation.figures[node.id]
    made_of = explanation.made_of(node).partition(" of ")[0]  # the line says of what
    own = f"{made_of} · {figure}" if explanation.model is None else f"{made_of} · cost {figure}"
    return kind, explanation.label(node), own


def _width(explanation: Explanation, node: Node) -> float:
    _, title, detail = _words(explanation, node)
    return max(len(title) * _LETTER * 1.15, len(detail) * _LETTER * 0.86) + 24


def _box(box: _Box) -> str:
    ink = "#ffffff" if box.kind == "source" else "#1f2933"
    return (
        f"<rect x='{box.x:.0f}' y='{box.y:.0f}' width='{box.width:.0f}' height='{_BOX}' rx='7' "
        f"fill='{_FILL[box.kind]}' stroke='{_LINE[box.kind]}'/>"
        f"<text x='{box.x + 12:.0f}' y='{box.y + 19:.0f}' fill='{ink}' {_FONT} "
        f"font-weight='600'>{escape(box.title)}</text>"
        f"<text x='{box.x + 12:.0f}' y='{box.y + 35:.0f}' fill='{ink}' {_FONT} "
        f"style='font-size:11px' opacity='0.8'>{escape(box.detail)}</text>"
    )


def _link(parent: _Box, child: _Box) -> str:
    x1, y1 = parent.x + parent.width, parent.y + _BOX / 2
    x2, y2 = child.x, child.y + _BOX / 2
    middle = (x1 + x2) / 2
    return (
        f"<path d='M{x1:.0f} {y1:.0f}C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} "
        f"{y2:.0f}' fill='none' stroke='#8896a5' stroke-width='1.5'/>"
    )

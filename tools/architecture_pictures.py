"""Draw docs/images/architecture.svg and docs/images/imports.svg for docs/architecture.md.

    .venv/bin/python tools/architecture_pictures.py

The first shows the way of a query. The second shows which package imports which, read from the
imports themselves, in the order of the layers in pyproject.toml. tests/test_architecture.py says
when either is out of date.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
FONT = "font-family='ui-sans-serif, system-ui, sans-serif'"
INK, MUTED, LINE = "#1f2933", "#5b6875", "#8896a5"
BLUE, GREEN, YELLOW, PALE = "#d7ebff", "#e3f6e5", "#fff3d1", "#f3f5f7"
LEFT, TOP, STEP, CELL = 20, 128, 30, 26


def text(x: float, y: float, words: str, size: int = 12, fill: str = INK, more: str = "") -> str:
    """Words at a place."""
    return (
        f"<text x='{x:g}' y='{y:g}' {FONT} font-size='{size}' fill='{fill}' {more}>{words}</text>"
    )


def box(x: float, y: float, width: float, height: float, fill: str, line: str = LINE) -> str:
    """A box with round corners."""
    return (
        f"<rect x='{x:g}' y='{y:g}' width='{width:g}' height='{height:g}' rx='5' "
        f"fill='{fill}' stroke='{line}'/>"
    )


def arrow(*points: tuple[float, float]) -> str:
    """An arrow along these points."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f"<polyline points='{path}' fill='none' stroke='{MUTED}' marker-end='url(#head)'/>"


def picture(width: float, height: float, label: str, parts: list[str]) -> str:
    """All parts on white, so that it can be read on a dark page too."""
    head = (
        "<defs><marker id='head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' "
        f"markerHeight='7' orient='auto'><path d='M0,0 L8,4 L0,8 z' fill='{MUTED}'/>"
        "</marker></defs>"
    )
    lines = "\n".join([head, "<rect width='100%' height='100%' rx='10' fill='#ffffff'/>", *parts])
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' "
        f"width='{width:g}' height='{height:g}' role='img' aria-label='{label}'>\n{lines}\n</svg>\n"
    )


def station(x: float, y: float, title: str, below: str, fill: str, width: float = 150) -> list[str]:
    """A box with a title and where its code is."""
    middle = "text-anchor='middle'"
    return [
        box(x, y, width, 52, fill),
        text(x + width / 2, y + 22, title, 13, more=f"{middle} font-weight='600'"),
        text(x + width / 2, y + 40, below, 11, MUTED, middle),
    ]


def way_of_a_query() -> str:
    """Query, strategies, sharing plan, operators, lowering, engines."""
    parts = [
        *station(20, 40, "query", "api, model", PALE, 110),
        *station(170, 40, "strategies", "planner/strategies", GREEN),
        *station(360, 40, "SharingPlan", "plan: tree, check", BLUE),
        *station(550, 40, "operators", "physical/operators", GREEN),
        *station(740, 40, "PhysicalPlan", "physical/lowering.py", BLUE),
        *station(740, 170, "engines", "engines/spark, engines/duckdb", YELLOW, 190),
        *station(550, 170, "explain()", "report", YELLOW),
        *station(980, 170, "rows", "long or wide", PALE, 110),
        arrow((130, 66), (168, 66)),
        arrow((320, 66), (358, 66)),
        arrow((510, 66), (548, 66)),
        arrow((700, 66), (738, 66)),
        arrow((835, 92), (835, 168)),
        arrow((930, 196), (978, 196)),
        arrow((770, 92), (770, 130), (625, 130), (625, 168)),
        arrow((625, 40), (625, 22), (435, 22), (435, 38)),
        text(530, 16, "rewrite, checked anew", 11, MUTED, "text-anchor='middle'"),
        text(339, 106, "build", 11, MUTED, "text-anchor='middle'"),
        text(720, 106, "lower", 11, MUTED, "text-anchor='middle'"),
        text(625, 108, "price", 11, MUTED, "text-anchor='middle'"),
        text(20, 190, "The same PhysicalPlan goes to both:", 12, MUTED),
        text(20, 208, "what is explained is what runs.", 12, MUTED),
        text(20, 226, "Blue: values. Green: chosen by predicted seconds.", 12, MUTED),
    ]
    return picture(1110, 244, "the way of a query through Muntin", parts)


def layers() -> list[list[str]]:
    """The packages from the top layer to the bottom one; the lab stands above all."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    rows = [[name.strip(" ()") for name in row.split("|")] for row in contract["layers"]]
    return [["lab"], *rows]


def imported_by(file: Path) -> Iterator[str]:
    """The modules that a file imports, without those that only type checkers see."""
    todo: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        todo.extend(ast.iter_child_nodes(node))


def imports_of(package: str) -> tuple[set[str], set[str]]:
    """The packages of ours that a package imports, and the libraries."""
    place = ROOT / "lab" if package == "lab" else ROOT / "src" / "muntin" / package
    files = [f for f in place.rglob("*.py") if "tests" not in f.parts] or [place.with_suffix(".py")]
    modules = {module for file in files for module in imported_by(file)}
    ours = {module.split(".")[1] for module in modules if module.startswith("muntin.")}
    others = {module.split(".")[0] for module in modules} - {"muntin", "lab"}
    return ours - {package}, {name for name in others if name not in sys.stdlib_module_names}


def import_graph() -> str:
    """A row for each package, top layer first; a dot in the column of each package it imports."""
    rows = layers()
    names = [name for row in rows for name in row]
    place = {name: LEFT + 130 + CELL * i for i, name in enumerate(names)}
    right, bottom = place[names[-1]] + CELL, TOP + STEP * len(names)
    parts = [text(LEFT, 24, "A dot: the package of the row imports that of the column.", 12, MUTED)]
    parts.append(text(LEFT, 42, "All dots are above the diagonal.", 12, MUTED))
    parts.append(text(right + 16, TOP - 12, "libraries", 12, MUTED))
    for name in names[1:]:
        x = place[name] + CELL / 2
        turned = f"transform='rotate(-55 {x:g} {TOP - 10})'"
        parts.append(text(x, TOP - 10, name, 12, INK, turned))
    for i, name in enumerate(names):
        y = TOP + STEP * i
        ours, libraries = imports_of(name)
        beside = next(len(row) > 1 for row in rows if name in row)
        parts.append(box(LEFT, y + 3, 116, STEP - 6, YELLOW if beside else BLUE))
        parts.append(text(LEFT + 10, y + 19, name))
        parts.append(
            f"<line x1='{LEFT + 120}' x2='{right:g}' y1='{y + STEP / 2:g}' y2='{y + STEP / 2:g}' "
            "stroke='#e4e7eb'/>"
        )
        for other in names:
            x = place[other] + CELL / 2
            if other == name:
                parts.append(box(x - 5, y + 10, 10, 10, "#ffffff"))
            elif other in ours:
                parts.append(f"<circle cx='{x:g}' cy='{y + STEP / 2:g}' r='6' fill='#3178c6'/>")
        parts.append(text(right + 16, y + 19, ", ".join(sorted(libraries)), 11, MUTED))
    note = "Yellow: beside each other in one layer, so neither imports the other."
    parts.append(text(LEFT, bottom + 20, note, 12, MUTED))
    return picture(right + 330, bottom + 34, "which package imports which", parts)


PICTURES = {"architecture.svg": way_of_a_query, "imports.svg": import_graph}


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (IMAGES / name).write_text(draw(), encoding="utf-8")
        print(f"written: {IMAGES / name}")

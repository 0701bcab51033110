"""How every experiment and benchmark reports: tables, CSV files and pictures."""

from __future__ import annotations

import csv
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.axes import Axes

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
Records = Sequence["DataclassInstance | Mapping[str, object]"]

MARKS = "osv^Dx+*Pd"
ORANGE, GREEN, BLUE, RED = "#e07b39", "#2a7f3f", "#56a0d3", "#b03030"


def new_table(
    title: str, *columns: str, rows: Iterable[Sequence[object]] = (), group: int = 0, **look: Any
) -> Table:
    """A table with its title at the left, and a line wherever the first `group` cells change.

    A column whose name begins with < is left-aligned. What follows | is the format of its numbers;
    None is shown as a dash.

    >>> table = new_table("costs", "<set", "cost|.1f", rows=[("a", 1), ("b", None)])
    >>> [(column.justify, list(column.cells)) for column in table.columns]
    [('left', ['a', 'b']), ('right', ['1.0', '—'])]
    """
    table = Table(title=title and f"\n{title}", title_justify="left", **look)
    formats = [column.partition("|")[2] for column in columns]
    for name in columns:
        header = name.removeprefix("<").partition("|")[0]
        table.add_column(header, justify="left" if name[:1] == "<" else "right")
    before: Sequence[object] = ()
    for row in rows:
        if before[:group] != row[:group] and before:
            table.add_section()
        before = row
        table.add_row(*map(_cell, row, formats))
    return table


def _cell(value: object, form: str) -> str:
    if value is None:
        return "—"
    return value if isinstance(value, str) else format(value, form)


def write_files(
    folder: Path | None,
    console: Console,
    tables: Mapping[str, Records],
    pictures: Mapping[str, Callable[[Path], None]],
) -> None:
    """Write tables as CSV under their fields' names, draw, and say so; nothing without a folder."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, records in tables.items():
        rows = [dict(each) if isinstance(each, Mapping) else asdict(each) for each in records]
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    for name, draw in pictures.items():
        draw(folder / name)
    console.print(f"\nwritten to {folder}: {', '.join([*tables, *pictures])}", soft_wrap=True)


def group_by(rows: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The rows of each key, keys in the order in which they come first.

    >>> group_by([3, 1, 4, 2], lambda n: n % 2)
    {1: [3, 1], 0: [4, 2]}
    """
    groups: dict[K, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


@contextmanager
def picture(
    path: Path,
    size: tuple[float, float],
    rows: int = 1,
    columns: int = 1,
    *,
    grid: str = "both",
    legend: int = 0,
    dpi: int = 110,
    **share: Any,
) -> Iterator[list[Axes]]:
    """The axes of a picture, row by row, which is saved at the end; without a display.

    `legend` is how many columns one legend for all axes has, beneath them; 0 for none.
    """
    from matplotlib import rc_context  # matplotlib is optional
    from matplotlib.figure import Figure

    look: dict[Any, Any] = {
        "axes.titlesize": 10,
        "axes.grid": True,
        "axes.grid.axis": grid,
        "grid.alpha": 0.3,
    }
    with rc_context(look | {"axes.axisbelow": True, "legend.frameon": False}):
        figure = Figure(figsize=size, layout="constrained")
        axes: list[Axes] = list(figure.subplots(rows, columns, squeeze=False, **share).flat)
        yield axes
        if legend:
            handles = [axis.get_legend_handles_labels() for axis in axes]
            known = {text: line for each in handles for line, text in zip(*each, strict=True)}
            below: Any = "outside lower center"
            figure.legend(known.values(), known.keys(), loc=below, ncols=legend)
        figure.savefig(path, dpi=dpi)


def draw_line(
    axis: Axes, points: Iterable[tuple[float, float]], label: str, number: int, **style: Any
) -> None:
    """A line with marks; its number chooses mark and colour, the same in every panel."""
    look: dict[str, Any] = {"marker": MARKS[number % len(MARKS)], "color": f"C{number}"}
    if found := list(points):
        axis.plot(*zip(*found, strict=True), **(look | {"ms": 5, "lw": 1.2} | style), label=label)

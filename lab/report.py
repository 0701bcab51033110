"""How every experiment and benchmark reports: tables, CSV files and pictures."""

from __future__ import annotations

import csv
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.table import Table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.axes import Axes

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

MARKS = "osv^Dx+*Pd"
ORANGE, GREEN, BLUE, RED = "#e07b39", "#2a7f3f", "#56a0d3", "#b03030"


def new_table(title: str, *columns: str, **look: Any) -> Table:
    """A table with its title at the left; columns whose names begin with < are left-aligned.

    >>> [column.justify for column in new_table("costs", "<set", "cost").columns]
    ['left', 'right']
    """
    table = Table(title=f"\n{title}", title_justify="left", **look)
    for name in columns:
        table.add_column(name.removeprefix("<"), justify="left" if name[:1] == "<" else "right")
    return table


def write_csv(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Rows of cells under a header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def write_records(path: Path, records: Sequence[DataclassInstance]) -> None:
    """Records of one kind under the names of their fields."""
    write_csv(path, [field.name for field in fields(records[0])], map(astuple, records))


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
    from matplotlib.figure import Figure  # matplotlib is optional

    figure = Figure(figsize=size, layout="constrained")
    axes: list[Axes] = list(figure.subplots(rows, columns, squeeze=False, **share).flat)
    yield axes
    for axis in axes:
        axis.grid(axis=grid, alpha=0.3)  # type: ignore[arg-type]
        axis.set_axisbelow(True)
    if legend:
        handles = [axis.get_legend_handles_labels() for axis in axes]
        known = {text: line for each in handles for line, text in zip(*each, strict=True)}
        below: dict[str, Any] = {"loc": "outside lower center", "ncols": legend, "frameon": False}
        figure.legend(known.values(), known.keys(), **below)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi)


def draw_line(
    axis: Axes, points: Iterable[tuple[float, float]], label: str, number: int, **style: Any
) -> None:
    """A line with marks; its number chooses mark and colour, the same in every panel."""
    look: dict[str, Any] = {
        "marker": MARKS[number % len(MARKS)],
        "color": f"C{number}",
        "ms": 5,
        "lw": 1.2,
    }
    if found := list(points):
        axis.plot(*zip(*found, strict=True), **(look | style), label=label)

"""growth: seconds against rows, windows, keys and overlap, on a batch and on a stream.

Each axis grows one thing and leaves the others as they are:

    rows     a tenth to ten times --rows, five windows (mixed), 100 keys
    windows  1 to 1,000, hopping by whole minutes
    keys     1 to 1,000,000
    overlap  one window whose range is 1 to 10,000 slides

A side is first run at the smallest place, to warm up. Before each further place its time is
predicted from the places behind it; if that exceeds the limit, or what the side has left of its
time, it is not run, and the table says so. The slope is that of the least squares line through the
logarithms: 1 is proportional, 0 is constant. `--out` keeps a table of all axes that were run, and
draws it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lab.benchmarks.growth_sides import Point, Side, sides_of
from lab.benchmarks.workload import SETS
from lab.registry import Options
from lab.report import draw_line, group_by, new_table, picture, write_files
from lab.timing import machine, start_spark
from muntin.cli.calibration_cases import minute_windows
from muntin.model.windows import Window

LIMIT = 25.0
"""Seconds that a place is predicted to take at most."""
BUDGET = 60.0
"""Seconds for a side of an axis; what is left then is not run."""
SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Measured:
    """A side at one place of an axis: seconds, or why there are none."""

    axis: str
    side: str
    at: float
    seconds: float | None
    note: str = ""


def _rows(rows: int) -> list[Point]:
    sizes = (rows // 10, rows * 3 // 10, rows, rows * 3, rows * 10)
    return [Point(size, SETS["mixed"], size) for size in sizes]


def _windows(rows: int) -> list[Point]:
    asked = SETS["thousand"]
    return [Point(many, asked[:many], rows // 5) for many in (1, 10, 100, 1000)]


def _keys(rows: int) -> list[Point]:
    many = (1, 100, 10_000, 1_000_000)
    return [Point(keys, minute_windows((1, 1), (60, 5)), rows // 5, keys) for keys in many]


def _overlap(rows: int) -> list[Point]:
    ranges = (1, 10, 100, 1000, 10_000)
    return [Point(r, (Window(r * SECOND, SECOND),), rows // 10, keys=10) for r in ranges]


AXES: dict[str, Callable[[int], list[Point]]] = {
    "rows": _rows,
    "windows": _windows,
    "keys": _keys,
    "overlap": _overlap,
}
"""The places of each axis, smallest first."""


def run(options: Options, console: Console) -> None:
    """Measure each axis, print its table, and renew the table and the picture of all."""
    names = options.choose(AXES, "set")
    spark = start_spark(console)
    console.print(f"{options.rows:,} events, min/max/avg; {machine()}, Spark {spark.version}")
    sides = sides_of(spark, options.data)
    for name in names:
        found = measure(name, AXES[name](options.rows), sides)
        console.print(_table(name, found))
        if options.out is not None:
            save(options.out, found, console)
    spark.stop()


def measure(axis: str, points: Sequence[Point], sides: Mapping[str, Side]) -> list[Measured]:
    """Every side at every place, place by place, within the limit and the budget."""
    found: list[Measured] = []
    for side in sides.values():
        side(points[0], LIMIT)  # compiles, and writes the smallest files
    for point in points:
        for name, side in sides.items():
            own = [each for each in found if each.side == name]
            left = BUDGET - sum(each.seconds or 0.0 for each in own)
            found.append(_measure(axis, name, side, point, own, left))
    return found


def _measure(
    axis: str, name: str, side: Side, point: Point, own: Sequence[Measured], left: float
) -> Measured:
    if any(each.seconds is None for each in own):
        return Measured(axis, name, point.at, None, "not run: a smaller place was too much")
    expected = predict([(each.at, each.seconds) for each in own if each.seconds], point.at)
    if expected > min(LIMIT, left):
        return Measured(axis, name, point.at, None, f"not run: predicted {expected:.0f} s")
    seconds = side(point, LIMIT)
    note = "" if seconds is not None else f"stopped after {LIMIT:.0f} s"
    return Measured(axis, name, point.at, seconds, note)


def predict(points: Sequence[tuple[float, float]], at: float) -> float:
    """Seconds at a place further on, along the power through the last two, and no fewer than there.

    One place alone tells no power: it is taken to be a quarter, since much of it is start-up.

    >>> predict([], 10), round(predict([(1, 2.0)], 100), 1)
    (0.0, 6.3)
    >>> round(predict([(1, 1.0), (10, 10.0)], 1000))
    1000
    """
    if len(points) < 2:
        return max((seconds * (at / place) ** 0.25 for place, seconds in points), default=0.0)
    (x1, y1), (x2, y2) = points[-2:]
    return max(y2 * exp(log(at / x2) * log(y2 / y1) / log(x2 / x1)), y2)


def slope(points: Sequence[tuple[float, float]]) -> float | None:
    """How steep the line of least squares through the logarithms is; None of a single point.

    >>> slope([(1, 3.0), (10, 30.0), (100, 300.0)])
    1.0
    """
    if len(points) < 2:
        return None
    xs, ys = ([log(point[i]) for point in points] for i in (0, 1))
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    steep = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
    return round(steep / sum((a - x) ** 2 for a in xs), 12)


def _points(found: Sequence[Measured]) -> list[tuple[float, float]]:
    return [(each.at, each.seconds) for each in found if each.seconds is not None]


def _table(axis: str, found: Sequence[Measured]) -> Table:
    by_side = group_by(found, lambda each: each.side)
    places = list(dict.fromkeys(each.at for each in found))
    table = new_table(f"{axis}: seconds", "<side", *(f"{at:,.0f}" for at in places), "slope")
    for side, own in by_side.items():
        cells = [f"{m.seconds:.2f}" if m.seconds is not None else m.note for m in own]
        steep = slope(_points(own))
        table.add_row(side, *cells, "–" if steep is None else f"{steep:.2f}")
    return table


def save(folder: Path, found: Sequence[Measured], console: Console) -> None:
    """Renew these axes in the table of all, and draw it."""
    path = folder / "growth.csv"
    axes = {each.axis for each in found}
    kept = [each for each in _load(path) if each.axis not in axes] if path.exists() else []
    everything = sorted([*kept, *found], key=lambda each: list(AXES).index(each.axis))
    pictures = {"growth.png": lambda file: _draw(file, everything)}
    write_files(folder, console, {path.name: everything}, pictures)


def _load(path: Path) -> list[Measured]:
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Measured(
                row["axis"],
                row["side"],
                float(row["at"]),
                float(row["seconds"]) if row["seconds"] else None,
                row["note"],
            )
            for row in csv.DictReader(file)
        ]


def _draw(path: Path, found: Sequence[Measured]) -> None:
    by_axis = group_by(found, lambda each: each.axis)
    with picture(path, (11, 4 * -(-len(by_axis) // 2)), -(-len(by_axis) // 2), 2) as axes:
        for spare in axes[len(by_axis) :]:
            spare.set_visible(False)
        for axis, (name, own) in zip(axes, by_axis.items(), strict=False):
            for number, (side, some) in enumerate(group_by(own, lambda m: m.side).items()):
                points = _points(some)
                steep = slope(points)
                label = side if steep is None else f"{side}, slope {steep:.2f}"
                draw_line(axis, points, label, number)
            axis.set(xscale="log", yscale="log", xlabel=name, ylabel="seconds")
            axis.legend(fontsize=8)

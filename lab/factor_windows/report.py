"""factor-windows: Figures 11 to 15 of the factor-windows paper, with `steiner` beside them.

What the paper says of its figures (section 5.3) stands beside what ours show. Files:
factor_windows.csv, fewest_pieces.csv, factor_windows_11.png … _15.png.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table

from lab.factor_windows.run import (
    PANELS,
    TECHNIQUES,
    Costs,
    Gain,
    Panel,
    Row,
    fewest_gains,
    panel_rows,
)
from lab.registry import Options
from lab.report import BLUE, GREEN, ORANGE, group_by, new_table, picture, write_files

PAPER_SETS = 10
COLOURS = ("#4d4d4d", "#999999", BLUE, "#f0b35e", ORANGE, GREEN)


def run(options: Options, console: Console) -> list[Row]:
    """Compute, print, and write into the folder if one is given."""
    count = options.sets or PAPER_SETS
    jobs = [(panel, index) for panel in PANELS for index in range(count)]
    rows: list[Row] = []
    for panel, index in track(jobs, "Figures 11 to 15", console=console, transient=True):
        rows += panel_rows(panel, index, options.seed)
    costs, gains = Costs(rows), fewest_gains(options.seed, count, console)
    for panel in costs.panels:
        console.print(f"\n{panel.title}", style="italic", highlight=False)
        console.print(_panel_table(costs, panel))
    console.print(_summary_table(costs), _observation_table(costs), _gain_table(gains))
    pieces = [
        {"generator": g.generator, "shape": g.shape, "aggregate": g.aggregate, **g.costs}
        for g in gains
    ]
    figures = group_by(costs.panels, lambda panel: f"factor_windows_{panel.figure}.png")
    write_files(
        options.out,
        console,
        {"factor_windows.csv": [r.cells for r in rows], "fewest_pieces.csv": pieces},
        {name: partial(_draw, costs, panels) for name, panels in figures.items()},
    )
    return rows


def _panel_table(costs: Costs, panel: Panel) -> Table:
    """A technique a row, a window set a column, and the mean cost relative to BL."""
    rows = [
        (name, *map(_short, costs.of(panel, name)), costs.mean([panel], name, "BL"))
        for name in TECHNIQUES
    ]
    numbers = map(str, range(1, len(rows[0]) - 1))
    look: dict[str, Any] = {"box": SIMPLE_HEAD, "pad_edge": False}
    return new_table("", "<set", *numbers, "to BL|.4f", rows=rows, **look)


def _short(cost: float) -> str:
    """Three digits and an exponent.

    >>> _short(48_000)
    '4.80e4'
    """
    mantissa, exponent = f"{cost:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _summary_table(costs: Costs) -> Table:
    """A panel a row: the mean cost of each technique relative to BL."""
    rows = (
        (panel.title.removeprefix("Figure "), *(costs.mean([panel], t, "BL") for t in TECHNIQUES))
        for panel in costs.panels
    )
    columns = (f"{technique}|.4f" for technique in TECHNIQUES)
    return new_table("Mean cost relative to BL (geometric)", "<figure", *columns, rows=rows)


def _gain_table(gains: Sequence[Gain]) -> Table:
    """Mean costs relative to BL, by the paper's multiplier and by the fewest pieces."""
    names = list(gains[0].costs)[1:]
    rows = [
        (*kind, *(geometric_mean(g.costs[name] / g.costs["BL"] for g in same) for name in names))
        for kind, same in group_by(gains, lambda g: (g.generator, g.shape, g.aggregate)).items()
    ]
    title = (
        "What fewest pieces gain over the paper's multiplier (mean cost relative to BL, η = 100)"
    )
    columns = ("<sets", "<windows", "<aggregate", *(f"{name}|.5f" for name in names))
    return new_table(title, *columns, rows=rows)


def _observation_table(costs: Costs) -> Table:
    """Section 5.3, sentence by sentence, with our figures."""
    columns = ("<the paper (section 5.3)", "<here (geometric means of cost ratios)")
    rows = _observations(costs)
    table = new_table("The paper's observations and ours", *columns, rows=rows, show_lines=True)
    for column in table.columns:
        column.ratio = 1
    return table


def _observations(costs: Costs) -> Iterator[tuple[str, str]]:
    """The paper's sentences with our figures, then what is not in the paper."""

    def panels(generators: str, shapes: str = "general tumbling") -> list[Panel]:
        known = [p for p in costs.panels if p.generator in generators.split()]
        return [p for p in known if p.shape in shapes.split()]

    def means(panels: list[Panel], *pairs: str) -> str:
        found = ((pair, costs.mean(panels, *pair.split("/"))) for pair in pairs)
        return ", ".join(f"{pair} {mean:.3g}" for pair, mean in found)

    def by_shape(pair: str) -> str:
        shapes = ("general", "tumbling")
        return ", ".join(f"{means(panels('RandomGen', s), pair)} {s}" for s in shapes)

    above = costs.ratios(costs.panels, "UP", "BL")
    yield (
        "BL performs the worst overall, but is sometimes comparable to UP and WCG.",
        f"BL is dearer than UP for {sum(r < 1 for r in above)} of {len(above)} sets; where it is "
        f"not, UP is at most {max(above):.3g} times as dear",
    )
    yield (
        "RandomGen: UP significantly outperforms BL on general windows; on tumbling windows it "
        "is the same or worse.",
        by_shape("UP/BL"),
    )
    random = panels("RandomGen")
    yield (
        "RandomGen: SP can improve over UP by more than 10×.",
        f"{means(random, 'UP/SP')}, at most {max(costs.ratios(random, 'UP', 'SP')):.3g}: "
        f"with five windows UP reads the events five times, SP once",
    )
    yield (
        "RandomGen: WCG improves over BL in a couple of cases on general windows, and on "
        "tumbling windows outperforms both BL and UP dramatically.",
        by_shape("WCG/BL"),
    )
    yield (
        "RandomGen: WCG-FW improves over WCG significantly and is similar to SP.",
        f"{by_shape('WCG-FW/WCG')}; {means(random, 'WCG-FW/SP')}",
    )
    yield (
        "ChainGen, StarGen, general: WCG is between UP and BL, WCG-FW at the level of SP.",
        means(panels("ChainGen StarGen", "general"), "WCG/BL", "WCG/UP", "WCG-FW/SP"),
    )
    yield (
        "ChainGen, StarGen, tumbling: WCG almost the same as WCG-FW and SP.",
        means(panels("ChainGen StarGen", "tumbling"), "WCG/WCG-FW", "WCG/SP"),
    )
    yield (
        "RandomGraphGen: BL and UP are the worst; WCG-FW is no worse than WCG and sometimes "
        "the same as SP.",
        means(panels("RandomGraphGen"), "BL/SP", "UP/SP", "WCG-FW/WCG", "WCG-FW/SP"),
    )
    ours = costs.ratios(costs.panels, "steiner", "WCG-FW")
    yield (
        "(not in the paper)",
        f"{means(costs.panels, 'steiner/WCG-FW', 'steiner/SP')}; steiner against WCG-FW from "
        f"{min(ours):.3g} to {max(ours):.3g}",
    )


def _draw(costs: Costs, panels: Sequence[Panel], path: Path) -> None:
    """Costs on a logarithmic axis: a panel an axis, a window set a group of bars."""
    width = 0.8 / len(TECHNIQUES)
    size = (5.4 * len(panels), 3.9)
    with picture(path, size, columns=len(panels), grid="y", legend=6) as axes:
        axes[0].set_ylabel("cost over lcm(R, S), in events")
        for axis, panel in zip(axes, panels, strict=True):
            for i, (technique, colour) in enumerate(zip(TECHNIQUES, COLOURS, strict=True)):
                values = costs.of(panel, technique)
                places = [n + 1 + (i - 2.5) * width for n in range(len(values))]
                axis.bar(places, values, width, label=technique, color=colour)
            axis.set(title=panel.title, xlabel="window set", yscale="log")
            axis.set_xticks(range(1, len(values) + 1))

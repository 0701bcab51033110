"""The equivalents of Figures 11–14 of the multi-query paper, for techniques and kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from lab.benchmarks.technique_times import Measured

MARKS = "osv^DxP*d+"


def draw(found: Sequence[Measured], multi: Sequence[tuple[str, int, float]], folder: Path) -> None:
    """All four pictures."""
    _throughput(found, folder / "techniques_throughput.png")
    _multi_query(multi, folder / "techniques_multi.png")
    _memory(found, folder / "techniques_memory.png")
    _latency(found, folder / "techniques_latency.png")


def _panels(found: Sequence[Measured]) -> tuple[Any, list[tuple[Axes, str]]]:
    aggregates = list(dict.fromkeys(m.aggregate for m in found))
    figure, axes = plt.subplots(
        1, len(aggregates), figsize=(6 * len(aggregates), 4.8), sharey=True, squeeze=False
    )
    return figure, list(zip(axes[0], aggregates, strict=True))


def _lines(axis: Axes, found: Sequence[Measured], aggregate: str, read: Any) -> None:
    for i, what in enumerate(dict.fromkeys(m.what for m in found)):  # one colour in all panels
        points = [(m.n, read(m)) for m in found if (m.what, m.aggregate) == (what, aggregate)]
        if points:
            style: dict[str, Any] = {"marker": MARKS[i % 10], "color": f"C{i}", "ms": 5}
            width = 2.5 if what.startswith("kernel") else 1
            axis.plot(*zip(*points, strict=True), **style, lw=width, label=what)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlabel("n, values in the window")
    axis.grid(alpha=0.3)


def _legend(figure: Any, panels: list[tuple[Axes, str]]) -> None:
    """One for all panels, beneath them."""
    known: dict[str, Any] = {}
    for axis, _ in panels:
        known |= {text: line for line, text in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(known.values(), known.keys(), loc="lower center", ncols=5, frameon=False)
    figure.tight_layout(rect=(0, 0.1, 1, 1))


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _throughput(found: Sequence[Measured], path: Path) -> None:
    """Figure 11: answers a second, one query."""
    figure, panels = _panels(found)
    for axis, aggregate in panels:
        _lines(axis, found, aggregate, lambda m: 1e9 / m.mean)
        axis.set_title(f"Answers a second, one query: {aggregate} of doubles")
    panels[0][0].set_ylabel("answers a second")
    _legend(figure, panels)
    _save(figure, path)


def _multi_query(multi: Sequence[tuple[str, int, float]], path: Path) -> None:
    """Figure 12: slides a second, a query for every range."""
    figure, axis = plt.subplots(figsize=(7, 4.8))
    for i, what in enumerate(dict.fromkeys(row[0] for row in multi)):
        points = [(n, rate) for name, n, rate in multi if name == what]
        axis.plot(*zip(*points, strict=True), marker=MARKS[i % 10], lw=1, label=what)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set(xlabel="n, values in the window and queries (ranges 1 … n)")
    axis.set(ylabel="slides a second", title="Slides a second with queries of all ranges: max")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False)
    figure.tight_layout()
    _save(figure, path)


def _memory(found: Sequence[Measured], path: Path) -> None:
    """Figure 13: bytes held."""
    structures = [m for m in found if not m.what.startswith("kernel")]
    figure, panels = _panels(structures)
    for axis, aggregate in panels:
        _lines(axis, structures, aggregate, lambda m: m.bytes)
        axis.set_title(f"Memory of one window: {aggregate} of doubles")
    panels[0][0].set_ylabel("bytes")
    _legend(figure, panels)
    _save(figure, path)


def _latency(found: Sequence[Measured], path: Path) -> None:
    """Figure 14: boxes from the 25th to the 75th percentile, lines from lowest to highest."""
    part = [m for m in found if m.p50 == m.p50]
    sizes = sorted({m.n for m in part})
    n = sizes[-2] if len(sizes) > 1 else sizes[0]
    figure, panels = _panels(part)
    for axis, aggregate in panels:
        rows = [m for m in part if m.aggregate == aggregate and m.n == n]
        boxes = [
            {"label": m.what, "whislo": m.lowest, "q1": m.p25, "med": m.p50, "q3": m.p75,
             "whishi": m.highest, "fliers": []}
            for m in rows
        ]  # fmt: skip
        axis.bxp(boxes, showfliers=False)
        axis.plot(range(1, len(rows) + 1), [m.p99 for m in rows], "r_", ms=14, label="p99")
        axis.set_yscale("log")
        axis.tick_params(axis="x", rotation=40)
        axis.grid(axis="y", alpha=0.3)
        axis.set_title(f"Latency of a slide: {aggregate} of doubles, n = {n:,}")
    panels[0][0].set_ylabel("nanoseconds")
    panels[-1][0].legend(frameon=False)
    figure.tight_layout()
    _save(figure, path)

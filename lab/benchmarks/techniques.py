"""techniques: nanoseconds a slide of every technique and bulk kernel, for sum and max of doubles.

A slide of a technique inserts one value into a full window, which evicts the oldest, and queries.
It is timed from the first slide after the window is full, for one window length where time allows,
so that flips and resets fall into the run. The clock is the thread's own processor time, so other
programs on the machine make no spikes; its own cost is taken off, and garbage collection is off.
A kernel answers all windows of an array in one call: the best of some rounds, divided by their
number. The techniques are plain Python and pay for the interpreter at every operation: their
figures compare with each other, the kernels' with NumPy.

Files: techniques.csv, techniques_multi.csv, Figures 11–14 of the multi-query paper as pictures.
"""

from __future__ import annotations

import gc
import inspect
import sys
import tracemalloc
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, thread_time_ns
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from lab.registry import Options
from lab.report import draw_line, group_by, new_table, picture, write_files
from lab.timing import machine
from muntin import kernels
from muntin.aggregates import Aggregate, max, sum
from muntin.incremental import Technique, techniques_for

Doubles = npt.NDArray[np.float64]
Kernel = Callable[[Doubles, int, np.ufunc], Doubles]

AGGREGATES: dict[str, tuple[Aggregate, np.ufunc]] = {
    "sum": (sum("v"), np.add),
    "max": (max("v"), np.maximum),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """One structure or kernel, for one aggregate and size: nanoseconds a slide, and bytes held."""

    aggregate: str
    n: int
    what: str
    slides: int
    mean: float
    bytes: int
    passes: float
    """The mean as a multiple of one NumPy accumulate pass."""
    lowest: float | None = None
    p25: float | None = None
    p50: float | None = None
    p75: float | None = None
    p99: float | None = None
    highest: float | None = None


@dataclass(frozen=True, slots=True)
class Multi:
    """One structure with queries of all ranges 1 … n."""

    what: str
    n: int
    slides_a_second: float


def techniques_of(aggregate: Aggregate) -> dict[str, Callable[..., Technique]]:
    """The techniques that serve the aggregate, by class; floats may be subtracted here."""
    found = techniques_for(aggregate)
    return {each.__name__: partial(each, aggregate, approximate=True) for each in found}


def kernels_found() -> dict[str, Kernel]:
    """Every function of `muntin.kernels` that takes (values, n, ufunc)."""
    known = {name: getattr(kernels, name) for name in kernels.__all__}
    return {
        f"kernel {name}": kernel
        for name, kernel in known.items()
        if inspect.isfunction(kernel)
        and [*inspect.signature(kernel).parameters][:3] == ["values", "n", "ufunc"]
    }


def time_kernels(
    aggregate: str, n: int, values: Doubles, rounds: int
) -> tuple[float, list[Measured]]:
    """One accumulate pass, the yardstick, and every kernel, in turn: the best round of each."""
    ufunc = AGGREGATES[aggregate][1]
    out, slides = np.empty_like(values), len(values) - n + 1
    calls: dict[str, Callable[[], object]] = {"": lambda: ufunc.accumulate(values, out=out)}
    calls |= {name: partial(kernel, values, n, ufunc) for name, kernel in kernels_found().items()}
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            begin = thread_time_ns()
            call()
            best[name] = np.minimum(best[name], thread_time_ns() - begin)
    unit = best.pop("") / len(values)
    kinds = ((name, mean / slides, _peak(calls[name])) for name, mean in best.items())
    return unit, [
        Measured(aggregate, n, name, slides, mean, held, mean / unit) for name, mean, held in kinds
    ]


def _peak(call: Callable[[], object]) -> int:
    """The most bytes that a call has at once, its result included."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def time_technique(
    name: str,
    make: Callable[..., Technique],
    aggregate: str,
    n: int,
    values: list[float],
    seconds: float,
    unit: float,
) -> Measured:
    """Slide for one window length, but at most 1,000,000 times and for about so many seconds."""
    window = make([n])
    for i in range(n):
        window.slide(values[i])
    gc.collect()
    gc.disable()
    try:
        times = _latencies(window, values, int(np.clip(n, 20_000, 1_000_000)), seconds)
    finally:
        gc.enable()
    mean, spread = float(np.mean(times)), np.percentile(times, [0, 25, 50, 75, 99, 100]).tolist()
    held = (bytes_held(window), mean / unit)
    return Measured(aggregate, n, name, len(times), mean, *held, *spread)


def _latencies(
    window: Technique, values: list[float], most: int, seconds: float
) -> npt.NDArray[np.int64]:
    times = []
    slide, query, clock = window.slide, window.query, thread_time_ns
    end = clock() + int(seconds * 1e9)
    for i in range(len(window), len(window) + most):
        value = values[i % len(values)]
        begin = clock()
        slide(value)
        query()
        now = clock()
        times.append(now - begin)
        if now > end:
            break
    reads = np.array([clock() for _ in range(1001)])
    own = np.array(times) - int(np.median(np.diff(reads)))
    return own.clip(min=0)


def slides_a_second(make: Callable[..., Technique], n: int, seconds: float) -> float:
    """How often a window of n values slides and answers all ranges 1 … n."""
    window, values = make(range(1, n + 1)), np.random.default_rng(n).random(4096).tolist()
    for i in range(n):
        window.slide(values[i % 4096])
    window.query_all()
    slides, begin = 0, perf_counter()
    while (spent := perf_counter() - begin) < seconds or not slides:
        window.slide(values[slides % 4096])
        window.query_all()
        slides += 1
    return slides / spent if spent > 0 else float("nan")


def bytes_held(window: Technique) -> int:
    """The size of all containers and partials that the technique keeps, each object once."""
    seen: set[int] = set()
    waiting: list[Any] = [v for k, v in vars(window).items() if k not in ("monoid", "_inverse")]
    total = 0
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        total += sys.getsizeof(item)
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list | tuple | deque):
            waiting += item
        elif hasattr(item, "__slots__"):
            waiting += [getattr(item, slot) for slot in item.__slots__]
    return total


SIZES = (16, 1024, 16_384, 1_048_576)
MULTI_SIZES = (4, 16, 64, 256, 1024)
SECONDS = 8.0
"""The longest that one technique of one size is timed; the mean of a whole cycle needs that."""


def run(options: Options, console: Console) -> None:
    """Measure, print, and write into the data folder, by default ./results."""
    wanted = options.choose(AGGREGATES, "set")
    folder = options.data or Path("results")
    console.print(f"{machine()}, NumPy {np.__version__}")
    found: list[Measured] = []
    for aggregate in wanted:
        found += measure(aggregate, SIZES, options.rows, options.repeat, SECONDS, console)
        console.print(_table(aggregate, [m for m in found if m.aggregate == aggregate]))
    multi = measure_multi(MULTI_SIZES, 0.5, console)
    write(found, multi, folder, console)


def measure(
    aggregate: str,
    sizes: tuple[int, ...],
    rows: int,
    repeat: int,
    seconds: float,
    console: Console,
) -> list[Measured]:
    """All techniques and kernels for one aggregate."""
    function, found = AGGREGATES[aggregate][0], []
    for n in sizes:
        with console.status(f"{aggregate}, n = {n:,}: kernels"):
            length = rows if rows > 4 * n else 4 * n
            values = np.random.default_rng(2).random(length)
            unit, bulk = time_kernels(aggregate, n, values, repeat + 2)
            found += bulk
        each = values[: 2 * n + 65_536].tolist()  # every value its own object, as in a stream
        del values
        for name, make in techniques_of(function).items():
            with console.status(f"{aggregate}, n = {n:,}: {name}"):
                found.append(time_technique(name, make, aggregate, n, each, seconds, unit))
    return found


def measure_multi(sizes: tuple[int, ...], seconds: float, console: Console) -> list[Multi]:
    """Slides a second with queries of all ranges, for max (Figure 12)."""
    found = []
    for name, make in techniques_of(AGGREGATES["max"][0]).items():
        if make([1]).several_ranges:
            for n in sizes:
                with console.status(f"all ranges, n = {n:,}: {name}"):
                    found.append(Multi(name, n, slides_a_second(make, n, seconds)))
    return found


def _table(aggregate: str, found: list[Measured]) -> Table:
    columns = ("n|,", "<technique", "mean", "p50", "p99", "max", "bytes/value|.3g", "passes|,.1f")
    rows = []
    for m in found:
        times = (_nanoseconds(t) for t in (m.mean, m.p50, m.p99, m.highest))
        held = m.bytes / (m.slides if m.what.startswith("kernel") else m.n)
        rows.append((m.n, m.what, *times, held, m.passes))
    title = f"{aggregate} of doubles: nanoseconds a slide"
    table = new_table(title, *columns, rows=rows, group=1)
    table.caption = (
        "passes: the mean as a multiple of one NumPy accumulate pass; "
        "kernels answer a whole array at once, so a slide has no latency of its own"
    )
    return table


def _nanoseconds(value: float | None) -> str | None:
    return None if value is None else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def write(
    found: Sequence[Measured], multi: Sequence[Multi], folder: Path, console: Console
) -> None:
    """Everything measured as CSV, and Figures 11 to 14."""
    structures = [m for m in found if not m.what.startswith("kernel")]
    pace, memory = "Answers a second, one query", "Memory of one window, bytes"
    write_files(
        folder,
        console,
        {"techniques.csv": found, "techniques_multi.csv": multi},
        {
            "techniques_throughput.png": partial(_draw_lines, found, lambda m: 1e9 / m.mean, pace),
            "techniques_memory.png": partial(_draw_lines, structures, lambda m: m.bytes, memory),
            "techniques_multi.png": partial(_draw_multi, multi),
            "techniques_latency.png": partial(_draw_latency, structures),
        },
    )


def _draw_lines(
    found: Sequence[Measured], read: Callable[[Measured], float], title: str, path: Path
) -> None:
    """Figures 11 and 13: answers a second and bytes held, a panel for each aggregate."""
    panels = group_by(found, lambda m: m.aggregate)
    size = (6 * len(panels), 4.8)
    with picture(path, size, columns=len(panels), legend=5, sharey=True) as axes:
        numbers = {what: i for i, what in enumerate(dict.fromkeys(m.what for m in found))}
        for axis, (aggregate, mine) in zip(axes, panels.items(), strict=True):
            for what, own in group_by(mine, lambda m: m.what).items():
                width = 2.5 if what.startswith("kernel") else 1
                draw_line(axis, [(m.n, read(m)) for m in own], what, numbers[what], lw=width)
            axis.set_xscale("log", base=2)
            axis.set(yscale="log", xlabel="n, values in the window")
            axis.set_title(f"{title}: {aggregate} of doubles")


def _draw_multi(multi: Sequence[Multi], path: Path) -> None:
    """Figure 12: slides a second, a query for every range."""
    with picture(path, (7, 4.8)) as (axis,):
        for i, (what, own) in enumerate(group_by(multi, lambda m: m.what).items()):
            draw_line(axis, [(m.n, m.slides_a_second) for m in own], what, i, lw=1)
        axis.set_xscale("log", base=2)
        axis.set(yscale="log", xlabel="n, values in the window and queries (ranges 1 … n)")
        axis.set(ylabel="slides a second", title="Slides a second with queries of all ranges: max")
        axis.legend()


def _draw_latency(found: Sequence[Measured], path: Path) -> None:
    """Figure 14: boxes from the 25th to the 75th percentile, lines from lowest to highest."""
    n = sorted({m.n for m in found})[-2:][0]
    panels = group_by((m for m in found if m.n == n), lambda m: m.aggregate)
    size = (6 * len(panels), 4.8)
    with picture(path, size, columns=len(panels), grid="y", sharey=True) as axes:
        for axis, (aggregate, rows) in zip(axes, panels.items(), strict=True):
            boxes: list[Any] = [
                {"label": m.what, "whislo": m.lowest, "q1": m.p25, "med": m.p50, "q3": m.p75,
                 "whishi": m.highest, "fliers": []}
                for m in rows
            ]  # fmt: skip
            axis.bxp(boxes, showfliers=False)
            axis.plot(range(1, len(rows) + 1), [m.p99 or 0 for m in rows], "r_", ms=14, label="p99")
            axis.set_yscale("log")
            axis.tick_params(axis="x", rotation=40)
            axis.set_title(f"Latency of a slide: {aggregate} of doubles, n = {n:,}")
        axes[0].set_ylabel("nanoseconds")
        axes[-1].legend()

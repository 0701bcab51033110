"""Time every technique slide by slide, and every bulk kernel as a whole, on doubles.

A slide of a technique inserts one value into a full window, which evicts the oldest, and queries.
It is timed from the first slide after the window is full, for one window length where time allows,
so that flips and resets fall into the run. The clock is the thread's own processor time, so other
programs on the machine make no spikes; its own cost is taken off, and garbage collection is off.
A kernel answers all windows of an array in one call: the best of some rounds, divided by their
number.
"""

from __future__ import annotations

import gc
import inspect
import sys
import tracemalloc
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter, thread_time_ns
from typing import Any

import numpy as np
import numpy.typing as npt

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

    def maker(technique: type[Technique]) -> Callable[..., Technique]:
        return lambda ranges: technique(aggregate, ranges, approximate=True)

    return {t.__name__: maker(t) for t in techniques_for(aggregate)}


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

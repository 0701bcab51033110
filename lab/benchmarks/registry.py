"""Every benchmark by the name that users write."""

from __future__ import annotations

from typing import Protocol

from rich.console import Console

from lab.benchmarks.batch import bench_batch
from lab.benchmarks.duckdb import bench_duckdb
from lab.benchmarks.options import Options
from lab.benchmarks.planning import bench_planning
from lab.benchmarks.stream import bench_stream
from lab.benchmarks.sustained import bench_sustained
from lab.benchmarks.techniques import bench_techniques
from lab.benchmarks.userwindows import bench_userwindows
from muntin.errors import StrategyError, did_you_mean


class Benchmark(Protocol):
    """Runs, and prints its tables."""

    def __call__(self, options: Options, console: Console) -> None: ...


BENCHMARKS: dict[str, Benchmark] = {
    "batch": bench_batch,
    "duckdb": bench_duckdb,
    "planning": bench_planning,
    "stream": bench_stream,
    "sustained": bench_sustained,
    "techniques": bench_techniques,
    "userwindows": bench_userwindows,
}


def benchmark_named(name: str) -> Benchmark:
    """The benchmark of that name, or an error with the closest known one."""
    if name not in BENCHMARKS:
        raise StrategyError(f"unknown benchmark {name!r}: {did_you_mean(name, BENCHMARKS)}")
    return BENCHMARKS[name]

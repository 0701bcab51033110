"""Every benchmark by the name that users write."""

from __future__ import annotations

from typing import Protocol

from rich.console import Console

from muntin.bench.batch import bench_batch
from muntin.bench.duckdb import bench_duckdb
from muntin.bench.options import Options
from muntin.bench.planning import bench_planning
from muntin.bench.stream import bench_stream
from muntin.bench.sustained import bench_sustained
from muntin.bench.techniques import bench_techniques
from muntin.bench.userwindows import bench_userwindows
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

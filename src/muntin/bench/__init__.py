"""Benchmarks: named, seeded, interleaved; they print medians and ratios of one run."""

from muntin.bench.options import Options
from muntin.bench.registry import BENCHMARKS, Benchmark, benchmark_named

__all__ = ["BENCHMARKS", "Benchmark", "Options", "benchmark_named"]

"""Benchmarks: named, seeded, interleaved; they print medians and ratios of one run."""

from lab.benchmarks.options import Options
from lab.benchmarks.registry import BENCHMARKS, Benchmark, benchmark_named

__all__ = ["BENCHMARKS", "Benchmark", "Options", "benchmark_named"]

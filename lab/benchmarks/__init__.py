"""Benchmarks: named, seeded, interleaved; they print medians and ratios of one run."""

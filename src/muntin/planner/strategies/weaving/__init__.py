"""Strategies that divide windows into trees, each on the coarsest slices that serve it."""

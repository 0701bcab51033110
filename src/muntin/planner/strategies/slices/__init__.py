"""Strategies on slices: none, of each window by itself, or one set for all."""

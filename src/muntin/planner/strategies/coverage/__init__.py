"""Strategies on the window coverage graph: parents, factor windows, and slices beside them."""

"""Slices: disjoint consecutive pieces of time, cut where instances begin and end."""

from muntin.slicing.cuts import (
    Cut,
    Slices,
    cut_everywhere,
    pairs,
    panes,
    shared_pairs,
    shared_panes,
)
from muntin.slicing.edges import edge_rate, weavability

__all__ = [
    "Cut",
    "Slices",
    "cut_everywhere",
    "edge_rate",
    "pairs",
    "panes",
    "shared_pairs",
    "shared_panes",
    "weavability",
]

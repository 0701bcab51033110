"""Slices: disjoint consecutive pieces of time, cut where instances begin and end."""

from muntin.plan.slicing.cuts import (
    SLICINGS,
    Cut,
    Slices,
    begins,
    cut_everywhere,
    cuts_ends,
    cutty,
    ends,
    pairs,
    panes,
    shared_pairs,
    shared_panes,
    shared_slices,
)
from muntin.plan.slicing.edges import edge_rate, weavability
from muntin.plan.slicing.within import mean_slices, mean_slices_at, slices_within

__all__ = [
    "SLICINGS",
    "Cut",
    "Slices",
    "begins",
    "cut_everywhere",
    "cuts_ends",
    "cutty",
    "edge_rate",
    "ends",
    "mean_slices",
    "mean_slices_at",
    "pairs",
    "panes",
    "shared_pairs",
    "shared_panes",
    "shared_slices",
    "slices_within",
    "weavability",
]

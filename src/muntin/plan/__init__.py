"""The sharing plan: one tree for every technique, the checker that proves it, and its rewrites."""

from muntin.plan.check import check
from muntin.plan.rewrites import close, refine, slice_roots, unshare
from muntin.plan.tree import Node, Shape, SharingPlan

__all__ = [
    "Node",
    "Shape",
    "SharingPlan",
    "check",
    "close",
    "refine",
    "slice_roots",
    "unshare",
]

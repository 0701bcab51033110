"""The sharing plan: one tree for every technique, the checker that proves it, and its rewrites."""

from muntin.plan.check import check
from muntin.plan.closing import close
from muntin.plan.slicing_roots import slice_roots
from muntin.plan.tree import Node, Shape, SharingPlan
from muntin.plan.unsharing import unshare

__all__ = ["Node", "Shape", "SharingPlan", "check", "close", "slice_roots", "unshare"]

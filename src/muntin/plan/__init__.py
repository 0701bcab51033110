"""The sharing plan: one tree for every technique, and the checker that proves it."""

from muntin.plan.check import check
from muntin.plan.closing import closed
from muntin.plan.tree import Node, Shape, SharingPlan

__all__ = ["Node", "Shape", "SharingPlan", "check", "closed"]

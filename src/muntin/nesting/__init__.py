"""Nested windows: groups that one stairwise structure serves."""

from muntin.nesting.aggregation import Answer, NestedAggregate
from muntin.nesting.distinct import NestedDistinct, Report, Seen
from muntin.nesting.groups import Group, Level, subsumable
from muntin.nesting.join import Held, NestedJoin, Pair
from muntin.nesting.manager import GROUPINGS, WindowManager

__all__ = [
    "GROUPINGS",
    "Answer",
    "Group",
    "Held",
    "Level",
    "NestedAggregate",
    "NestedDistinct",
    "NestedJoin",
    "Pair",
    "Report",
    "Seen",
    "WindowManager",
    "subsumable",
]

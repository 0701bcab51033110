"""Nested windows: groups that one stairwise structure serves."""

from muntin.nesting.aggregation import Answer, NestedAggregate
from muntin.nesting.distinct import NestedDistinct, Report, Seen
from muntin.nesting.groups import Group, Level, subsumable
from muntin.nesting.join import Held, NestedJoin, Pair
from muntin.nesting.joint import JointWindow
from muntin.nesting.manager import GROUPINGS, WindowManager
from muntin.nesting.operations import AggregateOf, DistinctOf, JoinOf, Operations, Outcome

__all__ = [
    "GROUPINGS",
    "AggregateOf",
    "Answer",
    "DistinctOf",
    "Group",
    "Held",
    "JoinOf",
    "JointWindow",
    "Level",
    "NestedAggregate",
    "NestedDistinct",
    "NestedJoin",
    "Operations",
    "Outcome",
    "Pair",
    "Report",
    "Seen",
    "WindowManager",
    "subsumable",
]

"""Techniques of incremental evaluation: a window of values that keeps its aggregate at hand."""

from muntin.incremental.b_int import BInt
from muntin.incremental.counting import Counting, space
from muntin.incremental.daba import DABA
from muntin.incremental.flat_fat import FlatFAT
from muntin.incremental.flat_fit import FlatFIT
from muntin.incremental.panes import Panes, PanesInv
from muntin.incremental.protocol import (
    TECHNIQUES,
    Monoid,
    Technique,
    technique_named,
    techniques_for,
)
from muntin.incremental.slick_deque import SlickDeque
from muntin.incremental.two_stacks import TwoStacks

__all__ = [
    "DABA",
    "TECHNIQUES",
    "BInt",
    "Counting",
    "FlatFAT",
    "FlatFIT",
    "Monoid",
    "Panes",
    "PanesInv",
    "SlickDeque",
    "Technique",
    "TwoStacks",
    "space",
    "technique_named",
    "techniques_for",
]

"""User-defined windows: what begins and ends a window is a function's business (Cutty)."""

from muntin.userwindows.aggregator import Aggregator
from muntin.userwindows.discretizer import Discretizer
from muntin.userwindows.price_driven import PriceDriven
from muntin.userwindows.protocol import LastRecords, Marks, Policy, WindowFunction
from muntin.userwindows.records import RecordWindows
from muntin.userwindows.run import KeyWindows, evaluate
from muntin.userwindows.store import AggregateStore, EagerStore, LazyStore

__all__ = [
    "AggregateStore",
    "Aggregator",
    "Discretizer",
    "EagerStore",
    "KeyWindows",
    "LastRecords",
    "LazyStore",
    "Marks",
    "Policy",
    "PriceDriven",
    "RecordWindows",
    "WindowFunction",
    "evaluate",
]

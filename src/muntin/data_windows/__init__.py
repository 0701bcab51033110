"""User-defined windows: what begins and ends a window is a function's business (Cutty)."""

from muntin.data_windows.aggregator import Aggregator
from muntin.data_windows.discretizer import Discretizer
from muntin.data_windows.price_driven import PriceDriven
from muntin.data_windows.protocol import LastRecords, Marks, Policy, WindowFunction
from muntin.data_windows.records import RecordWindows
from muntin.data_windows.run import KeyWindows, evaluate
from muntin.data_windows.store import AggregateStore, EagerStore, LazyStore

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

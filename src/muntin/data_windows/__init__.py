"""Data windows: sessions, counts, measures and functions that follow the data (Cutty)."""

from muntin.data_windows.aggregator import Aggregator
from muntin.data_windows.discretizer import Discretizer
from muntin.data_windows.evaluation import KeyWindows, evaluate
from muntin.data_windows.policies import LastRecords, RecordWindows
from muntin.data_windows.price_driven import PriceDriven
from muntin.data_windows.protocol import Marks, NextEvent, Policy, WindowFunction
from muntin.data_windows.store import EagerStore, LazyStore
from muntin.data_windows.window_functions import PriceSwitched

__all__ = [
    "Aggregator",
    "Discretizer",
    "EagerStore",
    "KeyWindows",
    "LastRecords",
    "LazyStore",
    "Marks",
    "NextEvent",
    "Policy",
    "PriceDriven",
    "PriceSwitched",
    "RecordWindows",
    "WindowFunction",
    "evaluate",
]

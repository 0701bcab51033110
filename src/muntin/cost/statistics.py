"""What is known of the data: rows, keys and rate, and how many rows a node then holds.

A node has a cell for each key and each of its pieces. Rows fall into cells at random, so of n cells
that f rows fall into, the expected number with at least one row is

    n·(1 − (1 − 1/n)^f)  ≈  n·(1 − e^(−f/n))

which is near n where rows are many and near f where cells are many (a "many keys" table, where
slices hold one row each and do not shrink the data).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import expm1

from muntin.errors import StrategyError, is_between, shown
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window
from muntin.plan import Shape
from muntin.plan.coverage import Source
from muntin.plan.slicing import Slices, edge_rate

SECOND = 1_000_000
ROWS = 10_000_000
"""How many rows there are taken to be where nobody says."""

FEW_OR_MANY_ROWS = (1e5, 1e7)
FEW_OR_MANY_KEYS = (1.0, 1e3, 1e5)
SHORT_OR_LONG = (86_400.0, 31_536_000.0)
SLOW_OR_FAST = (10.0, 10_000.0)
"""Rows, keys, seconds of event time, and on a stream events a second, of data of which nothing is
known: a plan must be safe for all of them."""

SMALLEST, LARGEST = 1e-21, 1e21
"""What rate, keys and rows may be: far beyond any data, and costs still are numbers."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """How many rows, distinct keys and events per second of event time, and who says so.

    `unknown` are those of the three that nobody said and that are assumed.

    >>> Statistics(rows=1e6, keys=100, rate=100).span
    10000.0
    """

    rows: float = ROWS
    keys: float = 1
    rate: float = 100.0
    origin: str = "given"
    unknown: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for what, given, least, hint in (
            ("rate", self.rate, SMALLEST, "positive: events per second"),
            ("keys", self.keys, 1, "at least 1: distinct keys"),
            ("rows", self.rows, SMALLEST, "positive"),
        ):
            if not is_between(given, least, LARGEST):
                raise StrategyError(
                    f"{what} {shown(given)} must be {hint}, a number from {least:g} to {LARGEST:g}"
                )

    @property
    def span(self) -> float:
        """Seconds of event time from the first row to the last."""
        return self.rows / self.rate

    @property
    def known(self) -> Statistics:
        """The same, as if nothing of them were assumed."""
        return replace(self, unknown=())

    def cases(self, keyed: bool, stream: bool = False) -> tuple[Statistics, ...]:
        """What the data may be like, as far as it is unknown; these statistics are the first.

        >>> len(Statistics().cases(True)), len(Statistics(unknown=("keys",)).cases(True))
        (1, 3)
        """
        found = [self]
        for rows in FEW_OR_MANY_ROWS if "rows" in self.unknown and not stream else (self.rows,):
            rates: Iterable[float] = (self.rate,)
            if "rate" in self.unknown:
                rates = SLOW_OR_FAST if stream else (rows / span for span in SHORT_OR_LONG)
            for rate in rates:
                for keys in FEW_OR_MANY_KEYS if keyed and "keys" in self.unknown else (self.keys,):
                    found.append(replace(self, rows=rows, keys=keys, rate=rate))
        return tuple(dict.fromkeys(found))

    def held(self, shape: Shape) -> float:
        """How many rows a node holds.

        >>> many = Statistics(rows=1000, keys=1_000_000, rate=1.0)
        >>> round(many.held(Window(60 * SECOND, 60 * SECOND)))
        1000
        """
        match shape:
            case Source():
                return self.rows
            case Slices():
                slices = self.span * SECOND * float(edge_rate(shape))
                return occupied(self.keys * max(slices, 1), self.rows)
            case Window():
                instances = (self.span * SECOND + shape.range) / shape.slide
                return occupied(self.keys * max(instances, 1), self.rows * shape.overlap)
            case DataWindow():
                return self.rows  # how many there are, only the data knows: no more than this

    def __str__(self) -> str:
        keys = "1 key" if self.keys == 1 else f"{self.keys:,.0f} keys"
        rate = f"{self.rate:,.0f}" if self.rate >= 100 else f"{self.rate:.3g}"
        return f"{self.rows:,.0f} rows, {keys}, {rate} events/s ({self.origin})"


def occupied(cells: float, rows: float) -> float:
    """How many of the cells are expected to hold at least one of the rows.

    >>> round(occupied(10, 1000)), round(occupied(1e9, 1000)), round(occupied(100, 100))
    (10, 1000, 63)
    """
    return -cells * expm1(-rows / cells)

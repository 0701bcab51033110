"""The paper's first example: reports become more frequent while a stock is cheap (Figure 1).

    price > limit   every 5 minutes, the last 10       price ≤ limit   every 2 minutes, the last 5

        10    15    20    25    27  29  31  33      the price falls at 25: the next report is that
    ─────┴─────┴─────┴─────┴──┴──┴──┴──┴────▶       of 27, and holds the trades since 22

At 22 nobody knew that a window begins there, so no function that marks begins at once can do this:
it is a policy, and records are kept for the longer of the two lengths. `PriceSwitched`
(`window_functions`) is the deterministic relative, which shares slices.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import ClassVar

from muntin.data_windows.protocol import Policy, Record

MINUTE = 60_000_000


class PriceDriven(Policy):
    """Reports of the last trades, by the price that holds when one is due.

    The pairs are (range, slide) above the limit, and at or below it. A fall brings the next report
    nearer, to a slide after it, and never puts one off; a rise leaves the next one where it is.
    No report begins before the one that came before it (first in, first out). A trade without a
    price leaves it as it was.

    >>> reports = PriceDriven(limit=10.0, above=(10, 5), below=(5, 2))
    >>> reports.trigger(25, {"price": 9.0}), reports.timeout()
    (0, 27)
    """

    columns: ClassVar[tuple[str, ...]] = ("price",)

    def __init__(
        self,
        limit: float = 10.0,
        above: tuple[int, int] = (10 * MINUTE, 5 * MINUTE),
        below: tuple[int, int] = (5 * MINUTE, 2 * MINUTE),
        price: str = "price",
    ) -> None:
        self.limit, self.above, self.below, self.price = limit, above, below, price
        self.cheap = False
        self.due: int | None = None
        self.report: tuple[int, int] | None = None
        self.held: list[int] = []

    def trigger(self, time: int, record: Record) -> int:
        price = record[self.price]
        falls = price is not None and price <= self.limit and not self.cheap
        self.cheap = self.cheap if price is None else price <= self.limit
        soonest = time + self._size()[1]
        if self.due is None or self.due <= time:  # the first trade, or the first after a silence
            self.due = soonest
        elif falls:
            self.due = min(self.due, soonest)
        return 0

    def evict(self, time: int, record: Record) -> int:
        self.held.append(time)
        assert self.due is not None, "triggers are asked first"
        return self._leave(self.due - max(self.above[0], self.below[0]))

    def timeout(self) -> int | None:
        return self.due

    def timed_out(self) -> int:
        assert self.due is not None, "a report was due"
        length, slide = self._size()
        start = self.due - length
        self.report = (start if self.report is None else max(start, self.report[0]), self.due)
        self.due += slide
        return 1

    def evict_due(self) -> int:
        assert self.report is not None, "a report is due"
        return self._leave(self.report[0])

    def bounds(self, first: int, last: int) -> tuple[int, int]:
        assert self.report is not None, "a report is due"
        return self.report[0], self.report[1]

    def _size(self) -> tuple[int, int]:
        return self.below if self.cheap else self.above

    def _leave(self, start: int) -> int:
        """How many trades came before `start`: they leave."""
        gone = bisect_left(self.held, start)
        del self.held[:gone]
        return gone

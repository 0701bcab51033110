"""The paper's price-driven windows: reports become more frequent while a stock is cheap (Figure 1).

    price > limit   every 5 minutes, the last 10       price ≤ limit   every 2 minutes, the last 5

The price decides from the record that crosses the limit on: windows that are open then end before
it, as far as they have come, and the other slide counts from there. A window that crossed the limit
would have to be shorter than those that began after it, against first in, first out.
"""

from __future__ import annotations

from typing import ClassVar

from muntin.data_windows.protocol import Marks, Record, WindowFunction

MINUTE = 60_000_000


class PriceDriven(WindowFunction):
    """Range and slide follow the price: (range, slide) above the limit, and at or below it."""

    columns: ClassVar[tuple[str, ...]] = ("price",)

    def __init__(
        self,
        limit: float = 10.0,
        above: tuple[int, int] = (10 * MINUTE, 5 * MINUTE),
        below: tuple[int, int] = (5 * MINUTE, 2 * MINUTE),
        price: str = "price",
    ) -> None:
        self.limit, self.above, self.below, self.price = limit, above, below, price
        self.cheap: bool | None = None
        self.reports: list[int] = []
        self.next = 0

    def mark(self, time: int, record: Record) -> Marks:
        cheap, ends = record[self.price] <= self.limit, 0
        if cheap is not self.cheap:
            ends, self.reports = len(self.reports), []
            self.cheap, self.next = cheap, time
        length, slide = self.below if cheap else self.above
        passed = time - length - self.next
        if passed >= 0:  # windows that no record fell into
            self.next += (passed // slide + 1) * slide
        begun = 0
        while self.next <= time:
            self.reports.append(self.next + length)
            self.next += slide
            begun += 1
        return Marks(ends, begun)

    def timeout(self) -> int | None:
        return self.reports[0] if self.reports else None

    def timed_out(self) -> int:
        del self.reports[0]
        return 1

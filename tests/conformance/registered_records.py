"""Data windows and trailing windows that come and go: what docs/control.md says of their rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.oracle import Frame
from conformance.registered import (
    NEVER,
    Batch,
    Counts,
    Found,
    Ledger,
    Row,
    RowJudge,
    Span,
    Told,
    differences,
)
from muntin.model.data_windows import DataWindow, Session
from muntin.model.windows import Window
from muntin_testing.data_windows import meaning

AnyWindow = Window | DataWindow


@dataclass
class Sight:
    """What a data window sees: records from an instant on, windows that begin at one or later."""

    records_from: int = -NEVER
    begins_from: int = -NEVER


class RecordJudge:
    """A window sees the records that the watermark W had not passed when it was registered.

    Sessions that begin at W + gap or later are whole, periodic instances that begin at W or later,
    counts count from W on; one equal to a window that runs sees what this one sees. A row comes
    out when the watermark has passed the end of its window, under one label of an id at most.
    """

    def __init__(
        self,
        started: dict[str, AnyWindow],
        value: Callable[[list[Row]], Any],
        reached: Counts,
    ) -> None:
        spans = [Span(id, window, i) for i, (id, window) in enumerate(started.items())]
        self.ledger = Ledger(spans, reached)
        self.value, self.reached = value, reached
        self.records: list[Row] = []
        self.sights = {span.number: Sight() for span in spans}

    def step(self, batch: Batch[AnyWindow], told: Sequence[Told], found: Found) -> None:
        """Judge the rows of a batch."""
        ledger = self.ledger
        last, now = ledger.last, max(batch.watermark, ledger.last)
        running = [span for span in ledger.spans if not span.over]
        for span in ledger.obey(batch.orders, told):
            self.sights[span.number] = self._sight(span, running)
        taken = [row for row in batch.rows if row["t"] >= last]
        self.reached["late"] += len(batch.rows) - len(taken)
        self.records += taken
        expected: Found = {}
        for span in ledger.spans:
            for place, rows in self._due(span, last, now):
                expected.setdefault(place, []).append(self.value(rows))
                waited = span.at is not None and place[1] <= span.at
                self.reached["answered from what was held"] += waited
                self.reached[type(span.window).__name__] += span.at is not None
        assert not differences(found, expected), differences(found, expected)
        self.reached["rows"] += len(found)
        ledger.pass_batch(batch)

    def _sight(self, span: Span[AnyWindow], running: Sequence[Span[AnyWindow]]) -> Sight:
        if span.at is None:
            return Sight()
        for other in running:
            if other.window == span.window:
                self.reached["copied"] += 1
                return self.sights[other.number]
        if isinstance(span.window, Session):
            return Sight(begins_from=span.last + span.window.gap)
        if isinstance(span.window, Window):
            return Sight(begins_from=span.last)
        return Sight(records_from=span.last)

    def _due(
        self, span: Span[AnyWindow], last: int, now: int
    ) -> list[tuple[tuple[Any, ...], list[Row]]]:
        """The windows that the watermark has just closed."""
        sight, found = self.sights[span.number], []
        for key in sorted({row["k"] for row in self.records}):
            own = [r for r in self.records if r["k"] == key and r["t"] >= sight.records_from]
            own.sort(key=lambda row: (row["t"], row["n"]))
            for start, end, run in meaning(span.window, own) if own else []:
                inside = start >= sight.begins_from and end > span.ended
                if inside and last < end <= now and (span.until is None or end <= span.until):
                    found.append(((span.id, start, end, key), [own[i] for i in run]))
        return found


class FrameJudge(RowJudge[Frame]):
    """A row t of a trailing window that reaches back by r is answered if no event is missing.

    Events after W − R are held when the watermark stands at W and the longest window of the moment
    reaches back by R. Rows up to E keep a suspended window.
    """

    def __init__(
        self,
        started: dict[str, Frame],
        closed: str,
        value: Callable[[list[Row]], Any],
        reached: Counts,
    ) -> None:
        super().__init__(started, reached)
        self.closed, self.value = closed, value

    def step(self, batch: Batch[Frame], told: Sequence[Told], found: Found) -> None:
        """Judge the rows of a batch."""
        ledger, (last, watermark) = self.ledger, self.take(batch, told)
        due = [row for row in self.rows if last < row["t"] <= watermark]
        expected = {
            (span.id, row["n"]): [self.value(self._events(span.window, row))]
            for span in ledger.spans
            for row in due
            if (span.complete is None or row["t"] >= span.complete)
            and (span.until is None or row["t"] <= span.until)
        }
        self.close(batch, found, expected)
        now = [s for s in ledger.spans if s.until is None or (s.until > last and not s.empty)]
        reaches = [_reach(span.window) for span in now]
        self.held_from = max(self.held_from, ledger.last + 1 - max(reaches, default=0))

    def check_begin(self, span: Span[Frame]) -> None:
        """The first row that it answers is the first of which no event is missing."""
        if span.at is None:
            assert span.complete is None
            return
        first = max(span.last + 1, span.ended + 1)
        assert span.complete == max(first, self.held_from + _reach(span.window)), span
        at_once = span.complete == first
        self.reached["answered from what was held" if at_once else "had to wait"] += 1

    def _events(self, frame: Frame, row: Row) -> list[Row]:
        return [
            each
            for each in self.rows
            if each["k"] == row["k"] and frame.holds(each["t"], row["t"], self.closed)
        ]


def _reach(frame: Frame) -> int:
    assert frame.length is not None, "others cannot join a stream"
    return frame.length + frame.delay

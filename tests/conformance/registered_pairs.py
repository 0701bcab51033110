"""Windows of a join that come and go: what docs/control.md says of their pairs."""

from collections.abc import Sequence

from conformance.oracle import Interval
from conformance.registered import NEVER, Batch, Found, RowJudge, Span, Told


class PairJudge(RowJudge[Interval]):
    """An instance gives its pairs when the watermark has passed its end, if no row is missing.

    Rows up to the watermark are late. Those from the begin of the oldest open instance on are held,
    and all after the watermark; before the watermark has moved, nothing was let go.
    """

    def step(self, batch: Batch[Interval], told: Sequence[Told], found: Found) -> None:
        """Judge the pairs of a batch."""
        ledger, (last, watermark) = self.ledger, self.take(batch, told)
        expected: Found = {}
        for span in ledger.spans:
            for end in range(last + 1, watermark + 1):
                begin = end - span.window.range
                if (begin - span.window.offset) % span.window.slide or not _inside(span, begin):
                    continue
                pairs = self._pairs(begin, end)
                for key, pair in pairs:
                    expected.setdefault((span.id, begin, end, key), []).append(pair)
                old = span.at is not None and begin <= span.at
                self.reached["answered from what was held"] += old and bool(pairs)
        self.close(batch, found, expected)
        open = [_oldest(span, ledger.last) for span in ledger.spans]
        self.held_from = max(self.held_from, min([*open, ledger.last + 1]))

    def _pairs(self, begin: int, end: int) -> list[tuple[str, tuple[int, int]]]:
        """The pairs of an interval: every left row beside every right one."""
        held = [row for row in self.rows if begin <= row["t"] < end]
        return [
            (one["k"], (one["n"], other["n"]))
            for one in held
            for other in held
            if (one["side"], other["side"]) == ("left", "right") and one["k"] == other["k"]
        ]

    def check_begin(self, span: Span[Interval]) -> None:
        """Its first instance is the first that is open and of which no row is missing."""
        if span.at is None:
            assert span.complete is None
            return
        window = span.window
        first = max(span.last, span.ended) - window.range + 1
        if self.held_from > 1:
            first = max(first, self.held_from)
        assert span.complete == first + (window.offset - first) % window.slide, span
        self.reached["had to wait"] += span.complete > span.last


def _inside(span: Span[Interval], begin: int) -> bool:
    begun = span.complete is None or begin >= span.complete
    return begun and (span.until is None or begin + span.window.range <= span.until)


def _oldest(span: Span[Interval], last: int) -> int:
    """The begin of the oldest instance that is open, if there will be one."""
    window, past = span.window, last - span.window.range + 1
    begin = past + (window.offset - past) % window.slide
    begin = begin if span.complete is None else max(begin, span.complete)
    return begin if _inside(span, begin) else NEVER

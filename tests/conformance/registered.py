"""Windows that come and go: scripts, each made from one seed, and what their rows must be.

A script is batches of rows with commands between them, some rows late, and restarts. A judge reads
what docs/control.md says of each kind of window and looks at single rows: nothing is sliced, kept
or merged. Imports nothing of Muntin; data windows mean what `muntin_testing.data_windows` says.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Generic, Protocol, TypeVar

from conformance.oracle import Interval

Row = dict[str, Any]
"""t, k, v, and a number n that no other row has; of a join also its side."""
Window = TypeVar("Window", bound=Hashable)
Found = dict[tuple[Any, ...], list[Any]]
"""Rows of a batch: (window id, begin, end, keys) and what the window holds.

That is one value, but for counts: several may begin and end together.
"""

NEVER = 10**9
IDS = ("x", "y", "z")


@dataclass(frozen=True)
class Order(Generic[Window]):
    """A command: register a window under an id, or suspend it."""

    id: str
    window: Window | None = None


@dataclass(frozen=True)
class Batch(Generic[Window]):
    """Commands, then rows, under a watermark; `restarts` is how often it is run in vain before."""

    orders: tuple[Order[Window], ...]
    rows: tuple[Row, ...]
    watermark: int
    restarts: int = 0


@dataclass(frozen=True)
class Told:
    """What the stream's log says of a command."""

    state: str
    effective: int | None
    complete_from: int | None
    answers_from: int | None


Script = list[Batch[Window]]


def script(
    random: Random, started: Sequence[str], draw: Callable[[Random], Window], batches: int = 10
) -> Script[Window]:
    """Rows around a clock that goes on, a third of them late; commands at random moments."""
    pool = [draw(random) for _ in range(4)]
    delay = random.choice([0, 4, 15])
    clock, newest, watermark, number = 0, 0, 0, 0
    found: Script[Window] = []
    for _ in range(batches):
        clock += random.choice([0, 3, 6, 12, 20])
        rows: list[Row] = []
        for _ in range(random.choice([0, 3, 6, 9])):
            number += 1
            time = max(clock + random.choice([0, 1, 3, 0, -2, -7, -25]), 0)
            side = random.choice(["left", "right"])
            value = random.choice([None, 1, 2, 3])
            rows.append(
                {"t": time, "k": random.choice("abc"), "v": value, "n": number, "side": side}
            )
        orders = [_order(random, pool, started) for _ in range(random.choice([0, 1, 1, 2]))]
        restarts = random.choice([0, 0, 0, 1, 2])
        found.append(Batch(tuple(orders), tuple(rows), watermark, restarts))
        newest = max([newest, *(row["t"] for row in rows)])
        watermark = max(watermark, newest - delay)
    return [*found, Batch((), (), watermark), Batch((), (), watermark + 500, 1)]


def apart(given: Script[Window]) -> Script[Window]:
    """The same with no row exactly at a watermark: times are even, watermarks odd.

    A session that such a row would prolong has just been closed, as on Spark.
    """
    return [
        replace(
            batch,
            rows=tuple({**row, "t": 2 * row["t"]} for row in batch.rows),
            watermark=max(2 * batch.watermark - 1, 0),
        )
        for batch in given
    ]


def _order(random: Random, pool: Sequence[Window], started: Sequence[str]) -> Order[Window]:
    id = random.choice([*IDS, *started])
    return Order(id) if random.random() < 0.35 else Order(id, random.choice(pool))


@dataclass
class Span(Generic[Window]):
    """A window under an id: when it was registered (E and W of then) and when suspended."""

    id: str
    window: Window
    number: int
    at: int | None = None
    last: int = 0
    complete: int | None = None
    early: int | None = None
    ended: int = -NEVER
    until: int | None = None
    whole: Sequence[int] = ()
    """Begins of instances that what was held makes whole."""

    @property
    def over(self) -> bool:
        return self.until is not None

    @property
    def empty(self) -> bool:
        """Whether it was suspended before its first instance ended, or before its first row."""
        if self.until is None or self.complete is None:
            return False
        first = self.complete if self.early is None else self.early
        length = self.window.range if isinstance(self.window, Interval) else 0
        return first + length > self.until


class Counts(Protocol):
    """What a script reached."""

    def __setitem__(self, kind: str, count: int) -> None: ...
    def __getitem__(self, kind: str) -> int: ...


@dataclass
class Ledger(Generic[Window]):
    """Which windows stood when under which ids, by the commands alone."""

    spans: list[Span[Window]]
    reached: Counts
    newest: int | None = None
    last: int = 0
    changes: int = 0

    def obey(self, orders: Sequence[Order[Window]], told: Sequence[Told]) -> list[Span[Window]]:
        """The spans that commands opened; every answer of the log must be the right one."""
        assert len(orders) == len(told)
        opened = []
        for order, said in zip(orders, told, strict=True):
            running = [s for s in self.spans if s.id == order.id and not s.over]
            assert said.effective == self.newest
            if order.window is None:
                assert said.state == ("suspended" if running else "refused")
                for span in running:
                    span.until = -NEVER if self.newest is None else self.newest
                    self.reached["suspended"] += 1
            elif running:
                assert said.state == "refused"
                self.reached["refused"] += 1
            else:
                assert said.state == "running", said
                opened.append(self._open(order.id, order.window, said))
            self.changes += said.state != "refused"
        return opened

    def _open(self, id: str, window: Window, said: Told) -> Span[Window]:
        span = Span(id, window, len(self.spans), self.newest, self.last)
        span.complete, span.early = said.complete_from, said.answers_from
        ends = [s.until for s in self.spans if s.id == id and s.until is not None and not s.empty]
        span.ended = max(ends, default=-NEVER)
        self.spans.append(span)
        self.reached["registered"] += 1
        return span

    def pass_batch(self, batch: Batch[Window]) -> None:
        """Go on to the next batch."""
        times = [row["t"] for row in batch.rows]
        self.newest = max([*times, *([] if self.newest is None else [self.newest])], default=None)
        self.last = max(self.last, batch.watermark)
        self.reached["restarts"] += batch.restarts


def differences(found: Found, expected: Found) -> list[str]:
    """Rows that only one side has, or that differ."""
    more = [f"only the stream has {place}: {found[place]}" for place in found.keys() - expected]
    more += [f"the stream lacks {place}: {expected[place]}" for place in expected.keys() - found]
    both = [p for p in found.keys() & expected if _sorted(found[p]) != _sorted(expected[p])]
    return more + [f"{place}: {found[place]}, not {expected[place]}" for place in both]


def _sorted(values: list[Any]) -> list[Any]:
    return sorted(values, key=repr)


class RowJudge(ABC, Generic[Window]):
    """What judges share for which a row up to the watermark is late, and rows are held since."""

    def __init__(self, started: dict[str, Window], reached: Counts) -> None:
        spans = [Span(id, window, i) for i, (id, window) in enumerate(started.items())]
        self.ledger, self.reached = Ledger(spans, reached), reached
        self.rows: list[Row] = []
        self.held_from = -NEVER

    @abstractmethod
    def check_begin(self, span: Span[Window]) -> None:
        """Judge from when on the log says that a registered window is complete."""

    def take(self, batch: Batch[Window], told: Sequence[Told]) -> tuple[int, int]:
        """Obey commands and take rows; the watermark of before, and that of the batch."""
        last = self.ledger.last
        for span in self.ledger.obey(batch.orders, told):
            self.check_begin(span)
        taken = [row for row in batch.rows if row["t"] > last]
        self.reached["late"] += len(batch.rows) - len(taken)
        self.rows += taken
        return last, max(batch.watermark, last)

    def close(self, batch: Batch[Window], found: Found, expected: Found) -> None:
        """Compare, and go on to the next batch."""
        assert not differences(found, expected), differences(found, expected)
        self.reached["rows"] += sum(map(len, found.values()))
        self.ledger.pass_batch(batch)


class IntervalJudge:
    """Periodic windows: an instance that is open is answered if it is held whole, else never.

    Of a registered window it must be if every cutting of the rows that came before, by the windows
    of their time, has an edge where the instance begins and where it ends, or has seen no row so
    late; and if the running windows have not let go its oldest rows. All that begin after E are, at
    the latest.
    """

    def __init__(
        self,
        started: dict[str, Interval],
        keys: tuple[str, ...],
        value: Callable[[list[Row]], Any],
        reached: Counts,
    ) -> None:
        spans = [Span(id, window, i) for i, (id, window) in enumerate(started.items())]
        self.ledger = Ledger(spans, reached)
        self.keys, self.value, self.reached = keys, value, reached
        self.arrived: list[tuple[int, Row]] = []
        self.cuts: list[tuple[int, list[Interval]]] = []
        self.held_from = -NEVER

    def step(self, batch: Batch[Interval], told: Sequence[Told], found: Found) -> None:
        """Judge the rows of a batch."""
        ledger = self.ledger
        last = ledger.last
        for span in ledger.obey(batch.orders, told):
            self._check_begin(span)
        self.arrived += [(last, row) for row in batch.rows]
        self.reached["late"] += sum(row["t"] < last for row in batch.rows)
        expected: Found = {}
        for span in ledger.spans:
            for begin in self._due(span, last, max(batch.watermark, last)):
                whole = self._held(span.window, begin)
                end = begin + span.window.range
                given = any(place[:3] == (span.id, begin, end) for place in found)
                if not self._inside(span, begin) or not (self._must(span, begin) or given):
                    continue
                for key, rows in whole.items():
                    expected.setdefault((span.id, begin, end, *key), []).append(self.value(rows))
                old = span.at is not None and begin <= span.at and bool(whole)
                self.reached["answered from what was held"] += old
        assert not differences(found, expected), differences(found, expected)
        self.reached["rows"] += len(found)
        ledger.pass_batch(batch)
        self._let_go()

    def _due(self, span: Span[Interval], last: int, watermark: int) -> list[int]:
        """Begins of instances whose end the watermark has just passed."""
        window = span.window
        ends = range(last + 1, watermark + 1)
        begins = {begin for _, row in self.arrived for begin in window.begins_around(row["t"])}
        return sorted(begin for begin in begins if begin + window.range in ends)

    def _held(self, window: Interval, begin: int) -> dict[tuple[Any, ...], list[Row]]:
        """The rows of an instance, by keys: those that came while it was open."""
        found: dict[tuple[Any, ...], list[Row]] = {}
        for last, row in self.arrived:
            if begin <= row["t"] < begin + window.range and begin + window.range > last:
                found.setdefault(tuple(row[key] for key in self.keys), []).append(row)
        return found

    def _inside(self, span: Span[Interval], begin: int) -> bool:
        """Whether the instance may come out under this id."""
        end = begin + span.window.range
        ahead = span.at is None or (end > span.last and end > span.ended)
        return ahead and (span.until is None or end <= span.until)

    def _must(self, span: Span[Interval], begin: int) -> bool:
        if span.at is None or (span.complete is not None and begin >= span.complete):
            return True
        return begin == span.early or begin in span.whole

    def _check_begin(self, span: Span[Interval]) -> None:
        """The log must promise every instance that what is held makes whole."""
        if span.at is None:
            assert (span.complete, span.early) == (None, None)
            return
        assert span.complete is not None
        window, first = span.window, max(span.last, span.ended) - span.window.range + 1
        until = max(first - 1, span.at) + window.slide
        begins = [b for b in range(first, until + 1) if self._starts(window, b)]
        assert begins[0] <= span.complete <= begins[-1], span
        if self.ledger.changes > 12:
            return  # a state remembers the sixteen newest cuttings
        span.whole = [begin for begin in begins if self._is_whole(window, begin)]
        promised = min(n for n in (span.complete, span.early) if n is not None)
        assert promised <= min([*span.whole, span.complete]), span
        held = sum(begin <= span.at for begin in span.whole)
        self.reached["held instances that a window must answer"] += held

    @staticmethod
    def _starts(window: Interval, begin: int) -> bool:
        return (begin - window.offset) % window.slide == 0

    def _is_whole(self, window: Interval, begin: int) -> bool:
        end = begin + window.range
        cut = all(
            (begin > newest or _edge(windows, begin)) and (end > newest or _edge(windows, end))
            for newest, windows in self.cuts
        )
        return cut and begin >= self.held_from

    def _let_go(self) -> None:
        """What the windows of the moment were cut by, and what they still hold."""
        ledger = self.ledger
        now = [
            s for s in ledger.spans if s.until is None or (s.until > ledger.last and not s.empty)
        ]
        if ledger.newest is not None:
            self.cuts.append((ledger.newest, [s.window for s in now]))
        first = [self._oldest(span) for span in now if span.until is None]
        nothing = -NEVER if ledger.newest is None else ledger.newest + 1
        self.held_from = max(self.held_from, min(first, default=nothing))

    def _oldest(self, span: Span[Interval]) -> int:
        """The begin of the oldest instance that is open."""
        window, open = span.window, self.ledger.last - span.window.range + 1
        begin = open + (window.offset - open) % window.slide
        known = [n for n in (span.complete, span.early) if n is not None]
        return max([begin, *([min(known)] if known else [])])


def _edge(windows: Sequence[Interval], instant: int) -> bool:
    """Whether an instance of one of these windows begins or ends here."""
    return any(
        (instant - w.offset) % w.slide == 0 or (instant - w.offset - w.range) % w.slide == 0
        for w in windows
    )

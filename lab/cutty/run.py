"""Run the techniques of section 7.1 over a marked stream, counting what they combine and keep.

All are the same aggregator; they differ in where slices are cut and in the store:

    Naive          every window folds its own records: counted by arithmetic, one combine a record
    Cutty lazy     cut where windows begin, a queue           Cutty      the same, FlatFAT
    Pairs          also cut where windows end, a queue        Pairs+     the same, FlatFAT
    RA             cut at every record, FlatFAT

Combines are split as in the paper: `merge` is what an ending window combines, `update` all else.

Table 1 is for one periodic window. Its space is the most partials kept (nodes of the tree for eager
ones), update the combines a record, merge the most combines of one window.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate, chain, product
from math import ceil, gcd, log2
from time import thread_time
from typing import Any, NamedTuple

from lab.cutty.workload import Stream
from muntin.aggregates import avg
from muntin.aggregates import sum as total
from muntin.data_windows import Aggregator
from muntin.incremental import Counting

TECHNIQUES: dict[str, tuple[str, str, bool]] = {
    "Cutty": ("eager", "begins", False),
    "Cutty lazy": ("lazy", "begins", False),
    "Cutty coalesced": ("eager", "begins", True),
    "Pairs+": ("eager", "edges", False),
    "Pairs": ("lazy", "edges", False),
    "RA": ("eager", "records", False),
}
"""Store, cut, and whether slices that no open window begins with are coalesced."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What one technique did on one workload."""

    figure: str
    technique: str
    queries: int
    records: int
    windows: int
    update: int
    merge: int
    most_partials: int
    most_nodes: int
    produced: int
    records_a_second: float

    @property
    def calls(self) -> int:
        """All combines."""
        return self.update + self.merge


class CountedAggregator(Aggregator):
    """An aggregator that tells merges from updates, and how many slices it stored."""

    def __init__(self, counting: Counting, store: str, cut: str, coalesce: bool) -> None:
        super().__init__(counting, store, cut, coalesce)
        self.counting = counting
        self.merges = self.produced = 0

    def _merge(self, start: int) -> Any:
        before = self.counting.combines
        merged = super()._merge(start)
        self.merges += self.counting.combines - before
        return merged

    def _close(self) -> None:
        self.produced += 1
        super()._close()


def marks(stream: Stream) -> list[tuple[int, list[int], list[int]]]:
    """Where something happens: (record, windows that end before it, windows that begin)."""
    length = len(stream.values)
    ends: dict[int, list[int]] = defaultdict(list)
    begins: dict[int, list[int]] = defaultdict(list)
    intervals = zip(stream.begin.tolist(), stream.stop.tolist(), strict=True)
    for window, (begin, stop) in enumerate(intervals):
        begins[begin].append(window)
        if stop < length:
            ends[stop].append(window)
    return [(i, ends.get(i, []), begins.get(i, [])) for i in sorted({*ends, *begins})]


def drive(aggregator: Aggregator, stream: Stream, most: list[int]) -> dict[int, Any]:
    """The result of every window of the marked stream that ended, by an aggregator.

    What the aggregator keeps is looked at where marks are.
    """
    done, values, fold = 0, stream.values, aggregator.fold
    results: dict[int, Any] = {}
    for at, ending, beginning in marks(stream):
        for value in values[done:at]:
            fold(value)
        done = at
        most[0] = max(most[0], aggregator.partials)
        most[1] = max(most[1], aggregator.store.space)
        results.update(zip(ending, aggregator.end(ending), strict=True))
        aggregator.begin(beginning)
    for value in values[done:]:
        fold(value)
    return results


def count(figure: str, technique: str, queries: int, stream: Stream) -> Counted:
    """Count one technique on one workload, and time it without the counters."""
    store, cut, coalesce = TECHNIQUES[technique]
    counted = CountedAggregator(Counting(avg("energy")), store, cut, coalesce)
    most = [0, 0]
    results = drive(counted, stream, most)
    begun = thread_time()
    drive(Aggregator(avg("energy"), store, cut, coalesce), stream, [0, 0])
    seconds = thread_time() - begun
    records = len(stream.values)
    combines = (counted.counting.combines - counted.merges, counted.merges)
    kept = (most[0], most[1], counted.produced)
    kind = (figure, technique, queries, records, len(results))
    return Counted(*kind, *combines, *kept, records / seconds)


def naive(figure: str, queries: int, stream: Stream) -> Counted:
    """Every window by itself: a combine for each of its records but the first."""
    length = len(stream.values)
    held = stream.stop.clip(max=length) - stream.begin
    most = max(accumulate(len(begins) - len(ends) for _, ends, begins in marks(stream)))
    kind = (figure, "Naive", queries, length, int((stream.stop < length).sum()))
    return Counted(*kind, int((held - 1).sum()), 0, most, most, 0, 0.0)


WINDOWS = ((10, 3), (64, 8), (1000, 300), (4096, 64), (10_000, 700))


class Cost(NamedTuple):
    """Space, update and merge, by the paper's formula or as counted."""

    space: float
    update: float
    merge: float


@dataclass(frozen=True, slots=True)
class Row:
    """One technique with one store on one window."""

    range: int
    slide: int
    technique: str
    store: str
    space: float
    space_counted: float
    update: float
    update_counted: float
    merge: float
    merge_counted: float


def partials(technique: str, r: int, s: int) -> int:
    """How many partials a window is made of, by Table 1."""
    length = {"Cutty": s, "Pairs": s / 2, "Panes": gcd(r, s)}
    return ceil(r / length.get(technique, 1))


def formula(technique: str, store: str, r: int, s: int) -> Cost:
    """Table 1: lazy and eager space, amortised update, merge."""
    n = partials(technique, r, s)
    plus, folds = technique == "Cutty", technique != "RA"
    if store == "lazy":
        return Cost(n + plus, 1, n + plus)
    writes = {"Cutty": 1 / s, "Pairs": 2 / s, "Panes": 1 / gcd(r, s)}.get(technique, 1.0)
    height = log2(max(n, 1))
    return Cost(2 * n + plus, writes * max(height - folds, 0) + folds, height)


def counted(technique: str, store: str, r: int, s: int) -> Cost:
    """The same, counted while a window of that range slides past several times."""
    cut = {"Cutty": "begins", "RA": "records"}.get(technique, "edges")
    counting = Counting(total("v"))
    aggregator = CountedAggregator(counting, store, cut, coalesce=False)
    step = gcd(r, s)
    most = merge = 0
    begun: list[int] = []
    warm = 2 * r
    before = folded = 0
    for i in range(warm + max(4 * r, 20 * s)):
        if i == warm:
            before, folded = counting.combines - aggregator.merges, i
        if technique == "Panes" and i % step == 0:
            aggregator.cut()
        most = max(most, aggregator.partials if store == "lazy" else aggregator.store.space)
        if begun and i - begun[0] == r:
            merged = aggregator.merges
            aggregator.end([begun.pop(0)])
            merge = max(merge, aggregator.merges - merged)
        if i % s == 0:
            aggregator.begin([i])
            begun.append(i)
        aggregator.fold(1)
    updates = counting.combines - aggregator.merges - before
    return Cost(most, updates / (i + 1 - folded), merge)


def table_rows() -> list[Row]:
    """Every technique, store and window, by the formula and as counted."""
    rows = []
    kinds = product(WINDOWS, ("Cutty", "Pairs", "Panes", "RA"), ("lazy", "eager"))
    for (r, s), technique, store in kinds:
        said, found = formula(technique, store, r, s), counted(technique, store, r, s)
        pairs = chain.from_iterable(zip(said, found, strict=True))
        rows.append(Row(r, s, technique, store, *pairs))
    return rows

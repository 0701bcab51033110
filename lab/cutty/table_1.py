"""Table 1 of the Cutty paper beside what is counted, for one periodic window.

Space is the most partials kept (nodes of the tree for eager ones), update the combines a record,
merge the most combines of one window. Pairs and panes cut where windows end too, or everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, gcd, log2
from typing import NamedTuple

from lab.cutty.run import CountedAggregator
from muntin.aggregates import sum as total
from muntin.incremental import Counting

WINDOWS = ((10, 3), (64, 8), (1000, 300), (4096, 64), (10_000, 700))


class Cost(NamedTuple):
    """Space, update and merge, by the paper's formula or as counted."""

    space: float
    update: float
    merge: float


@dataclass(frozen=True, slots=True)
class Row:
    """One technique with one store on one window."""

    technique: str
    store: str
    range: int
    slide: int
    formula: Cost
    counted: Cost


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
    """Every technique, store and window."""
    return [
        Row(*kind, formula(*kind), counted(*kind))
        for r, s in WINDOWS
        for technique in ("Cutty", "Pairs", "Panes", "RA")
        for store in ("lazy", "eager")
        for kind in [(technique, store, r, s)]
    ]

"""Batches of rows for a bucket, and the protocol of streams by brute force over single rows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.cost import RateCost
from muntin.model.windows import Window
from muntin.physical.operators.kernel import Base, bases
from muntin.planner.strategies import Problem, strategy_named
from muntin.state.bucket import Bucket
from muntin.state.spec import Spec
from muntin.state.state import Cache
from muntin.state.store import MemoryStore
from muntin_testing.running import for_stream

Row = tuple[int, str | None, int | None, int]
"""Time, key, value, and a number that no other row has."""

Found = dict[tuple[str, str | None, int], tuple[Any, ...]]
"""Results by window, key and start."""

PARTIALS = (
    PartialColumn("p0", "", "", "sum"),
    PartialColumn("p1", "", "", "sum"),
    PartialColumn("p2", "", "", "max"),
    PartialColumn("p3", "", "", "min_by", ("p4",)),
    PartialColumn("p4", "", "", "min"),
)
"""Sum and count of the value, the largest as text; the value of the row with the least number."""

EMPTY = ("empty",)
"""The result of a window without rows."""

SCHEMA = pa.schema(
    [
        ("node", pa.int32()),
        ("start", pa.int64()),
        ("k0", pa.string()),
        ("p0", pa.int64()),
        ("p1", pa.int64()),
        ("p2", pa.string()),
        ("p3", pa.int64()),
        ("p4", pa.int64()),
    ]
)


STRATEGIES = [
    *("unshared-pairs", "cutty", "shared-pairs", "shared-panes", "wcg", "direct", "weave-share")
]
"""Hypothesis draws the first most often: it keeps windows apart, the others put many together."""


def late_script(seed: object, span: int = 300, lag: int = 120) -> list[tuple[list[Row], int]]:
    """A few keys around a clock that goes on; a third of the rows is late, some far too late."""
    random, found, number, watermark, clock = Random(f"{seed}"), [], 0, 0, 0
    while clock < span:
        clock += random.choice((1, 7, 20, 40))
        rows: list[Row] = []
        for _ in range(random.randrange(7)):
            number += 1
            time = clock - (random.randrange(lag) if random.random() < 0.4 else 0)
            value = random.choice([None, *range(9)])
            rows.append((max(time, 0), random.choice(["a", "b", None]), value, number))
        watermark = max(watermark, clock - random.randrange(20))
        found.append((rows, watermark))
    return [*found, ([], watermark + 2 * lag)]


def lifted(rows: list[Row]) -> tuple[Any, ...]:
    """The partials of some rows of one key."""
    values = [value for _, _, value, _ in rows if value is not None]
    first = min(rows, key=lambda row: row[3])
    return (
        sum(values) if values else None,
        len(values),
        max(map(str, values), default=None),
        first[2],
        first[3],
    )


def spec_of(windows: Iterable[Window], strategy: str = "shared-pairs", **rules: Any) -> Spec:
    """What a query over these windows asks of a bucket, at a rate at which sharing pays."""
    problem = Problem(tuple(windows), False, RateCost(5e6))
    plan = strategy_named(strategy)(problem)
    return Spec(
        bases(for_stream(plan)), ("k0",), PARTIALS, named=("key",), described=("all",), **rules
    )


def pieces(rows: Sequence[Row], base: Base) -> pa.Table:
    """The rows as pre-aggregated pieces of a base."""
    held: dict[tuple[int, str | None], list[Row]] = {}
    for row in rows:
        held.setdefault((base.slices.start_of(row[0]), row[1]), []).append(row)
    made = [(base.node, start, key, *lifted(some)) for (start, key), some in held.items()]
    columns = zip(*made, strict=True) if made else [[]] * len(SCHEMA)
    return pa.table(
        [pa.array(list(c), f.type) for c, f in zip(columns, SCHEMA, strict=True)], SCHEMA
    )


def beside_pieces(rows: Sequence[Row]) -> pa.Table:
    """The rows themselves, as they come beside their pieces: each by its number."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * 4
    kinds = {"k0": pa.string(), "t": pa.int64(), "r": pa.string()}
    given = {"k0": columns[1], "t": columns[0], "r": map(str, columns[3])}
    return pa.table({name: pa.array(list(given[name]), kind) for name, kind in kinds.items()})


def stepped(
    spec: Spec,
    store: MemoryStore,
    rows: Sequence[Row],
    watermark: int,
    newest: int | None = None,
    cache: Cache | None = None,
) -> tuple[Found, Any]:
    """One step of a bucket that is made from the bytes of its store, in two partitions."""
    tables = [pieces(part, base) for base in spec.bases for part in (rows[::2], rows[1::2]) if part]
    beside = [beside_pieces(part) for part in (rows[::2], rows[1::2])] if spec.keeps_records else []
    step = Bucket(spec, 0, store, cache).step(tables, watermark, newest, beside)
    ids = {number: w.id for base in spec.bases for number, w in base.windows.items()}
    found: Found = {}
    for table in step.results:
        for row in table.to_pylist():
            at = (ids[row["node"]], row["k0"], row["start"])
            if row.get("missed_first") is not None:
                continue  # late rows, which step.missed has
            assert at not in found, f"{at} twice in one step"
            revision = (row["revision"],) if "revision" in row else ()
            found[at] = (*(row[p.name] for p in PARTIALS), *revision)
            if row.get("filled"):
                assert found[at] == (None,) * len(PARTIALS)
                found[at] = EMPTY
    return found, step


@dataclass
class BruteForce:
    """The protocol by its text, for any windows, row by row.

    With `lateness`, results that are appended end with their revision, as `emitted` counts them.
    """

    windows: list[Window]
    update: bool = False
    late_now: bool = False
    lateness: int | None = None
    fill_for: int | None = None
    last: int = 0
    known: dict[tuple[str, str | None], int] = field(default_factory=dict)
    emitted: Counter[tuple[str, str | None, int]] = field(default_factory=Counter)
    held: dict[tuple[str, str | None, int], list[Row]] = field(default_factory=dict)

    def step(self, rows: Sequence[Row], watermark: int) -> Found:
        watermark = max(watermark, self.last)
        threshold = watermark if self.late_now else self.last - (self.lateness or 0)
        threshold = max(threshold, 0)  # a stream's watermark begins there
        changed = set()
        for row in rows:
            for window in self.windows:
                for start in window.instances_of(row[0]):
                    if start + window.range > threshold:
                        at = (window.id, row[1], start)
                        self.held.setdefault(at, []).append(row)
                        changed.add(at)
        emitted = changed if self.update else {at for at in self.held if self._due(at, watermark)}
        if self.lateness is not None:
            emitted |= {at for at in changed if self._end(at) <= self.last}
        filled = {} if self.fill_for is None else self._filled(watermark)
        self.last = watermark
        return {at: self._result(at) for at in emitted} | filled

    def _filled(self, watermark: int) -> Found:
        """The empty windows that are due, of keys that were not silent for too long."""
        found: Found = {}
        assert self.fill_for is not None
        for window in self.windows:
            for key in {at[1] for at in self.held}:
                for end in range(self.last + 1, watermark + 1):
                    at = (window.id, key, end - window.range)
                    if (at[2] - window.offset) % window.slide:
                        continue
                    newest = self.known.get((window.id, key))
                    if at in self.held:
                        self.known[window.id, key] = end
                    elif newest is not None and end - newest <= self.fill_for:
                        found[at] = EMPTY
        return found

    def _result(self, at: tuple[str, str | None, int]) -> tuple[Any, ...]:
        self.emitted[at] += 1
        revised = self.lateness is not None and not self.update
        return (*lifted(self.held[at]), *([self.emitted[at] - 1] if revised else []))

    def _due(self, at: tuple[str, str | None, int], watermark: int) -> bool:
        return self.last < self._end(at) <= watermark

    def _end(self, at: tuple[str, str | None, int]) -> int:
        return at[2] + next(w.range for w in self.windows if w.id == at[0])

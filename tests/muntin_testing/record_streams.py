"""Streams of records for a bucket of data windows: steps from stored bytes, and random batches."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import muntin as mt
from muntin.aggregates.algebra import Keeper
from muntin.aggregates.columns import PartialColumn
from muntin.data_windows.stream_bucket import StreamBucket
from muntin.data_windows.stream_state import StreamSpec
from muntin.kernels.distinct_sketches import DistinctSketch
from muntin.kernels.quantile_sketches import QuantileSketch
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window
from muntin.state.store import MemoryStore
from muntin_testing.data_windows import Records, records_of_a_key

INPUTS = {"km": "u0", "price": "u1", "go": "u2", "stop": "u3"}
FEW = 8
"""Values that a sketch of values keeps all."""

TRAIL = mt.custom(
    "trail",
    lift=lambda n: (n,),
    combine=lambda older, newer: older + newer,
    lower=lambda trail: " ".join(map(str, trail)),
    identity=(),
    result="string",
)
"""In order: its partial is a tuple, which JSON does not know."""

PARTIALS = (
    PartialColumn("p0", "", "", "sum"),
    PartialColumn("p1", "", "", "min_by", ("p2",)),
    PartialColumn("p2", "", "", "min"),
    PartialColumn("p3", "", "", "max"),
    PartialColumn("p4", "", "", keeper=Keeper("set", "")),
    PartialColumn("p5", "", "", "custom", code=TRAIL, keeper=Keeper("custom", "")),
    PartialColumn("p6", "", "", keeper=Keeper("distinct_sketch", "", (4,))),
    PartialColumn("p7", "", "", keeper=Keeper("quantile_sketch", "", ("bigint", FEW))),
)
"""How many records, the value of the first and its number, the largest value as text; the prices,
all numbers in order, a sketch of the hashes of numbers, and one of values."""

SCHEMA = pa.schema(
    [
        ("k0", pa.string()),
        ("t", pa.int64()),
        ("u0", pa.int64()),
        ("u1", pa.int64()),
        ("u2", pa.bool_()),
        ("u3", pa.bool_()),
        ("o0", pa.int64()),
        ("p0", pa.int64()),
        ("p1", pa.int64()),
        ("p2", pa.int64()),
        ("p3", pa.string()),
        ("p4", pa.int64()),
        ("p5", pa.struct({"records": pa.list_(pa.int64()), "result": pa.string()})),
        ("p6", pa.int64()),
        ("p7", pa.int64()),
    ]
)
FIRST = 1000
"""Times of a stream are not before its first watermark, which is 0."""


def spec_of(windows: Sequence[DataWindow | Window], **rules: Any) -> StreamSpec:
    """What a query over these windows asks of a bucket."""
    options: Any = {"order": ("o0",), "block": 16, "named": ("key",)} | rules
    return StreamSpec(("k0",), dict(enumerate(windows)), INPUTS, PARTIALS, **options)


def table(rows: Records) -> pa.Table:
    """Records as they come to a bucket: lifted, with what windows read."""
    lifted = [
        (
            *(r["k"], r["t"], r["km"], r["price"], r["go"], r["stop"], r["n"]),
            *(1, r["v"], r["n"], str(r["v"])),
            *(r["price"], {"records": [r["n"]], "result": None}, hash_of(r["n"]), r["v"]),
        )
        for r in rows
    ]
    columns = zip(*lifted, strict=True)
    arrays = [pa.array(list(c), f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays, SCHEMA)


def hash_of(number: int) -> int:
    """A number spread over 64 bits, with a sign."""
    spread = (number + 1) * 0x9E37_79B9_7F4A_7C15 % 2**64
    return spread - 2**64 if spread >= 2**63 else spread


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a result with what its sets, texts and sketches hold."""
    ranks = DistinctSketch(4).read(row["p6"])
    values = QuantileSketch("bigint", FEW).read(row["p7"])
    known = values if isinstance(values, tuple) else (values.least, values.largest)
    return row | {
        "p4": sorted(row["p4"]),
        "p5": row["p5"]["result"],
        "p6": sorted(ranks) if isinstance(ranks, frozenset) else ranks.tolist(),
        "p7": sorted(known) if known is values else (values.count, *known),
    }


def sketched(numbers: set[int]) -> list[int]:
    """Coupons of few numbers, and of many the largest rank at each of 16 addresses."""
    ranks, coupons = [0] * 16, []
    for hashed in (hash_of(n) % 2**64 for n in numbers):
        rank = 39 - (hashed >> 26).bit_length()
        coupons.append(rank << 26 | hashed % 2**26)
        ranks[hashed % 16] = max(ranks[hashed % 16], rank)
    return sorted(coupons) if len(coupons) < 8 else ranks


@dataclass
class Stream:
    """Steps of one bucket, each from the bytes that the one before left."""

    spec: StreamSpec
    store: MemoryStore = field(default_factory=MemoryStore)
    dropped: int = 0

    def begin(self, rows: Records) -> None:
        """A call with some of the history."""
        StreamBucket(self.spec, 0, self.store).begin([table(rows)] if rows else [])

    def step(self, rows: Records, watermark: int) -> list[tuple[Any, ...]]:
        """The rows that a batch gives, which comes in two partitions."""
        parts = [table(part) for part in (rows[::2], rows[1::2]) if part]
        done = StreamBucket(self.spec, 0, self.store).step(parts, watermark)
        self.dropped += done.dropped
        return [tuple(plain(row).values()) for each in done.results for row in each.to_pylist()]


@st.composite
def arriving(draw: st.DrawFn, odd: bool) -> list[tuple[Records, int]]:
    """Records of several keys, split into batches in any way, each with a watermark."""
    rows: Records = []
    keys: list[list[str | None]] = [["a"], [None, "b"], ["a", "b", "c"]]
    for key in draw(st.sampled_from(keys)):
        rows += [{**r, "k": key} for r in draw(records_of_a_key(20))]
    rows = [{**r, "t": FIRST + 2 * (r["t"] + 50), "n": n} for n, r in enumerate(rows)]
    count = draw(st.integers(1, 6))
    batches: list[Records] = [[] for _ in range(count)]
    span = max(row["t"] for row in rows) + 1 - FIRST
    for row in rows:
        even = (row["t"] - FIRST) * count // span
        batches[min(max(even + draw(st.integers(-1, 1)), 0), count - 1)].append(row)
    watermark, found = 0, []
    for batch in batches:
        found.append((draw(st.permutations(batch)), watermark))
        newest = max((r["t"] for r in batch), default=0)
        delay = draw(st.sampled_from([0, 1, 7, 60, 300]))
        watermark = max(watermark, newest - delay)
        watermark += odd and watermark > 0 and watermark % 2 == 0
    return [*found, ([], watermark), ([], 10**6 + 1)]


def admitted(batches: list[tuple[Records, int]]) -> dict[Any, Records]:
    """The records that are not late, by key and in order."""
    last = 0
    keys: dict[Any, Records] = {}
    for rows, watermark in batches:
        for row in rows:
            if row["t"] >= last:
                keys.setdefault(row["k"], []).append(row)
        last = max(last, watermark)
    return {key: sorted(rows, key=lambda r: (r["t"], r["n"])) for key, rows in keys.items()}


def row_of(key: Any, node: int, start: int, end: int, run: Records) -> tuple[Any, ...]:
    """The result of a window over these records."""
    first = min(run, key=lambda r: r["n"])
    values = sorted(r["v"] for r in run)
    return (
        *(key, node, start, end, len(run), first["v"], first["n"], max(str(r["v"]) for r in run)),
        sorted({r["price"] for r in run} - {None}),
        " ".join(str(r["n"]) for r in run),
        sketched({r["n"] for r in run}),
        values if len(values) <= FEW else (len(values), values[0], values[-1]),
    )


def sorted_rows(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows in an order that nulls do not disturb."""
    return sorted(rows, key=repr)

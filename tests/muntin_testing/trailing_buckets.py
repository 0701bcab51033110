"""Rows for a bucket of trailing windows: random batches, and what each row must be given."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.data_windows.trailing_bucket import TrailingSpec
from muntin.kernels.frame_program import FrameProgram, FromValues
from muntin.model.choices import Closed
from muntin.model.frames import Trailing

PARTIALS = (
    PartialColumn("p0", "", "", "sum"),
    PartialColumn("p1", "", "", "max"),
    PartialColumn("p2", "", "", "min_by", ("p3",)),
    PartialColumn("p3", "", "", "min"),
)
"""How many events, the largest as text, the value of the first number, and that number."""

VALUES = (FromValues("h0", "distinct", ("v0",), 0.0), FromValues("h1", "set", ("v0",), 0.0))
CLOSED: tuple[Closed, ...] = ("left", "right", "both", "none")
LAST = 10**6
Rows = list[dict[str, Any]]
Batches = list[tuple[Rows, int]]


def table(rows: Rows) -> pa.Table:
    """Rows as they come to a bucket: lifted, in one column as they were given."""
    return pa.table(
        {
            "k0": pa.array([r["k"] for r in rows], pa.string()),
            "t": pa.array([r["t"] for r in rows], pa.int64()),
            "r": pa.array(
                [{"n": r["n"]} if r["r"] else None for r in rows], pa.struct({"n": pa.int64()})
            ),
            "e": pa.array([r["e"] for r in rows], pa.bool_()),
            "v0": pa.array([r["v"] for r in rows], pa.int64()),
            "o0": pa.array([r["n"] for r in rows], pa.int64()),
            "p0": pa.array([1] * len(rows), pa.int64()),
            "p1": pa.array([str(r["v"]) for r in rows], pa.string()),
            "p2": pa.array([r["v"] for r in rows], pa.int64()),
            "p3": pa.array([r["n"] for r in rows], pa.int64()),
        }
    )


def spec_of(
    frames: Sequence[Trailing], closed: Closed = "left", values: bool = False, **rules: Any
) -> TrailingSpec:
    program = FrameProgram(tuple(frames), closed, PARTIALS, VALUES if values else ())
    return TrailingSpec(("k0",), program, ("o0",), **({"block": 16} | rules))


def arriving(random: Random) -> Batches:
    """Rows of several keys, with ties, split into batches; some are late, some without a time.

    Rows are events too, most of them, or there are two streams.
    """
    rows: Rows = []
    apart = random.random() < 0.3
    for n in range(random.choice([1, 20, 60])):
        known = [row["t"] for row in rows if row["t"] is not None] or [1]
        near = random.choice(known) + random.choice([0, 0, 1, 7, 10, 30])
        time = random.choice([1 + random.randrange(80), near, near])
        key, value = random.choice([None, "a", "b"]), random.choice([None, 1, 2, 30])
        instant = None if random.random() < 0.05 else time
        is_event = random.random() < 0.8
        is_row = not apart or not is_event
        rows.append({"k": key, "t": instant, "n": n, "v": value, "e": is_event, "r": is_row})
    count = random.randrange(1, 7)
    batches: list[Rows] = [[] for _ in range(count)]
    for row in rows:
        turn = (row["t"] or 0) * count // 200 + random.choice([0, 0, 0, 1, -1, 3])
        batches[min(max(turn, 0), count - 1)].append(row)
    watermark, found = 0, []
    for batch in batches:
        found.append((random.sample(batch, len(batch)), watermark))
        newest = max((row["t"] or 0 for row in batch), default=0)
        watermark = max(watermark, newest - random.choice([0, 1, 20, 60]))
    return [*found, ([], watermark), ([], LAST)]


def admitted(batches: Batches) -> list[Rows]:
    """The rows of each batch that are not late."""
    last, found = 0, []
    for rows, watermark in batches:
        found.append([row for row in rows if row["t"] is None or row["t"] > last])
        last = max(last, watermark)
    return found


def held(row: dict[str, Any], frame: Trailing, closed: str, events: Rows) -> Rows:
    """The events of a row's frame, in order."""
    until = row["t"] - frame.delay
    since = -LAST if frame.length is None else until - frame.length
    until -= closed in ("left", "none")
    since += closed in ("right", "none")
    own = [e for e in events if e["k"] == row["k"] and since <= e["t"] <= until]
    own.sort(key=lambda e: (e["t"], e["n"]))
    return own if frame.rows is None else own[-frame.rows :]


def expected(row: dict[str, Any], spec: TrailingSpec, events: Rows) -> dict[str, Any]:
    """What a row has: the number of it, and the features of every frame."""
    found: dict[str, Any] = {"n": row["n"]}
    for i, frame in enumerate(spec.program.frames):
        own = [] if row["t"] is None else held(row, frame, spec.program.closed, events)
        first = min(own, key=lambda e: e["n"], default=None)
        known = row["t"] is not None
        found[f"f{i}_n"] = bool(own) if known else None
        found[f"f{i}_p0"] = len(own) or None
        found[f"f{i}_p1"] = max((str(e["v"]) for e in own), default=None)
        found[f"f{i}_p2"] = first and first["v"]
        found[f"f{i}_p3"] = first and first["n"]
        if spec.program.values:
            distinct = {e["v"] for e in own} - {None}
            found[f"f{i}_h0"] = len(distinct) if known else None
            found[f"f{i}_h1"] = sorted(distinct) if known else None
    return found


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row that a step gave; how many events a frame holds says only whether there are any."""
    found = {"n": row["r"]["n"]}
    for name, value in row.items():
        if name.endswith("_n") and value is not None:
            value = value > 0
        if name.endswith("_h1") and value is not None:
            value = sorted(value)
        if name != "r":
            found[name] = value
    return found

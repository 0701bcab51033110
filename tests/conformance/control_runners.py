"""Streams with a control in process: each step of every bucket from the bytes that the last left.

A restart runs a batch in vain: its bytes are thrown away, and the stream is opened anew.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic

import pyarrow as pa

from conformance.oracle import Frame, Interval
from conformance.registered import Batch, Found, Order, Row, Told, Window
from conformance.registered_records import AnyWindow
from muntin.aggregates.columns import PartialColumn
from muntin.data_windows.controlled_pairs import ControlledPairs
from muntin.data_windows.controlled_records import ControlledRecords
from muntin.data_windows.controlled_stream import ControlledStream
from muntin.data_windows.controlled_trailing import ControlledTrailing
from muntin.data_windows.pair_bucket import PairSpec
from muntin.data_windows.stream_state import CONTROLLED, signature
from muntin.engines.spark.command_steps import HearsCommands
from muntin.model.choices import Closed
from muntin.model.frames import Trailing
from muntin.model.window_text import text_of
from muntin.model.windows import Window as Periodic
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import Cut, Slices
from muntin.state.control import Command, Label, Terms
from muntin.state.control.decision import DATA, TRAILING
from muntin.state.controlled import Controlled, ControlledBucket
from muntin.state.kept_labels import Start
from muntin.state.spec import Spec
from muntin.state.store import MemoryStore
from muntin_testing import record_streams, trailing_buckets
from muntin_testing.buckets import PARTIALS, lifted, pieces, spec_of

BUCKETS = 2


class Runner(ABC, Generic[Window]):
    """A stream of several buckets."""

    def __init__(self, started: Mapping[str, Window]) -> None:
        self.started = started
        self.stores = [MemoryStore() for _ in range(BUCKETS)]
        self.met = 0

    def step(self, batch: Batch[Window]) -> tuple[Found, list[Told]]:
        """The rows of a batch and what its commands were told; the same in vain before."""
        texts = [self._text(order, self.met + i) for i, order in enumerate(batch.orders)]
        self.met += len(texts)
        tried = []
        for _ in range(batch.restarts):
            copies = [MemoryStore(store) for store in self.stores]
            tried.append(self._run(copies, batch, texts))
        done = self._run(self.stores, batch, texts)
        assert all(each == done for each in tried), "a repeated batch differs"
        return done

    def _run(
        self, stores: Sequence[MemoryStore], batch: Batch[Window], texts: list[str]
    ) -> tuple[Found, list[Told]]:
        newest = max((row["t"] for row in batch.rows), default=None)
        found: Found = {}
        told: list[list[Told]] = []
        for number, store in enumerate(stores):
            own = [row for row in batch.rows if "abc".index(row["k"]) % BUCKETS == number]
            tables = [self.lift(part) for part in (own[::2], own[1::2]) if part]
            step = self.open(number, store).step(tables, batch.watermark, texts[::-1], newest)
            for row in (row for table in step.results for row in table.to_pylist()):
                place, value = self.read(row)
                found.setdefault(place, []).append(value)
            told.append(
                [Told(e.state, e.effective, e.complete_from, e.answers_from) for e in step.entries]
            )
        assert all(each == told[0] for each in told), "buckets disagree"
        return found, told[0]

    def _text(self, order: Order[Window], number: int) -> str:
        action = "suspend" if order.window is None else "register"
        window = None if order.window is None else self.window(order.window, order.id)
        return Command(f"{number:05}", action, order.id, window).to_json()

    @abstractmethod
    def window(self, given: Window, id: str) -> Any:
        """A window as commands have it."""

    @abstractmethod
    def open(self, number: int, store: MemoryStore) -> HearsCommands:
        """A bucket on its bytes."""

    @abstractmethod
    def lift(self, rows: Sequence[Row]) -> pa.Table:
        """Rows as they come to a bucket."""

    @abstractmethod
    def read(self, row: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
        """The place and the value of a result."""


def periodic(given: Interval, id: str) -> Periodic:
    """A window for Muntin."""
    return Periodic(given.range, given.slide, given.offset, id)


class Aggregates(Runner[Interval]):
    """Sums and the like of periodic windows."""

    names: tuple[str, ...] = ("total",)

    def window(self, given: Interval, id: str) -> Periodic:
        return periodic(given, id)

    def spec(self) -> Spec:
        windows = [periodic(window, id) for id, window in self.started.items()]
        return replace(spec_of(windows), bases=(), buckets=BUCKETS)

    def open(self, number: int, store: MemoryStore) -> HearsCommands:
        windows = tuple(periodic(window, id) for id, window in self.started.items())
        return ControlledBucket(Controlled(self.spec(), windows, Terms(self.names)), number, store)

    def lift(self, rows: Sequence[Row]) -> pa.Table:
        plain = [(row["t"], row["k"], row["v"], row["n"]) for row in rows]
        return pieces(plain, Base(0, Slices((Cut(1, 0),)), ()))

    def read(self, row: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
        place = (row["window_id"], row["start"], row["end"], row["k0"])
        return place, tuple(row[p.name] for p in PARTIALS)

    @staticmethod
    def value(rows: list[Row]) -> Any:
        """What a window holds, by brute force."""
        return lifted([(row["t"], row["k"], row["v"], row["n"]) for row in rows])


class Items(Aggregates):
    """Distinct items: an aggregation by the items, of when each was last seen."""

    names = ("last_seen",)

    def spec(self) -> Spec:
        last = PartialColumn("p0", "", "", "max")
        return replace(super().spec(), keys=("k0", "k1"), partials=(last,), described=("last",))

    def lift(self, rows: Sequence[Row]) -> pa.Table:
        times = pa.array([row["t"] for row in rows], pa.int64())
        columns = {
            "node": pa.array([0] * len(rows), pa.int32()),
            "start": times,
            "k0": pa.array([row["k"] for row in rows], pa.string()),
            "k1": pa.array([row["v"] for row in rows], pa.int64()),
        }
        return pa.table({**columns, "p0": times})

    def read(self, row: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
        return (row["window_id"], row["start"], row["end"], row["k0"], row["k1"]), row["p0"]

    @staticmethod
    def value(rows: list[Row]) -> Any:
        return max(row["t"] for row in rows)


class DataWindows(Runner[AnyWindow]):
    """Sessions, counts and the like."""

    def window(self, given: AnyWindow, id: str) -> str:
        return text_of(given)

    def open(self, number: int, store: MemoryStore) -> HearsCommands:
        windows = [replace(window, id=id) for id, window in self.started.items()]
        terms = Terms(("n",), 1, DATA, {w.id: w for w in windows}, tuple(record_streams.INPUTS))
        labels = tuple(Label(w.id, w, text=w.id) for w in windows)
        start = Start(tuple(map(signature, windows)), labels, terms)
        spec = record_streams.spec_of([], controlled=True, buckets=BUCKETS)
        return ControlledStream(ControlledRecords(spec, start), number, store)

    def lift(self, rows: Sequence[Row]) -> pa.Table:
        return record_streams.table([record_of(row) for row in rows])

    def read(self, row: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
        place = (row["window_id"], row["start"], row["end"], row["k0"])
        held = record_streams.plain(row)
        return place, tuple(held[p.name] for p in record_streams.PARTIALS)

    @staticmethod
    def value(rows: list[Row]) -> Any:
        """What a window holds, by brute force."""
        return record_streams.row_of(None, 0, 0, 0, [record_of(row) for row in rows])[4:]


def record_of(row: Row) -> Row:
    """A row with what data windows read, which is nothing here."""
    return {**row, **dict.fromkeys(record_streams.INPUTS), "v": row["v"] or 0}


class Features(Runner[Frame]):
    """Rows with their trailing windows."""

    closed: Closed = "left"

    def window(self, given: Frame, id: str) -> str:
        return text_of(trailing_of(given, id))

    def open(self, number: int, store: MemoryStore) -> HearsCommands:
        frames = [trailing_of(frame, id) for id, frame in self.started.items()]
        terms = Terms(("n",), 1, TRAILING, {frame.id: frame for frame in frames})
        labels = tuple(Label(frame.id, frame, text=frame.id) for frame in frames)
        asked = (("windows", (CONTROLLED,)),)
        spec = trailing_buckets.spec_of(frames, self.closed, asked=asked, buckets=BUCKETS)
        start = Start(tuple(self.started), labels, terms)
        return ControlledTrailing(ControlledRecords(spec, start), number, store)

    def lift(self, rows: Sequence[Row]) -> pa.Table:
        return trailing_buckets.table([{**row, "e": True, "r": True} for row in rows])

    def read(self, row: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
        values = tuple(row[f"f0_p{i}"] for i in range(4))
        return (row["window_id"], row["r"]["n"]), values

    @staticmethod
    def value(rows: list[Row]) -> Any:
        """What a frame holds, by brute force."""
        if not rows:
            return (None,) * 4
        first = min(rows, key=lambda row: row["n"])
        return len(rows), max(str(row["v"]) for row in rows), first["v"], first["n"]


class Pairs(Runner[Interval]):
    """Pairs of left and right rows that meet in a window."""

    def window(self, given: Interval, id: str) -> Periodic:
        return periodic(given, id)

    def open(self, number: int, store: MemoryStore) -> HearsCommands:
        windows = [periodic(window, id) for id, window in self.started.items()]
        start = Start(tuple(self.started), tuple(Label(w.id, w) for w in windows), Terms(()))
        spec = PairSpec(("k0",), block=16, buckets=BUCKETS)
        return ControlledPairs(ControlledRecords(spec, start), number, store)

    def lift(self, rows: Sequence[Row]) -> pa.Table:
        sides = {
            side: [{"n": row["n"]} if row["side"] == side else None for row in rows]
            for side in ("left", "right")
        }
        kind = pa.struct({"n": pa.int64()})
        plain = {
            "k0": pa.array([row["k"] for row in rows], pa.string()),
            "t": pa.array([row["t"] for row in rows], pa.int64()),
        }
        return pa.table(plain | {side: pa.array(own, kind) for side, own in sides.items()})

    def read(self, row: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
        place = (row["window_id"], row["start"], row["end"], row["k0"])
        return place, (row["left"]["n"], row["right"]["n"])


def trailing_of(frame: Frame, id: str) -> Trailing:
    """A trailing window for Muntin."""
    assert frame.length is not None, "others cannot join a stream"
    return Trailing(frame.length, None, frame.delay, id)

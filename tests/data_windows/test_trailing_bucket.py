"""A bucket of trailing windows, stepped from the bytes of its store, beside brute force."""

import json
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.data_windows import event_runs
from muntin.data_windows.trailing_bucket import TrailingBucket, TrailingSpec
from muntin.errors import StateError
from muntin.model.choices import Closed
from muntin.model.frames import Trailing
from muntin.state import keys
from muntin.state.bucket import Bucket
from muntin.state.spec import Spec
from muntin.state.store import MemoryStore, from_bytes
from muntin_testing.reached import Reached
from muntin_testing.trailing_buckets import (
    CLOSED,
    LAST,
    Batches,
    Rows,
    admitted,
    arriving,
    expected,
    plain,
    spec_of,
    table,
)

pytestmark = pytest.mark.slow

WINDOWS = (
    mt.trailing("1us"),
    mt.trailing("7us"),
    mt.trailing("30us"),
    mt.trailing("10us", delay="5us"),
    mt.trailing(rows=1),
    mt.trailing(rows=3, delay="4us"),
    mt.lifetime(),
    mt.lifetime(delay="6us"),
)


@dataclass
class Stream:
    """Steps of one bucket, each from the bytes that the one before left."""

    spec: TrailingSpec
    store: MemoryStore = field(default_factory=MemoryStore)
    dropped: int = 0
    runs: int = 0
    small: int = event_runs.SMALL

    def step(self, rows: Rows, watermark: int) -> Rows:
        """The rows that a batch gives, which comes in two partitions."""
        parts = [table(part) for part in (rows[::2], rows[1::2]) if part]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(event_runs, "SMALL", self.small)
            done = TrailingBucket(self.spec, 0, self.store).step(parts, watermark)
        self.dropped += done.dropped
        self.runs = max(self.runs, sum(name.startswith("events/") for name in self.store))
        return [row for each in done.results for row in each.to_pylist()]

    @property
    def events(self) -> int:
        """How many events are kept."""
        runs = [entry for name, entry in self.store.items() if name.startswith("events/")]
        return sum(int(from_bytes(entry).num_rows) for entry in runs)


def by_number(rows: Rows) -> dict[int, dict[str, Any]]:
    found = {row["n"]: row for row in rows}
    assert len(found) == len(rows), "each row comes out once"
    return found


def random_spec(random: Random, **rules: Any) -> TrailingSpec:
    frames = random.sample(WINDOWS, random.choice([1, 2, 3]))
    return spec_of(frames, random.choice(CLOSED), random.random() < 0.3, **rules)


def note(spec: TrailingSpec, batches: Batches, stream: Stream, reached: Reached) -> None:
    times = [row["t"] for rows in admitted(batches) for row in rows]
    reached[spec.program.closed] += 1
    reached["dropped"] += stream.dropped > 0
    reached["no time"] += None in times
    reached["ties"] += len(set(times)) < len(times)
    reached["several batches"] += sum(bool(rows) for rows, _ in batches) > 2
    reached["carried"] += spec.program.carries
    reached["two streams"] += not all(row["r"] for rows, _ in batches for row in rows)
    reached["several runs"] += stream.runs > 1
    reached["carried in several runs"] += spec.program.carries and stream.runs > 1
    reached["values"] += bool(spec.program.values)
    reached.update({frame.id for frame in spec.program.frames})


KINDS = (
    *("dropped", "no time", "ties", "several batches", "carried", "values"),
    *("two streams", "several runs", "carried in several runs"),
    *(frame.id for frame in WINDOWS),
    *CLOSED,
)


def test_any_split_and_any_restart_give_the_features_of_a_batch() -> None:
    reached = Reached()

    @given(st.integers(0, 10**9))
    def each(seed: int) -> None:
        random = Random(seed)
        spec, batches = random_spec(random), arriving(random)
        stream, found, last = Stream(spec, small=random.choice([1, 1024])), [], 0
        for rows, watermark in batches:
            new = [plain(row) for row in stream.step(rows, watermark)]
            times = {row["n"]: row["t"] for each, _ in batches for row in each}
            for row in new:
                time = times[row["n"]]
                assert time is None or last < time <= watermark, "it comes when it is passed"
            found += new
            last = max(last, watermark)
        kept = [row for rows in admitted(batches) for row in rows]
        events = [row for row in kept if row["e"] and row["t"] is not None]
        wanted = by_number([expected(row, spec, events) for row in kept if row["r"]])
        assert by_number(found) == wanted
        assert stream.dropped == sum(len(rows) for rows, _ in batches) - len(kept)
        assert not [name for name in stream.store if name.startswith("waiting")]
        note(spec, batches, stream, reached)

    each()
    reached.at_least(4, *KINDS)


def test_on_arrival_features_are_of_what_has_arrived() -> None:
    reached = Reached()

    @given(st.integers(0, 10**9))
    def each(seed: int) -> None:
        random = Random(seed)
        spec, batches = random_spec(random, arrival=True), arriving(random)
        stream = Stream(spec, small=random.choice([1, 1024]))
        known: Rows = []
        for (rows, watermark), own in zip(batches, admitted(batches), strict=True):
            known += [row for row in own if row["e"] and row["t"] is not None]
            found = by_number([plain(row) for row in stream.step(rows, watermark)])
            asking = [row for row in own if row["r"]]
            assert found == by_number([expected(row, spec, known) for row in asking])
        note(spec, batches, stream, reached)

    each()
    reached.at_least(4, *KINDS)


@pytest.mark.parametrize(
    ("closed", "arrival"), [*((each, False) for each in CLOSED), ("left", True)]
)
@pytest.mark.parametrize("frame", WINDOWS, ids=lambda frame: frame.id)
def test_no_event_leaves_too_early_or_too_late(
    closed: Closed, arrival: bool, frame: Trailing
) -> None:
    """An event at every instant, and a watermark that stands at each of them."""
    spec = spec_of([frame], closed, arrival=arrival)
    rows = [row(t, n=t) for t in range(1, 41)]
    stream, found = Stream(spec, small=1), []
    for each in [*rows, None, None]:
        watermark = 39 if each is None else each["t"] - 1
        found += stream.step([] if each is None else [each], watermark)
    known = 39 + arrival
    wanted = [expected(each, spec, rows[: each["t"]]) for each in rows[:known]]
    assert by_number([plain(each) for each in found]) == by_number(wanted)


def row(t: int | None, key: str = "a", n: int = 0) -> dict[str, Any]:
    return {"k": key, "t": t, "n": n, "v": 1, "e": True, "r": True}


def test_lateness_is_judged_by_the_batch_before_or_by_its_own() -> None:
    for late_now, dropped in ((False, 0), (True, 1)):
        stream = Stream(spec_of([mt.trailing("10us")], late_now=late_now))
        stream.step([row(100)], 0)
        stream.step([row(90, n=1)], 95)
        assert stream.dropped == dropped
        stream.step([row(95, n=2), row(96, n=3)], 95)
        assert stream.dropped == dropped + 1


@pytest.mark.parametrize(
    ("frames", "most", "left"),
    [
        ([mt.trailing("50us"), mt.trailing("20us", delay="30us")], 50 + 10, 0),
        ([mt.trailing(rows=7)], 7, 7),
        ([mt.lifetime()], 1, 1),
        ([mt.lifetime(delay="20us"), mt.trailing("30us")], 1 + 30 + 10, 1),
    ],
)
def test_state_is_bounded_by_the_windows(frames: list[Trailing], most: int, left: int) -> None:
    stream, sizes = Stream(spec_of(frames)), []
    for start in range(1, 800, 10):
        stream.step([row(start + i, n=start + i) for i in range(10)], start - 1)
        sizes.append(stream.events)
    assert max(sizes) <= most
    assert max(sizes[:40]) == max(sizes[40:])
    stream.step([], 3_000)
    assert stream.events == left
    assert not [name for name in stream.store if name.startswith("waiting")]


class CountingStore(MemoryStore):
    """A store that counts the bytes of events that are written."""

    written = 0

    def write(self, name: str, entry: bytes) -> None:
        self.written += len(entry) if name.startswith("events/") else 0
        super().write(name, entry)


def test_a_step_writes_as_much_as_is_new_however_much_is_kept() -> None:
    """With ten times as many events kept, the same new rows cost hardly more."""
    written, bytes_of_all = {}, {}
    for kept in (3_000, 30_000):
        store = CountingStore()
        stream = Stream(spec_of([mt.trailing("1 hour")]), store)
        stream.step([row(t, f"k{t % 7}", t) for t in range(kept)], 0)
        stream.step([], kept)
        bytes_of_all[kept], store.written = store.written, 0
        for start in range(kept + 1, kept + 2_001, 50):
            rows = [row(t, f"k{t % 7}", t) for t in range(start, start + 50)]
            stream.step(rows, start + 49)
        written[kept] = store.written
        assert stream.events == kept - 1 + 2_000
    assert 8 * bytes_of_all[3_000] < bytes_of_all[30_000], "there is ten times as much"
    assert 0 < written[30_000] < 1.5 * written[3_000], written


@pytest.mark.parametrize(
    ("frames", "needed"),
    [
        ([mt.trailing("300us")], 310),
        ([mt.trailing(rows=7), mt.lifetime()], 20 * (7 + 1)),
    ],
)
def test_state_of_several_runs_is_bounded(frames: list[Trailing], needed: int) -> None:
    """At most twice what the windows need, with twenty keys that take turns."""
    stream, sizes = Stream(spec_of(frames), small=4), []
    for start in range(1, 1_200, 10):
        key = f"k{start // 10 % 20}"
        stream.step([row(start + i, key, start + i) for i in range(10)], start - 1)
        sizes.append(stream.events)
    assert stream.runs > 1
    assert max(sizes) <= 2 * needed
    assert max(sizes[60:]) < 1.2 * max(sizes[:60]), "it does not grow"


def test_a_silent_bucket_lets_its_events_go_and_writes_nothing_else() -> None:
    stream = Stream(spec_of([mt.trailing("50us")]))
    stream.step([row(100), row(110, n=1)], 0)
    stream.step([], 115)
    assert stream.events == 2
    before = dict(stream.store)
    stream.step([], 159)
    changed = {name for name, entry in stream.store.items() if before[name] != entry}
    assert changed == {"header"}
    stream.step([], 160)
    assert stream.events == 0
    assert not [name for name in stream.store if name.startswith("events")]


def test_keys_leave_when_nothing_of_them_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "SMALL", 3)
    stream, found = Stream(spec_of([mt.trailing("60us")])), []
    for i in range(12):
        pair = [row(1000 + 50 * i + j, f"k{i}", 2 * i + j) for j in range(2)]
        stays = [row(1000 + 50 * i, "stays", 100 + i)]
        found += stream.step([*pair, *stays], 960 + 50 * i)
        assert from_bytes(stream.store["keys"]).num_rows <= 8
    found += stream.step([], LAST)
    counts = {each["r"]["n"]: each["f0_p0"] for each in found}
    assert len(counts) == 36
    assert {counts[2 * i + 1] for i in range(12)} == {1}
    assert {counts[100 + i] for i in range(1, 12)} == {1}


def test_a_state_of_another_question_or_format_is_refused() -> None:
    words = (("windows", ("events in [t - 1 hour, t)",)), ("keys", ("card",)))
    spec = spec_of([mt.trailing("10us")], asked=words)
    stream = Stream(spec)
    stream.step([row(100)], 0)
    other = (("windows", ("events in [t - 2 hours, t)",)), words[1])
    for changed, said in (
        (
            replace(spec, asked=other),
            r"for the windows events in \[t - 1 hour, t\), and the query has events in \[t - 2 h.*"
            "with trailing windows nothing may change",
        ),
        (replace(spec, arrival=True), "for the output append, and the query has arrival"),
        (replace(spec, buckets=2), "over 1 buckets, and the query asks for 2"),
    ):
        with pytest.raises(StateError, match=said):
            TrailingBucket(changed, 0, stream.store)
    with pytest.raises(StateError, match=r"columns string, .*: cast them"):
        TrailingBucket(spec, 0, stream.store).step([table([row(1)]).drop_columns("p3")], 0)
    with pytest.raises(StateError, match="or for trailing ones; ask for these again"):
        Bucket(Spec((), (), ()), 0, stream.store)
    cutty = json.loads(stream.store["header"]) | {"format": "cutty 1"}
    stream.store["header"] = json.dumps(cutty).encode()
    with pytest.raises(StateError, match="has format 'cutty 1', and this query needs 'frames 2'"):
        TrailingBucket(spec, 0, stream.store)

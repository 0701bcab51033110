"""Streams with commands: random scripts, a run of them in process, and the history by its text."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from muntin.model.windows import Window
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import Cut, Slices
from muntin.state.control import Command, Entry, Terms
from muntin.state.controlled import Controlled, ControlledBucket, ControlledStep
from muntin.state.store import MemoryStore
from muntin_testing.buckets import PARTIALS, BruteForce, Row, pieces, spec_of
from muntin_testing.windows import random_window

Emitted = dict[tuple[str, str | None, int, int], tuple[Any, ...]]
"""Results by id, key, start and end."""

NAMES = ("total", "rows")
IDS = ("x", "y", "z", "first 0", "first 1")


@dataclass(frozen=True)
class Scripted:
    """One micro-batch: its commands, its rows, and the watermark that it runs under."""

    commands: list[Command]
    rows: Sequence[Row]
    watermark: int


def scripted(random: Random, grain: int, batches: int) -> tuple[list[Window], list[Scripted]]:
    """Windows of the start, and batches in which commands come between the rows."""
    first = list(dict.fromkeys(random_window(random, grain) for _ in range(random.randint(1, 2))))
    started = [Window(w.range, w.slide, w.offset, f"first {i}") for i, w in enumerate(first)]
    pool = [*started, *(random_window(random, grain) for _ in range(3))]
    clock, newest, watermark, number, found = 0, None, 0, 0, []
    delay = random.choice([0, 5, 20]) * grain
    for i in range(batches):
        clock += random.randint(0, 12) * grain
        rows: list[Row] = []
        for _ in range(random.choice([0, 3, 8])):
            number += 1
            time = max(clock - random.choice([0, 3, 9, 40]) * grain + random.randrange(grain), 0)
            rows.append((time, random.choice("abc"), random.choice([None, number]), number))
        commands = [
            _command(random, pool, f"{i:03}{j}") for j in range(random.choice([0, 0, 1, 3]))
        ]
        found.append(Scripted(commands, rows, watermark))
        newest = max([newest or 0, *(row[0] for row in rows)])
        watermark = max(watermark, newest - delay)
    return started, [*found, Scripted([], [], watermark), Scripted([], [], watermark + 200 * grain)]


def _command(random: Random, pool: list[Window], key: str) -> Command:
    id = random.choice(IDS)
    if random.random() < 0.4:
        return Command(key, "suspend", id)
    window = random.choice(pool)
    if random.random() < 0.1:
        window = Window(window.range * 2 + 1, window.slide)
    names = random.choice([None, None, ("total",), ("none",)])
    return Command(key, "register", id, replace_id(window, id), names)


def floored(time: int, grain: int) -> int:
    """A time as a stream of that grain knows it."""
    return time - time % grain


def replace_id(window: Window, id: str) -> Window:
    return Window(window.range, window.slide, window.offset, id)


@dataclass
class Run:
    """A stream of several buckets, each made anew from its bytes in every step."""

    started: list[Window]
    grain: int = 1
    buckets: int = 2
    rules: dict[str, Any] = field(default_factory=dict)
    stores: list[MemoryStore] = field(default_factory=list)

    def __post_init__(self) -> None:
        spec = replace(spec_of(self.started, **self.rules), bases=(), buckets=self.buckets)
        self.stream = Controlled(spec, tuple(self.started), Terms(NAMES, self.grain))
        self.stores = [MemoryStore() for _ in range(self.buckets)]
        self.grid = Base(0, Slices((Cut(self.grain, 0),)), ())

    def step(self, batch: Scripted) -> tuple[Emitted, ControlledStep]:
        """The results of all buckets under (id, key, start, end), and what the last one said."""
        newest = max((floored(row[0], self.grain) for row in batch.rows), default=None)
        texts = [command.to_json() for command in reversed(batch.commands)]
        found: Emitted = {}
        told: list[Any] = []
        for number, store in enumerate(self.stores):
            rows = [
                row for row in batch.rows if "abc".index(row[1] or "a") % self.buckets == number
            ]
            tables = [pieces(part, self.grid) for part in (rows[::2], rows[1::2]) if part]
            bucket = ControlledBucket(self.stream, number, store)
            step = bucket.step(tables, batch.watermark, texts, newest)
            told.append((step.entries, step.labels))
            for table in step.results:
                for row in table.to_pylist():
                    at = (row["window_id"], row["k0"], row["start"], row["end"])
                    assert at not in found, f"{at} twice in one step"
                    found[at] = (row["asked"], *(row[p.name] for p in PARTIALS))
        assert all(each == told[0] for each in told), "buckets disagree"
        return found, step


@dataclass
class History:
    """What the commands say, kept apart from the library: which window stood when under which id.

    `spans` are (id, window, since, until, flags); the begin of a registered window is the
    stream's to say, and its rows must then be those of a window that was there all along. Before
    that it may answer single instances, all keys of them: `early` has their first.
    """

    started: list[Window]
    grain: int
    windows: list[Window]
    update: bool = False
    late_now: bool = False
    newest: int | None = None
    spans: list[list[Any]] = field(default_factory=list)
    early: dict[tuple[str, Window, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.spans = [[w.id, w, None, None, None] for w in self.started]
        named = [replace_id(w, str(i)) for i, w in enumerate(self.windows)]
        self.oracle = BruteForce(named, self.update, self.late_now)

    def step(self, batch: Scripted, entries: Sequence[Entry], given: Emitted) -> Emitted:
        """The rows that a batch must give, once every entry was found to be right.

        Of early instances, those of which `given` has some.
        """
        last = self.oracle.last
        said = {entry.key: entry for entry in entries}
        assert list(said) == [command.key for command in batch.commands]
        for command in batch.commands:
            self._obey(command, said[command.key], last)
        found: Emitted = {}
        for (name, key, start), partials in self.oracle.step(batch.rows, batch.watermark).items():
            window = self.windows[int(name)]
            end = start + window.range
            for id, own, since, until, flags in self.spans:
                begun = since is None or start >= since or self._early(id, own, since, start, given)
                if own == window and begun and (until is None or end <= until):
                    found[id, key, start, end] = (flags, *partials)
        times = [floored(row[0], self.grain) for row in batch.rows]
        self.newest = max([*times, self.newest], key=_or_less)
        return found

    def _early(self, id: str, window: Window, since: int, start: int, given: Emitted) -> bool:
        """Whether an instance is answered before the window is complete."""
        first = self.early.get((id, window, since))
        if first is None or start < first:
            return False
        return start == first or any((at[0], at[2]) == (id, start) for at in given)

    def _obey(self, command: Command, entry: Entry, last: int) -> None:
        open = [span for span in self.spans if span[0] == command.id and span[3] is None]
        assert entry.effective == self.newest
        if command.action == "suspend":
            assert entry.state == ("suspended" if open else "refused")
            for span in open:
                span[3] = -(10**9) if self.newest is None else self.newest
            return
        window = command.window
        assert isinstance(window, Window)
        lengths = (window.range, window.slide, window.offset)
        bad = open or any(n % self.grain for n in lengths) or "none" in (command.aggregates or ())
        assert entry.state == ("refused" if bad else "running"), entry
        if bad:
            assert entry.reason
            return
        flags = "10" if command.aggregates else None
        self._check_begin(command.id, window, entry.complete_from, last)
        self.spans.append([command.id, window, entry.complete_from, None, flags])
        if entry.answers_from is not None:
            assert entry.complete_from is not None
            assert entry.answers_from < entry.complete_from
            self._check_begin(command.id, window, entry.answers_from, last)
            self.early[command.id, window, entry.complete_from] = entry.answers_from

    def _check_begin(self, id: str, window: Window, since: int | None, last: int) -> None:
        """No later than the first instance that begins after the newest row."""
        assert (since is None) == (self.newest is None)
        if since is None or self.newest is None:
            return
        ends = [
            until
            for own, other, begin, until, _ in self.spans
            if own == id and until is not None and (begin is None or begin + other.range <= until)
        ]
        assert window.starts_at(since)
        assert since + window.range > max([last, *ends])
        after = self.newest + 1
        latest = after + (window.offset - after) % window.slide
        assert since <= max(latest, *(end - window.range + window.slide for end in ends), latest)


def _or_less(newest: int | None) -> int:
    return -1 if newest is None else newest


def history_of(started: list[Window], script: list[Scripted], grain: int, **rules: Any) -> History:
    """The history of a script, which watches every window that it ever names."""
    commands = (command for batch in script for command in batch.commands)
    asked = [c.window for c in commands if isinstance(c.window, Window)]
    return History(started, grain, list(dict.fromkeys([*started, *asked])), **rules)


def texts(commands: Sequence[Command]) -> Iterator[dict[str, Any]]:
    """Commands as JSON objects."""
    yield from (json.loads(command.to_json()) for command in commands)

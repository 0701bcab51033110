"""No command kills or hangs a stream: it is refused with a reason, or its rows are right."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import muntin as mt
from conformance.selection import many
from muntin.model.durations import LONGEST
from muntin.model.windows import Window
from muntin.state.control import (
    MOST_OVERLAP,
    MOST_WINDOWS,
    Command,
    Folder,
    Stream,
    read_command,
)
from muntin.state.controlled import ControlledBucket
from muntin_testing.buckets import Row, pieces
from muntin_testing.control import History, Run, Scripted
from muntin_testing.poison import POISON, SPREAD, mutated
from muntin_testing.watchdog import watchdog

FIRST = Window("1 minute", "1 minute", id="first")
SECOND, DAY = 1_000_000, 86_400_000_000
START = 19_723 * DAY
"""The first day of 2024."""


@pytest.fixture(autouse=True)
def _watchdog(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # thousands of files, none of them worth it
    with watchdog(120, "a hostile command"):
        yield


class Directory:
    """A stream of one bucket that reads its commands from a directory, and logs there."""

    def __init__(self, path: Path, started: list[Window]) -> None:
        self.run, self.folder = Run(started, buckets=1), Folder.at(path).make()
        self.folder.write_stream(Stream(tuple(started), self.run.stream.terms))
        self.control, self.written = mt.Control(path), 0

    def write(self, raw: bytes) -> None:
        self.written += 1
        (self.folder.commands / f"{self.written:06}.json").write_bytes(raw)

    def step(self, commands: list[bytes], rows: list[Row], watermark: int) -> dict[str, int]:
        """One micro-batch, its entries logged; how many rows each running window gave."""
        tables = [pieces(rows, self.run.grid)] if rows else []
        newest = max((row[0] for row in rows), default=None)
        bucket = ControlledBucket(self.run.stream, 0, self.run.stores[0])
        step = bucket.step(tables, watermark, commands, newest)
        assert len(step.entries) == len({raw.strip() for raw in commands})
        for entry in step.entries:
            assert (entry.state == "refused") == bool(entry.reason), entry
            self.folder.write_entry(entry)
        counts = {label.id: 0 for label in step.labels if label.running}
        for table in step.results:
            id = table.column("window_id")[0].as_py()
            counts[id] = counts.get(id, 0) + table.num_rows
        return counts


def test_poison_is_refused_in_the_log_and_the_stream_lives(tmp_path: Path) -> None:
    stream = Directory(tmp_path, [FIRST])
    for raw in (*POISON.values(), SPREAD):
        stream.write(raw)
    assert "waiting" in repr(stream.control.list()), "some is read before the stream meets it"
    stream.step([*POISON.values(), SPREAD], [(START, "a", 1, 1)], START)
    listed = stream.control.list()
    assert [row.state for row in listed].count("running") == 2, "the first one and `spread`"
    refused = [row for row in listed if row.state.endswith("refused")]
    assert len(refused) == len(POISON)
    assert all(row.reason and len(row.reason) < 400 for row in refused)
    assert not any("waiting" in row.state for row in listed)
    repr(listed).encode()
    assert stream.step([], [], START + 3 * 60 * SECOND) == {"first": 1, "spread": 1}


REASONS = {
    "not UTF-8": "must be text in UTF-8",
    "not JSON": "cannot be read \\(",
    "not an object": "must be a JSON object, not",
    "too long": "has [0-9]+ characters|has at most 65,536 bytes",
    "control character": "holds a control character",
    "action": "unknown action",
    "id": "window id .* must be a text|window id is empty",
    "no window": "register needs a window",
    "window unreadable": "cannot be read: write|unknown unit|whole number of micro",
    "window that cannot be": "longer than|shorter than slide|must be positive",
    "overlap": "a row would fall into",
    "names": "must be a list of names|keeps no partials|the aggregate is empty",
    "taken": "is taken",
    "not there": "there is no window",
}
"""Every refusal is of one of these kinds."""


def test_thousands_of_mutated_command_files(tmp_path: Path) -> None:
    random, stream = Random("mutated commands"), Directory(tmp_path, [FIRST])
    reached = dict.fromkeys([*REASONS, "running", "suspended"], 0)
    total, counts = 0, {"first": 0}
    for batch in range(many(25, 50)):
        commands = [mutated(random) for _ in range(100)]
        for raw in commands:
            stream.write(raw)
        now = START + batch * 60 * SECOND
        over = [Command("1", "suspend", id).to_json().encode() for id in counts if id != "first"]
        if "first" not in counts:
            over.append(Command("1", "register", "first", FIRST).to_json().encode())
        counts = stream.step([*commands, *over], [(now, "a", 1, batch)], now - 120 * SECOND)
        total += sum(counts.values())
        if batch % 10 == 0:
            repr(stream.control.list()).encode()
    for entry in stream.folder.read_log():
        kinds = [kind for kind, form in REASONS.items() if re.search(form, entry.reason or "")]
        assert len(kinds) == (entry.state == "refused") or len(kinds) > 1, entry
        for kind in kinds or [entry.state]:
            reached[kind] += 1
    listed = stream.control.list()
    assert not any("waiting" in row.state for row in listed)
    repr(listed).encode()
    assert total > many(75, 150), "windows came and went, and gave rows"
    rare = {kind: times for kind, times in reached.items() if times < 5}
    assert not rare, f"drawn too rarely to mean much: {rare} of {reached}"


LENGTHS = (
    *(1, 2, 3, 999, 1000, 7_001, SECOND, 60 * SECOND, 90 * SECOND + 1, 3600 * SECOND, DAY),
    *(7 * DAY, 30 * DAY, 366 * DAY, 36_525 * DAY, 10**15 + 37, 2**54 + 1, LONGEST - 1, LONGEST),
)
TOO_LONG = (LONGEST + 1, 2**63 - 1, 2**63, 10**23 * DAY, 10**400)


def any_window(random: Random) -> str:
    """Range, slide and offset as text; one in five cannot be."""
    length = random.choice(TOO_LONG if random.random() < 0.05 else LENGTHS)
    steps = random.choice([1, 1, 1, 1, 1, 2, 2, 3, 3, 7, 25, 10**6, 10**9])
    slide = max(length // steps - random.choice([0, 0, 0, 1]), 1)
    if steps > 25 and length // slide <= MOST_OVERLAP:  # another test is for these
        slide = length
    offset = random.choice([0, 0, 0, 0, 0, 1, -1, slide // 2, slide - 1, -slide + 1, slide])
    return "{}/{}@{}".format(*(f"{n} microseconds" for n in (length, slide, offset)))


def any_rows(random: Random, number: int) -> list[Row]:
    """A few rows on which windows of a microsecond and of a thousand years meet."""
    steps = (0, 1, 2, 999, SECOND, 59 * SECOND, 3600 * SECOND, DAY, 31 * DAY, 366 * DAY)
    times = [START + sum(random.sample(steps, 2)) + number for _ in range(3)]
    return [(time, random.choice("abc"), i, 10 * number + i) for i, time in enumerate(times)]


def test_whatever_register_accepts_runs_and_its_rows_are_right(tmp_path: Path) -> None:
    random = Random("any window")
    reached = {"ran": 0, "refused": 0, "after rows": 0, "rows": 0, "long": 0, "short": 0}
    parts = many(40, 100)
    for part in range(parts):
        control = mt.Control(tmp_path / str(part))
        for _ in range(14):
            text, id = any_window(random), f"w{random.randrange(10**9)}"
            try:
                control.register(text, id)
            except mt.MuntinError:
                reached["refused"] += 1
        assert control.folder is not None
        commands = control.folder.read_commands()
        windows = [c.window for c in commands if isinstance(c.window, Window)]
        reached["ran"] += len(windows)
        reached["long"] += sum(window.range >= 36_525 * DAY for window in windows)
        reached["short"] += sum(window.range <= 1000 for window in windows)
        late = random.randrange(len(commands) + 1)
        reached["after rows"] += len(commands) - late
        first, second = any_rows(random, 0), any_rows(random, 1)
        newest = max(row[0] for row in first + second)
        script = [
            Scripted(commands[:late], [], 0),
            Scripted([], first, 0),
            Scripted(commands[late:], second, min(row[0] for row in first) - SECOND),
            Scripted([], [], newest - random.choice([0, SECOND, DAY])),
            Scripted([], [], newest + 2 * LONGEST),
        ]
        run = Run([FIRST], buckets=1, rules={"update": part % 3 == 0})
        history = History([FIRST], 1, list(dict.fromkeys([FIRST, *windows])), part % 3 == 0)
        for batch in script:
            found, step = run.step(batch)
            assert found == history.step(batch, step.entries, found), (part, commands)
            reached["rows"] += len(found)
    assert reached["ran"] >= 10 * parts, reached
    assert all(times >= parts for times in reached.values()), reached


@pytest.mark.parametrize("length", [MOST_OVERLAP, MOST_OVERLAP - 1, LONGEST, 7 * DAY + 1])
def test_as_many_instances_of_a_row_as_there_may_be(tmp_path: Path, length: int) -> None:
    slide = -(-length // MOST_OVERLAP)
    control = mt.Control(tmp_path)
    control.register(Window(length, slide, id="wide"))
    if slide > 1:
        with pytest.raises(mt.MuntinError, match=r"choose a slide of at least"):
            control.register(Window(length, slide - 1, id="wider"))
    assert control.folder is not None
    raw = [command.to_json().encode() for command in control.folder.read_commands()]
    stream = Directory(tmp_path / "stream", [FIRST])
    stream.step(raw, [], 0)
    begins = [START - START % slide - i * slide for i in range(MOST_OVERLAP + 1)]
    holding = sum(begin + length > START for begin in begins)
    assert holding in (MOST_OVERLAP, MOST_OVERLAP - 1, -(-length // slide), length // slide)
    stream.step([], [(START, "a", 1, 1)], 0)
    assert stream.step([], [], START + 2 * LONGEST)["wide"] == holding


def test_a_stream_has_a_bounded_number_of_windows(tmp_path: Path) -> None:
    stream = Directory(tmp_path, [FIRST])
    many = [
        Command(f"{i:05}", "register", f"w{i}", Window(SECOND * (i + 2), SECOND))
        for i in range(MOST_WINDOWS + 5)
    ]
    raw = [command.to_json().encode() for command in many]
    stream.step(raw, [(START, "a", 1, 1)], START)
    states = [entry.state for entry in stream.folder.read_log()]
    assert (states.count("running"), states.count("refused")) == (MOST_WINDOWS - 1, 6)
    with pytest.raises(mt.MuntinError, match="has 1,000 windows, and takes no more: suspend some"):
        stream.control.register("1 hour")


def test_commands_are_what_they_say_however_they_are_encoded() -> None:
    command = Command("1", "register", "größe", Window(7, 3, 1, "größe"), ("a", "b"))
    text = command.to_json()
    for raw in (text, text.encode(), text.encode("utf-8-sig"), f"\n{text}\n\n"):
        assert read_command(raw) == command

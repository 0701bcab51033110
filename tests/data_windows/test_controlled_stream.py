"""Windows of the data that come and go: rows are those of the records that each of them can see."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.data_windows.controlled_records import ControlledRecords
from muntin.data_windows.controlled_stream import ControlledStream
from muntin.data_windows.protocol import Record, WindowFunction
from muntin.data_windows.stream_state import signature
from muntin.errors import StateError
from muntin.model.data_windows import CountWindow, DataWindow, Session, Snapshot
from muntin.model.window_text import text_of
from muntin.model.windows import Window
from muntin.state.control import Command, Entry, Label, Terms
from muntin.state.control.decision import DATA
from muntin.state.kept_labels import Start
from muntin.state.store import MemoryStore
from muntin_testing.data_windows import Records, meaning
from muntin_testing.reached import Reached
from muntin_testing.record_streams import (
    FIRST,
    INPUTS,
    admitted,
    arriving,
    plain,
    row_of,
    sorted_rows,
    spec_of,
    table,
)

Rows = list[tuple[Any, ...]]
AnyOf = DataWindow | Window


class Run:
    """A bucket with a control, each step from the bytes that the one before left."""

    def __init__(self, windows: list[AnyOf], **rules: Any) -> None:
        known = {w.id: w for w in windows}
        terms = Terms(("n",), 1, DATA, known, tuple(INPUTS))
        labels = tuple(Label(w.id, w, text=w.id) for w in windows)
        start = Start(tuple(map(signature, windows)), labels, terms)
        self.stream = ControlledRecords(spec_of([], controlled=True, **rules), start)
        self.store, self.written = MemoryStore(), 0

    def step(self, rows: Records, watermark: int, *commands: Command) -> tuple[Rows, list[Entry]]:
        parts = [table(part) for part in (rows[::2], rows[1::2]) if part]
        bucket = ControlledStream(self.stream, 0, self.store)
        newest = max((row["t"] for row in rows), default=None)
        done = bucket.step(parts, watermark, [c.to_json() for c in commands], newest)
        found = [row for each in done.results for row in each.to_pylist()]
        for row in found:
            assert row.pop("asked") is None
        return [tuple(plain(row).values()) for row in found], list(done.entries)


def register(key: str, window: AnyOf | str, id: str) -> Command:
    return Command(key, "register", id, window if isinstance(window, str) else text_of(window))


def expected(window: AnyOf, id: str, keys: dict[Any, Records], entry: Entry, taken: int) -> Rows:
    """What a window registered when the records before `taken` were gone must give."""
    begin = entry.complete_from
    found = []
    for key, all_records in keys.items():
        periodic = isinstance(window, Window | Session)
        records = [r for r in all_records if begin is None or periodic or r["t"] >= taken]
        if not records:
            continue
        for start, end, run in meaning(finished(window), records):
            if begin is None or not periodic or start >= begin:
                found.append(row_of(key, 0, start, end, [records[i] for i in run]))
    return [(key, id, *rest) for key, _, *rest in found]


def finished(window: AnyOf) -> AnyOf:
    if isinstance(window, Session | Snapshot | Window):
        return window
    changed: Any = {"incomplete": False}
    return replace(window, **changed)


GO, JUMP = mt.punctuation("go", id="going"), mt.threshold("price", 3, id="jumps")
STARTED: list[AnyOf] = [mt.session("9us", id="visits"), GO, JUMP]
gaps = st.integers(1, 20).map(lambda n: mt.session(f"{n}us"))
counts = st.tuples(st.integers(1, 6), st.integers(1, 6)).map(
    lambda pair: mt.count_window(max(pair), min(pair))
)
periodic = st.tuples(st.integers(1, 30), st.integers(1, 30)).map(
    lambda pair: Window(max(pair), min(pair))
)
others: st.SearchStrategy[AnyOf] = st.sampled_from([mt.snapshot(), GO, JUMP])
registered: st.SearchStrategy[AnyOf] = st.one_of(gaps, counts, periodic, others)


def test_rows_of_registered_windows_are_whole() -> None:
    reached = Reached()

    @given(st.data(), registered, st.integers(0, 6), st.integers(0, 4))
    def each(data: st.DataObject, window: AnyOf, turn: int, more: int) -> None:
        batches = data.draw(arriving(odd=True))
        turn = min(turn, len(batches) - 2)
        run, found, rest = Run(STARTED), list[Any](), list[Any]()
        entry: Entry | None = None
        until: int | None = None
        last = taken = 0
        for number, (rows, watermark) in enumerate(batches):
            text = window.id if window in (GO, JUMP) else text_of(window)
            commands = [register("1", text, "new")] if number == turn else []
            if number == turn + more + 1:
                commands = [Command("2", "suspend", "new")]
            got, entries = run.step(rows, watermark, *commands)
            if number == turn:
                [entry], taken = entries, last
                assert entry.state == "running", entry
            elif entries:
                until = max(entries[0].effective or -1, last)  # what had ended was given
            found += [row for row in got if row[1] == "new"]
            rest += [row for row in got if row[1] != "new"]
            last = max(last, watermark)
        assert entry is not None
        keys = admitted(batches)
        copied = window in (GO, JUMP, STARTED[0]) and entry.effective is not None
        if copied:
            return  # the next test
        due = expected(window, "new", keys, entry, taken)
        over = [row for row in due if until is None or row[3] <= until]
        if until is None or isinstance(window, Session | Window | CountWindow | Snapshot):
            assert sorted_rows(found) == sorted_rows(over)
        start = Entry("", "", "", "running")
        for own in STARTED:
            mine = [row for row in rest if row[1] == own.id]
            assert sorted_rows(mine) == sorted_rows(expected(own, own.id, keys, start, 0))
        reached[type(window).__name__] += bool(found)
        reached["from records that waited"] += any(
            row[2] <= (entry.effective or 0) for row in found
        )
        reached["suspended"] += until is not None and len(over) < len(due)

    each()
    reached.at_least(3, "Session", "CountWindow", "Window", "Snapshot")
    reached.at_least(3, "from records that waited", "suspended")


def test_an_equal_window_answers_at_once_with_all_that_the_other_has() -> None:
    reached = Reached()

    @given(st.data(), st.sampled_from([*STARTED, mt.count_window(3, 2, id="three")]))
    def each(data: st.DataObject, window: AnyOf) -> None:
        batches = data.draw(arriving(odd=True))
        run = Run([*STARTED, mt.count_window(3, 2, id="three")])
        for number, (rows, watermark) in enumerate(batches):
            again = [register("1", window.id, "again")] if number == len(batches) // 2 else []
            got, _ = run.step(rows, watermark, *again)
            if number >= len(batches) // 2:
                own = [(row[0], *row[2:]) for row in got if row[1] == window.id]
                assert own == [(row[0], *row[2:]) for row in got if row[1] == "again"]
                reached[window.id] += bool(own)

    each()
    reached.at_least(5, "visits", "going", "three")


class Thirds(WindowFunction):
    """Every third record ends a window."""

    def __init__(self) -> None:
        self.seen = 0

    def mark(self, time: int, record: Record) -> tuple[int, int]:
        turn, self.seen = self.seen % 3 == 0, self.seen + 1
        return int(turn and self.seen > 1), int(turn)


def records(*times: int) -> Records:
    more = {"k": "a", "km": None, "price": None, "go": None, "stop": None}
    return [{"t": FIRST + t, "v": t, "n": t, **more} for t in times]


def test_a_users_function_is_registered_by_the_id_that_it_had_at_the_start() -> None:
    run = Run([mt.user_window(Thirds, id="thirds")])
    run.step(records(1, 2), FIRST)
    run.step([], FIRST + 3, Command("1", "suspend", "thirds"))
    run.step([], FIRST + 4)
    _, [entry] = run.step(records(10, 11, 12, 13), FIRST + 4, register("2", "thirds", "more"))
    assert (entry.state, entry.complete_from) == ("running", FIRST + 4)
    found, _ = run.step([], FIRST + 99)
    assert [row[1:5] for row in found] == [("more", FIRST + 10, FIRST + 13, 3)]


def test_no_window_comes_out_twice_under_an_id_that_is_taken_over() -> None:
    """Two records at a time until E under the old window, and from there on under the new one."""
    run = Run([mt.count_window(2, id="twos"), mt.count_window(2, 1, id="sliding")])
    run.step(records(1, 2, 3, 4), 0)
    commands = [Command("1", "suspend", "twos"), register("2", "2/1 records", "twos")]
    _, entries = run.step(records(5, 6), FIRST, *commands)
    assert [entry.state for entry in entries] == ["suspended", "running"]
    found, _ = run.step([], FIRST + 99)
    bounds = [(row[2] - FIRST, row[3] - FIRST) for row in found if row[1] == "twos"]
    assert sorted(bounds) == [(1, 3), (3, 5), (4, 6), (5, 7)]


def test_the_same_window_suspended_and_registered_at_once_goes_on_without_a_gap() -> None:
    visits = mt.session("4us", id="visits")
    run, other = Run([visits]), Run([visits])
    again = [Command("1", "suspend", "visits"), register("2", "session 4us", "visits")]
    found, expected = list[Any](), list[Any]()
    for rows, watermark, commands in ((records(1, 3, 9), 0, []), (records(11, 30), FIRST, again)):
        found += run.step(rows, watermark, *commands)[0]
        expected += other.step(rows, watermark)[0]
    found, expected = found + run.step([], 10**6)[0], expected + other.step([], 10**6)[0]
    assert len(found) == 3
    assert sorted_rows(found) == sorted_rows(expected)


def test_a_session_that_may_have_begun_before_is_not_emitted() -> None:
    run = Run([mt.count_window(100, 100, id="hundreds")])
    run.step(records(1, 2), 0)
    run.step([], FIRST + 3)
    _, [entry] = run.step(records(5, 30), FIRST + 3, register("1", "session 4us", "s"))
    assert (entry.complete_from, entry.effective) == (FIRST + 7, FIRST + 2)
    found, _ = run.step([], FIRST + 99)
    assert [row[1:5] for row in found] == [("s", FIRST + 30, FIRST + 34, 1)]


def test_what_cannot_join_is_refused_with_the_reason() -> None:
    run = Run([mt.session("5us", id="visits")])
    texts = {
        "session 5us up to 20us": "depends on records that a running stream has let go: give it",
        "10 of km": "depends on records that a running stream has let go",
        "5 fish": "fish",
    }
    for number, (text, reason) in enumerate(texts.items()):
        _, [entry] = run.step([], 0, register(str(number), text, "x"))
        assert entry.state == "refused"
        assert reason in (entry.reason or "")


def test_what_a_window_kept_leaves_with_it() -> None:
    run = Run([mt.session("5us", id="visits")])
    run.step(records(*range(10)), 0, register("1", "50/1 records", "many"))
    run.step([], FIRST + 10)
    full = sum(map(len, run.store.values()))
    run.step([], FIRST + 11, Command("2", "suspend", "many"))
    run.step([], FIRST + 30)
    run.step([], FIRST + 31)
    assert sum(map(len, run.store.values())) < full
    assert "many" not in json.loads(run.store["control"].decode())["labels"]


def test_a_stream_without_a_control_does_not_go_on_with_one() -> None:
    run = Run([mt.session("5us", id="visits")])
    run.step(records(1), 0)
    other = Run([mt.session("6us", id="visits")])
    with pytest.raises(StateError, match="this stream was started with the windows visits"):
        ControlledStream(other.stream, 0, run.store)

"""Trailing windows that come and go: each row has the features that a batch gives it, or no row."""

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.data_windows.controlled_records import ControlledRecords
from muntin.data_windows.controlled_trailing import ControlledTrailing
from muntin.data_windows.stream_state import CONTROLLED
from muntin.model.frames import Trailing
from muntin.model.window_text import text_of
from muntin.state.control import Command, Entry, Label, Terms
from muntin.state.control.decision import TRAILING
from muntin.state.kept_labels import Start
from muntin.state.store import MemoryStore
from muntin_testing.reached import Reached
from muntin_testing.trailing_buckets import Rows, admitted, arriving, expected, plain, spec_of
from muntin_testing.trailing_buckets import table as lifted


class Run:
    """A bucket with a control, each step from the bytes that the one before left."""

    def __init__(self, frames: list[Trailing], **rules: Any) -> None:
        asked = (("windows", (CONTROLLED,)),)
        self.spec = spec_of(frames, asked=asked, **rules)
        known = {frame.id: frame for frame in frames}
        labels = tuple(Label(frame.id, frame, text=frame.id) for frame in frames)
        start = Start(tuple(known), labels, Terms(("n",), 1, TRAILING, known))
        self.stream, self.store = ControlledRecords(self.spec, start), MemoryStore()

    def step(self, rows: Rows, watermark: int, *commands: Command) -> tuple[Rows, list[Entry]]:
        parts = [lifted(part) for part in (rows[::2], rows[1::2]) if part]
        bucket = ControlledTrailing(self.stream, 0, self.store)
        newest = max((row["t"] for row in rows if row["t"] is not None), default=None)
        done = bucket.step(parts, watermark, [c.to_json() for c in commands], newest)
        return [row for each in done.results for row in each.to_pylist()], list(done.entries)


def register(key: str, frame: Trailing, id: str = "new") -> Command:
    return Command(key, "register", id, text_of(frame))


def one(frame: Trailing, run: Run) -> Any:
    return replace(run.spec, program=replace(run.spec.program, frames=(frame,)))


def test_every_row_has_the_features_of_a_batch_or_none() -> None:
    reached = Reached()

    @given(st.integers(0, 10**9))
    def each(seed: int) -> None:
        random = Random(seed)
        batches = arriving(random)
        first = mt.trailing(f"{random.choice([1, 7, 30])}us", id="first")
        frame = mt.trailing(
            f"{random.choice([2, 7, 20, 50])}us", delay=random.choice([None, "3us"])
        )
        turn, stop = random.randrange(len(batches)), random.randrange(len(batches))
        run = Run([first], closed=random.choice(["left", "right", "both", "none"]))
        found, since, until, entry = list[Any](), 0, None, None
        last, released = 0, list[Any]()
        for number, (rows, watermark) in enumerate(batches):
            commands = [register("1", frame)] if number == turn else []
            if number == stop and stop > turn:
                commands = [Command("2", "suspend", "new")]
            got, entries = run.step(rows, watermark, *commands)
            if number == turn:
                [entry] = entries
                since = entry.complete_from or 0
                assert frame.reach is not None
                assert first.reach is not None
                assert since <= last + 1 + frame.reach
                if first.reach >= frame.reach and entry.effective:
                    assert since == last + 1, "what is held serves every row to come"
                    reached["from what was held"] += 1
                reached["had to wait"] += since > last + 1
            elif entries:
                until = -1 if entries[0].effective is None else entries[0].effective
            found += got
            last = max(last, watermark)
        taken = [row for rows in admitted(batches) for row in rows]
        events = [row for row in taken if row["e"] and row["t"] is not None]
        asked = [row for row in taken if row["r"] and row["t"] is not None]
        for id, own, low, high in (("first", first, 0, None), ("new", frame, since, until)):
            answered = [r for r in asked if r["t"] >= low and (high is None or r["t"] <= high)]
            mine = {row["r"]["n"]: row for row in found if row["window_id"] == id}
            timed = {n: row for n, row in mine.items() if n in {r["n"] for r in asked}}
            if id == "new":  # rows that came out before it was registered have none
                answered = [r for r in answered if r["t"] > _last_at(batches, turn)]
            assert set(timed) == {r["n"] for r in answered}
            for row in answered:
                given = {
                    k: v for k, v in timed[row["n"]].items() if k not in ("window_id", "asked")
                }
                assert plain(given) == expected(row, one(own, run), events)
            released += answered
        reached["suspended"] += until is not None
        reached["rows"] += bool(released)

    each()
    reached.at_least(10, "from what was held", "had to wait", "suspended", "rows")


def _last_at(batches: Any, turn: int) -> int:
    return max((watermark for _, watermark in batches[:turn]), default=0)


def row(time: int, value: int = 1) -> dict[str, Any]:
    return {"k": "a", "t": time, "n": time, "v": value, "e": True, "r": True}


def counts(found: Rows, id: str) -> dict[int, int | None]:
    return {each["r"]["n"]: each["f0_p0"] for each in found if each["window_id"] == id}


def test_a_shorter_window_answers_at_once_and_a_longer_one_when_nothing_is_missing() -> None:
    run = Run([mt.trailing("30us", id="thirty")])
    run.step([row(t) for t in range(1, 101)], 0)
    run.step([], 100)
    commands = [register("1", mt.trailing("21us"), "short"), register("2", mt.trailing("50us"))]
    _, entries = run.step([row(t) for t in range(101, 140)], 100, *commands)
    assert [entry.complete_from for entry in entries] == [101, 121]
    found, _ = run.step([], 140)
    assert counts(found, "short") == dict.fromkeys(range(101, 140), 21)
    assert counts(found, "new") == dict.fromkeys(range(121, 140), 50)


def test_a_suspended_window_answers_rows_that_were_there() -> None:
    run = Run([mt.trailing("5us", id="five"), mt.trailing("9us", id="nine")])
    run.step([row(t) for t in range(1, 20)], 0)
    run.step([row(25)], 10, Command("1", "suspend", "nine"))
    found, _ = run.step([], 40)
    assert max(counts(found, "nine")) == 19
    assert max(counts(found, "five")) == 25
    run.step([], 41, Command("2", "suspend", "five"))
    run.step([], 50)
    found, _ = run.step([row(60)], 50)
    assert not [*found, *run.step([], 90)[0]], "no window, no rows"
    assert not [name for name in run.store if name.startswith("events/")]


def test_lifetimes_and_numbers_of_rows_cannot_join_later() -> None:
    run = Run([mt.trailing("5us", id="five")])
    for number, frame in enumerate((mt.lifetime(), mt.trailing(rows=3))):
        _, [entry] = run.step([], 0, register(str(number), frame))
        assert entry.state == "refused"
        assert "takes events however old, and a running stream has let them go" in str(entry.reason)

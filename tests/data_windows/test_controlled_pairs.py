"""Windows of a join that come and go: single steps; conformance plays whole scripts."""

from typing import Any

import pyarrow as pa
import pytest

from muntin.data_windows import pair_bucket
from muntin.data_windows.controlled_pairs import ControlledPairs
from muntin.data_windows.controlled_records import ControlledRecords
from muntin.data_windows.pair_bucket import PairSpec
from muntin.errors import StateError
from muntin.model.windows import Window
from muntin.state.control import Command, Entry, Label, Terms
from muntin.state.kept_labels import Start
from muntin.state.store import MemoryStore

Pair = tuple[str, int, int, int]
"""Window, end, and the times of the left and the right row."""


class Run:
    """A bucket with a control, each step from the bytes that the one before left."""

    def __init__(self, *windows: Window, **rules: Any) -> None:
        labels = tuple(Label(window.id, window) for window in windows)
        start = Start(tuple(window.id for window in windows), labels, Terms(()))
        spec = PairSpec(("k0",), **({"block": 10} | rules))
        self.stream, self.store = ControlledRecords(spec, start), MemoryStore()

    def step(
        self, rows: str, watermark: int, *commands: Command, key: str = "a"
    ) -> tuple[list[Pair], list[Entry]]:
        """Rows such as "l3 r7": the side and the time."""
        records = [pa.table(row(each, key)) for each in rows.split()]
        newest = max((int(each[1:]) for each in rows.split()), default=None)
        bucket = ControlledPairs(self.stream, 0, self.store)
        done = bucket.step(records, watermark, [c.to_json() for c in commands], newest)
        found = [row for table in done.results for row in table.to_pylist()]
        assert all(each["end"] - each["start"] > 0 for each in found)
        pairs = [(r["window_id"], r["end"], r["left"], r["right"]) for r in found]
        return sorted(pairs), list(done.entries)


def row(text: str, key: str) -> dict[str, pa.Array]:
    side, time = text[0], int(text[1:])
    return {
        "k0": pa.array([key]),
        "t": pa.array([time]),
        "left": pa.array([time if side == "l" else None], pa.int64()),
        "right": pa.array([time if side == "r" else None], pa.int64()),
    }


def register(key: str, window: Window) -> Command:
    return Command(key, "register", window.id, window)


def test_a_window_that_is_registered_finds_pairs_that_met_before() -> None:
    run = Run(Window(20, 10, id="twenty"))
    run.step("l2 r5 l14", 0)
    assert run.step("", 12)[0] == [("twenty", 10, 2, 5)]
    _, [entry] = run.step("r15", 12, register("1", Window(12, 4, id="new")))
    assert entry.complete_from == 4
    found, _ = run.step("", 24)
    assert found == [
        ("new", 16, 14, 5),
        ("new", 16, 14, 15),
        ("new", 20, 14, 15),
        ("new", 24, 14, 15),
        *(("twenty", 20, one, other) for one in (2, 14) for other in (5, 15)),
    ]


def test_a_longer_window_begins_where_no_row_is_missing() -> None:
    run = Run(Window(20, 10, id="twenty"))
    run.step("l12 r25 l35", 0)
    run.step("", 32)
    _, [entry] = run.step("r38", 32, register("1", Window(40, 10, id="wide")))
    assert entry.complete_from == 20, "rows from 20 on are held for [20, 40)"
    found = [pair for pair in run.step("", 70)[0] if pair[0] == "wide"]
    assert found == [("wide", 60, 35, 25), ("wide", 60, 35, 38), ("wide", 70, 35, 38)]


def test_before_the_watermark_moves_nothing_was_let_go() -> None:
    run = Run(Window(10, 10, id="tens"))
    run.step("l2 r25", 0)
    _, [entry] = run.step("", 0, register("1", Window(40, 40, id="wide")))
    assert entry.complete_from == 0
    assert run.step("", 40)[0] == [("wide", 40, 2, 25)]


def test_a_late_row_meets_nothing_and_is_counted() -> None:
    run = Run(Window(10, 10, id="tens"))
    run.step("l12", 0)
    run.step("", 13)
    assert run.step("r13 r14", 13)[0] == []
    assert run.step("", 20)[0] == [("tens", 20, 12, 14)]


def test_a_suspended_window_gives_out_instances_that_are_over() -> None:
    run = Run(Window(10, 5, id="x"), Window(100, 100, id="always"))
    run.step("l2 r7 r14", 0)
    run.step("l13", 0, Command("1", "suspend", "x"))
    found, _ = run.step("", 60)
    assert found == [("x", 10, 2, 7)]


def test_rows_and_keys_leave_when_no_instance_may_hold_them() -> None:
    run = Run(Window(20, 10, id="twenty"))
    sizes = []
    for turn in range(40):
        rows = " ".join(f"{'lr'[n % 2]}{10 * turn + n}" for n in range(1, 10))
        run.step(rows, max(10 * turn - 5, 0), key=f"key {turn}")
        sizes.append(sum(map(len, run.store.values())))
    assert max(sizes[20:]) <= 1.1 * max(sizes[5:20])
    run.step("", 410, Command("1", "suspend", "twenty"))
    run.step("", 900)
    run.step("", 901)
    assert not [name for name in run.store if name.startswith("waiting/")]


def test_a_bucket_that_no_row_has_reached_hears_of_watermarks() -> None:
    run = Run(Window(20, 10, id="twenty"))
    assert run.step("", 50) == ([], [])
    run.step("l62 r65", 50)
    assert run.step("", 70)[0] == [("twenty", 70, 62, 65)]


def test_many_pairs_come_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many instances hold a pair, and however many rows a left one meets."""
    monkeypatch.setattr(pair_bucket, "PORTION", 40)
    run = Run(Window(20, 10, id="x"))
    run.step(" ".join(f"{side}{time}" for side in "lr" for time in range(1, 10)), 0)
    done = ControlledPairs(run.stream, 0, run.store).step([], 20)
    tables = list(done.results)
    assert len(tables) > 1
    assert max(table.num_rows for table in tables) <= 40
    pairs = [(r["end"], r["left"], r["right"]) for table in tables for r in table.to_pylist()]
    places = range(1, 10)
    assert sorted(pairs) == [
        (e, one, other) for e in (10, 20) for one in places for other in places
    ]


def test_a_restart_with_other_windows_or_columns_is_refused() -> None:
    run = Run(Window(10, 10, id="x"), asked=(("keys", ("user",)),))
    run.step("l1", 0)
    other = Run(Window(20, 10, id="y"))
    with pytest.raises(StateError, match="was started with the windows x, and the query asks"):
        ControlledPairs(other.stream, 0, run.store)
    keys = Run(Window(10, 10, id="x"), asked=(("keys", ("device",)),))
    with pytest.raises(StateError, match="was written for the keys user, and the query has device"):
        ControlledPairs(keys.stream, 0, run.store).step([], 1)

"""Windows that come and go: every batch has the rows that the history of commands says."""

from random import Random

import numpy as np
import pytest

from muntin.errors import StateError
from muntin.model.windows import Window
from muntin.state.control import Command
from muntin.state.controlled import ControlledBucket
from muntin_testing.buckets import BruteForce, Row
from muntin_testing.control import Run, Scripted, history_of, scripted
from muntin_testing.reached import Reached


def play(seed: str, batches: int) -> Reached:
    """Run a random script; what it met."""
    random = Random(seed)
    grain = random.choice([1, 1, 4])
    started, script = scripted(random, grain, batches)
    rules = {"update": random.random() < 0.3, "late_now": random.random() < 0.3}
    run = Run(started, grain, random.choice([1, 2, 3]), rules)
    history = history_of(started, script, grain, **rules)
    reached, first = Reached(), {window.id for window in started}
    complete: dict[str, int] = {}
    for number, batch in enumerate(script):
        found, step = run.step(batch)
        expected = history.step(batch, step.entries, found)
        assert found == expected, f"batch {number}"
        for entry in step.entries:
            if entry.answers_from is not None and entry.complete_from is not None:
                complete[entry.id] = entry.complete_from
        reached["rows before a window is complete"] += sum(
            at[2] < complete.get(at[0], at[2]) for at in found
        )
        reached["rows"] += len(found)
        reached["rows of registered windows"] += sum(at[0] not in first for at in found)
        reached["rows with some aggregates"] += sum(row[0] is not None for row in found.values())
        reached.update(entry.state for entry in step.entries)
    return reached


@pytest.mark.parametrize("part", range(3))
def test_rows_are_what_the_history_of_commands_says(part: int) -> None:
    reached = sum((play(f"{part}/{i}", 12) for i in range(6)), Reached())
    reached.at_least(100, "rows")
    reached.at_least(10, "rows of registered windows", "rows with some aggregates")
    reached.at_least(5, "running", "suspended", "refused")


def test_rows_before_a_window_is_complete_are_whole() -> None:
    reached = sum((play(f"{part}/{i}", 12) for part in range(2) for i in range(6)), Reached())
    reached.at_least(10, "rows before a window is complete")


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_random_scripts(part: int) -> None:
    reached = sum((play(f"long {part}/{i}", 40) for i in range(10)), Reached())
    reached.at_least(100, "rows", "rows of registered windows")


@pytest.mark.slow
def test_state_stays_bounded_under_churn() -> None:
    """A thousand windows come and go; what only they needed leaves with them."""
    run = Run([Window(20, 10, id="always")], buckets=1)
    sizes, number, running = [], 0, ["always"]
    for i in range(50):
        commands = [Command(f"{i:04}0{j:02}", "suspend", id) for j, id in enumerate(running[1:])]
        for j in range(20):
            slide = 3 + (7 * i + 5 * j) % 11
            window = Window(slide + (i + j) % 13, slide, i % slide, f"{i}/{j}")
            commands.append(Command(f"{i:04}1{j:02}", "register", window.id, window))
        rows = [(5 * i + j, "abc"[j % 3], j, number := number + 1) for j in range(5)]
        _, step = run.step(Scripted(commands, rows, max(5 * i - 10, 0)))
        assert {entry.state for entry in step.entries} <= {"running", "suspended"}
        running = [label.id for label in step.labels if label.running]
        assert len(running) == 21
        [store] = run.stores
        sizes.append((len(store), sum(map(len, store.values())), len(step.labels)))
    early, later = np.array(sizes[10:30]).max(0), np.array(sizes[30:]).max(0)
    assert (later <= early * 1.05).all(), (early, later)
    run.step(Scripted([Command(f"9{id}", "suspend", id) for id in running], [], 5 * 50))
    _, step = run.step(Scripted([], [], 5 * 50 + 100))
    assert step.labels == ()
    assert set(store) <= {"header", "keys", "control"}, "no piece is left"
    _, step = run.step(Scripted([Command("99", "register", "x", Window(5, 5, id="x"))], [], 800))
    assert [entry.complete_from for entry in step.entries] == [350]


def rows(*times: int) -> list[Row]:
    return [(time, "a", 1, time) for time in times]


def register(key: str, window: Window) -> Command:
    return Command(key, "register", window.id, window)


def test_a_new_window_begins_where_kept_slices_serve_it_or_after_the_newest_row() -> None:
    run = Run([Window(10, 10, id="tens")], buckets=1)
    run.step(Scripted([], rows(3, 13), 0))
    fours = [register("1", Window(4, 4, id="fours")), register("2", Window(20, 10, id="served"))]
    _, step = run.step(Scripted(fours, rows(25), 3))
    assert [entry.complete_from for entry in step.entries] == [16, 0]
    _, step = run.step(Scripted([register("3", Window(8, 4, id="eights"))], rows(26), 15))
    assert [entry.complete_from for entry in step.entries] == [16], "fours are cut since 13 only"
    found, _ = run.step(Scripted([], [], 40))
    assert {at[2:] for at in found if at[0] == "fours"} == {(24, 28)}
    assert {at[2:] for at in found if at[0] == "eights"} == {(20, 28), (24, 32)}
    assert {at[2:] for at in found if at[0] == "served"} == {(0, 20), (10, 30), (20, 40)}


def paper(range: int, slide: int, id: str) -> Window:
    """A window of the subsumption paper's, whose ends are multiples of its slide."""
    return Window(range, slide, -range % slide, id)


def ends_of(run: Run, id: str, *watermarks: int) -> list[int]:
    found = [at for watermark in watermarks for at in run.step(Scripted([], [], watermark))[0]]
    return sorted(at[3] for at in found if at[0] == id)


def test_a_window_of_figure_7_answers_at_once() -> None:
    """k(21, 3) is embedded between p and y at 100: its next end is 102, and not 123."""
    run = Run([paper(10, 3, "r"), paper(18, 3, "p"), paper(30, 6, "y")], buckets=1)
    run.step(Scripted([], rows(*range(100)), 0))
    run.step(Scripted([], [], 100))
    _, step = run.step(Scripted([register("1", paper(21, 3, "k"))], rows(*range(100, 130)), 100))
    assert [(e.complete_from, e.answers_from) for e in step.entries] == [(81, None)]
    found, _ = run.step(Scripted([], [], 108))
    counts = {at[2:]: values[1] for at, values in found.items() if at[0] == "k"}
    assert counts == {(81, 102): 21, (84, 105): 21, (87, 108): 21}


def test_of_y_alone_every_second_instance_of_k_is_whole() -> None:
    run = Run([paper(30, 6, "y")], buckets=2)
    run.step(Scripted([], rows(*range(100)), 0))
    run.step(Scripted([], [], 100))
    _, step = run.step(Scripted([register("1", paper(21, 3, "k"))], rows(*range(100, 130)), 100))
    assert [(e.complete_from, e.answers_from) for e in step.entries] == [(102, 84)]
    again, _ = run.step(Scripted([register("2", paper(21, 3, "same"))], rows(85), 100))
    assert not again, "a late row counts, and nothing is due"
    found, _ = run.step(Scripted([], [], 107))
    assert {at[2:]: v[1] for at, v in found.items() if at[0] == "k"} == {(84, 105): 22}
    run.step(Scripted([Command("3", "suspend", "same")], [], 107))
    assert ends_of(run, "k", 120, 126) == [111, 117, 123, 126]
    assert ends_of(run, "same", 200) == [129], "the last that was over when it was suspended"


def test_an_instance_that_ends_within_a_slice_is_not_answered() -> None:
    """Slices [0, 10) and [10, 20) are kept: [10, 15) begins at a cut, and ends at none."""
    run = Run([Window(20, 10, id="y")], buckets=1)
    run.step(Scripted([], rows(*range(0, 30)), 0))
    run.step(Scripted([], [], 12))
    commands = [register("1", Window(5, 5, id="fives")), register("2", Window(10, 5, id="tens"))]
    _, step = run.step(Scripted(commands, [], 12))
    told = {e.id: (e.complete_from, e.answers_from) for e in step.entries}
    assert told == {"fives": (30, None), "tens": (30, 10)}
    assert ends_of(run, "tens", 100) == [20, 30]


def test_a_suspended_window_gives_out_the_instances_that_are_over() -> None:
    run = Run([Window(10, 5, id="x"), Window(100, 100, id="always")], buckets=1)
    run.step(Scripted([], rows(2, 7, 15), 0))
    _, step = run.step(Scripted([Command("1", "suspend", "x")], rows(22), 5))
    assert [(entry.state, entry.effective) for entry in step.entries] == [("suspended", 15)]
    found, step = run.step(Scripted([], rows(14), 12))
    assert {at[2:] for at in found} == {(0, 10)}
    assert [label.id for label in step.labels] == ["x", "always"], "one instance is still due"
    found, step = run.step(Scripted([], [], 40))
    assert {at[2:]: values[1] for at, values in found.items()} == {(5, 15): 2}, "with the late row"
    found, step = run.step(Scripted([], [], 60))
    assert found == {}
    assert [label.id for label in step.labels] == ["always"]


def test_a_window_that_is_suspended_and_registered_at_once_goes_on_without_a_gap() -> None:
    window = Window(10, 5, id="x")
    run, oracle = Run([window], buckets=1), BruteForce([window])
    for i, watermark in enumerate([0, 3, 9, 14, 22, 60]):
        times = rows(*range(6 * i, 6 * i + 6))
        commands = [Command(f"{i}0", "suspend", "x"), register(f"{i}1", window)]
        found, _ = run.step(Scripted(commands, times, watermark))
        assert {at[:3] for at in found} == set(oracle.step(times, watermark))


def test_what_cannot_be_read_is_refused_and_logged() -> None:
    run = Run([Window(10, 10, id="x")], buckets=1)
    texts = ['{"action": "regis', '["register"]', '{"action": "register", "window": "ten"}']
    bucket = ControlledBucket(run.stream, 0, run.stores[0])
    step = bucket.step([], 0, texts)
    assert [entry.state for entry in step.entries] == ["refused"] * 3
    assert len({entry.key for entry in step.entries}) == 3
    assert sorted(entry.order for entry in step.entries) == [0, 1, 2]
    assert all(entry.reason for entry in step.entries)


def test_a_restart_with_other_windows_or_another_grain_is_refused() -> None:
    run = Run([Window(10, 10, id="x")], buckets=1)
    run.step(Scripted([], rows(1), 0))
    other = Run([Window(20, 10, id="x")], buckets=1)
    with pytest.raises(StateError, match="started with the windows x = 10 microseconds, and the"):
        ControlledBucket(other.stream, 0, run.stores[0])
    coarse = Run([Window(10, 10, id="x")], grain=4, buckets=1)
    with pytest.raises(StateError, match="does not fit the grain 4 microseconds"):
        ControlledBucket(coarse.stream, 0, run.stores[0])

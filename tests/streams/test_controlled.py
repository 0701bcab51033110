"""Windows that come and go: every batch has the rows that the history of commands says."""

from random import Random

import numpy as np
import pytest

from muntin.control import Command
from muntin.windows import Window
from muntin_testing.control import Run, Scripted, history_of, scripted


def play(seed: str, batches: int) -> int:
    """Run a random script; how many rows it gave."""
    random = Random(seed)
    grain = random.choice([1, 1, 4])
    started, script = scripted(random, grain, batches)
    rules = {"update": random.random() < 0.3, "late_now": random.random() < 0.3}
    run = Run(started, grain, random.choice([1, 2, 3]), rules)
    history = history_of(started, script, grain, **rules)
    rows = 0
    for number, batch in enumerate(script):
        found, step = run.step(batch)
        expected = history.step(batch, step.entries)
        assert found == expected, f"batch {number}"
        rows += len(found)
    return rows


@pytest.mark.parametrize("part", range(3))
def test_rows_are_what_the_history_of_commands_says(part: int):
    assert sum(play(f"{part}/{i}", 12) for i in range(6)) > 100


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_random_scripts(part: int):
    assert sum(play(f"long {part}/{i}", 40) for i in range(10)) > 100


def test_state_stays_bounded_under_churn():
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

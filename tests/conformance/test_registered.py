"""Windows registered and suspended at random moments: every batch has the rows of brute force."""

from random import Random
from typing import Any

import pytest

import muntin as mt
from conformance.control_runners import Aggregates, DataWindows, Features, Items, Pairs
from conformance.oracle import Frame, Interval
from conformance.registered import IntervalJudge, apart, script
from conformance.registered_pairs import PairJudge
from conformance.registered_records import AnyWindow, FrameJudge, RecordJudge
from conformance.selection import SEED, many
from muntin_testing.reached import Reached
from muntin_testing.trailing_buckets import CLOSED

EVERY = ("rows", "registered", "suspended", "refused", "late", "restarts")


def interval(random: Random) -> Interval:
    """Windows related by division, some of them uneven, some with an offset."""
    slide = random.choice([2, 3, 4, 6, 12])
    length = slide * random.choice([1, 1, 2, 3, 5]) + random.choice([0, 0, 0, 1])
    return Interval("", length, slide, random.choice([0, 0, random.randrange(slide)]))


def data_window(random: Random) -> AnyWindow:
    """Sessions, counts, snapshots, and periodic windows beside them."""
    slide = random.choice([2, 5, 9])
    drawn: list[AnyWindow] = [
        mt.session(f"{random.choice([2, 4, 9])}us"),
        mt.count_window(random.choice([2, 4]), random.choice([1, 2])),
        mt.Window(slide * random.choice([1, 2]), slide),
        mt.snapshot(),
    ]
    return random.choice(drawn)


def frame(random: Random) -> Frame:
    return Frame("", random.choice([3, 8, 20, 45]), delay=random.choice([0, 0, 4]))


def play(kind: str, number: int, reached: Reached) -> None:
    """Run a script and judge every batch of it."""
    random = Random(f"{SEED}/registered/{kind}/{number}")
    draw, make = KINDS[kind]
    started = {f"first {i}": draw(random) for i in range(random.choice([1, 2]))}
    runner, judge = make(random, started, reached)
    batches = script(random, list(started), draw)
    for turn, batch in enumerate(apart(batches) if kind == "records" else batches):
        found, told = runner.step(batch)
        try:
            judge.step(batch, told, found)
        except AssertionError as error:
            raise AssertionError(f"{SEED}, {kind} {number}, batch {turn}: {error}") from error


def aggregates(_: Random, started: Any, reached: Reached) -> Any:
    return Aggregates(started), IntervalJudge(started, ("k",), Aggregates.value, reached)


def items(_: Random, started: Any, reached: Reached) -> Any:
    return Items(started), IntervalJudge(started, ("k", "v"), Items.value, reached)


def data_windows(_: Random, started: Any, reached: Reached) -> Any:
    return DataWindows(started), RecordJudge(started, DataWindows.value, reached)


def features(random: Random, started: Any, reached: Reached) -> Any:
    runner = Features(started)
    runner.closed = random.choice(CLOSED)
    return runner, FrameJudge(started, runner.closed, Features.value, reached)


def pairs(_: Random, started: Any, reached: Reached) -> Any:
    return Pairs(started), PairJudge(started, reached)


KINDS: dict[str, tuple[Any, Any]] = {
    "aggregate": (interval, aggregates),
    "distinct": (interval, items),
    "records": (data_window, data_windows),
    "as_of": (frame, features),
    "join": (interval, pairs),
}
MORE = {
    "aggregate": ("held instances that a window must answer",),
    "distinct": ("held instances that a window must answer",),
    "records": ("copied", "Session", "CountWindow", "Window", "Snapshot"),
    "as_of": ("had to wait",),
    "join": ("had to wait",),
}


@pytest.mark.parametrize("kind", KINDS)
def test_windows_come_and_go(kind: str) -> None:
    reached = Reached()
    for number in range(many(16, 600)):
        play(kind, number, reached)
    reached.at_least(many(12, 450), *EVERY, "answered from what was held")
    reached.at_least(many(4, 150), *MORE[kind])

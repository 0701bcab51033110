"""Techniques of due windows: the rows of brute force by each of them, and what they read."""

from random import Random

import pyarrow as pa
import pytest

from muntin.kernels.tree import Branch
from muntin.model.windows import Window
from muntin.physical.blocks import FAN_OUT, SLICES
from muntin.physical.due_techniques import TECHNIQUES
from muntin.state.store import MemoryStore
from muntin_testing.buckets import BruteForce, Row, spec_of, stepped
from muntin_testing.reached import Reached


def script(random: Random, span: int, late: int) -> list[tuple[list[Row], int]]:
    """A few keys, a row now and then, some of them late; the watermark follows step by step."""
    found, number, watermark, clock = [], 0, 0, 0
    while clock < span:
        rows: list[Row] = []
        for _ in range(random.randrange(4)):
            number += 1
            time = clock - (random.randrange(late) if random.random() < 0.2 else 0)
            rows.append((time, random.choice("abc"), random.randrange(9), number))
        watermark = max(watermark, clock - random.randrange(10))
        found.append((rows, watermark))
        clock += random.choice((1, 3, 7))
    return [*found, ([], span + 2000)]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_every_technique_gives_the_rows_of_brute_force(technique: str) -> None:
    reached = Reached()
    for seed in range(2):
        random = Random(f"{technique} {seed}")
        windows = [Window(random.choice((64, 160, 320)), random.choice((1, 5, 20)))]
        windows += [Window(windows[0].range // 4 * 3, windows[0].slide * 2)][: seed % 2]
        spec = spec_of(windows, technique=technique)
        store, oracle, cache = MemoryStore(), BruteForce(windows), dict[str, pa.Table]()
        for rows, watermark in script(random, 500, 150):
            if random.random() < 0.05:
                cache.clear()  # a worker that remembers nothing
            found, step = stepped(spec, store, rows, watermark, cache=cache)
            assert found == oracle.step(rows, watermark)
            reached["emitted"] += len(found)
            reached["late"] += step.late
    reached.at_least(200, "emitted")
    reached.at_least(10, "late")


NESTED = (
    [Window(40, 1), Window(90, 1), Window(150, 5), Window(331, 5, 4), Window(331, 10, 9)],
    [Window(64, 4), Window(65, 4, 3), Window(200, 8)],
    [Window(160, 1), Window(230, 1), Window(335, 1)],
)
"""Flights of stairs, with a window of one piece, a delta shorter than a slide, and a long seed."""


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize("windows", NESTED, ids=["long deltas", "a short delta", "a long seed"])
def test_stairs_give_the_rows_of_brute_force(technique: str, windows: list[Window]) -> None:
    reached, random = Reached(), Random(technique)
    spec = spec_of(windows, "subsume", technique=technique)
    [base] = spec.bases
    [seed] = base.branches
    assert seed.is_flight
    assert sum(branch.delta > 0 for branch in below(seed)) == len({w.range for w in windows}) - 1
    store, oracle, cache = MemoryStore(), BruteForce(windows), dict[str, pa.Table]()
    for rows, watermark in script(random, 500, 150):
        found, step = stepped(spec, store, rows, watermark, cache=cache)
        assert found == oracle.step(rows, watermark)
        reached["emitted"] += len(found)
        reached["late"] += step.late
    reached.at_least(200, "emitted")
    reached.at_least(5, "late")


def below(branch: Branch) -> list[Branch]:
    """All branches of a branch, however deep."""
    return [each for child in branch.branches for each in (child, *below(child))]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_of_a_stair_only_the_delta_is_read(technique: str) -> None:
    """Eight windows, one result of each a step: the wider ones read what the narrow one lacks."""
    windows, taken = [Window(3000 + 100 * n, 1) for n in range(8)], list[int]()
    read = {}
    for strategy in ("shared-pairs", "subsume"):
        spec = spec_of(windows, strategy, technique=technique, taken=taken.append)
        store, cache = MemoryStore(), dict[str, pa.Table]()
        stepped(spec, store, [(time, "a", 1, time) for time in range(4000)], 0, cache=cache)
        stepped(spec, store, [], 3999, cache=cache)
        taken.clear()
        for clock in range(4000, 4005):
            stepped(spec, store, [(clock, "a", 1, clock)], clock, cache=cache)
        read[strategy] = sum(taken)
    assert read["subsume"] < 0.75 * read["shared-pairs"], read


def reads(technique: str, count: int) -> list[int]:
    """Pieces read for each result of W(count, 1), one result a step, once it has begun to slide."""
    window, told = Window(count, 1), list[int]()
    spec = spec_of([window], technique=technique, read=lambda *each: told.extend(each[2].tolist()))
    store, cache = MemoryStore(), dict[str, pa.Table]()
    filled: list[Row] = [(time, "a", 1, time) for time in range(count)]
    stepped(spec, store, filled, 0, cache=cache)
    stepped(spec, store, [], count - 1, cache=cache)
    told.clear()
    for clock in range(count, count + 5):
        stepped(spec, store, [(clock, "a", 1, clock)], clock, cache=cache)
    assert len(told) == 5
    return told


def test_what_a_result_reads_stays_bounded_as_windows_grow() -> None:
    """Panes reads every slice; the others no more for 36,000 slices than for a few thousand."""
    assert reads("panes", 3600) == [3600] * 5
    for technique in ("b-int", "two-stacks"):
        few, many = max(reads(technique, 3600)), max(reads(technique, 36_000))
        ladder = 2 * (FAN_OUT - 1) * 2 if technique == "b-int" else 2
        assert few <= 2 * SLICES + ladder
        assert many <= 2 * SLICES + ladder, (technique, few, many)


@pytest.mark.parametrize("technique", ["b-int", "two-stacks"])
def test_a_late_row_repairs_only_what_holds_it(technique: str) -> None:
    """What was combined of other blocks is taken as it is; a worker that forgot combines all."""
    count, taken = 9_000, list[int]()
    spec = spec_of([Window(count, 1)], technique=technique, taken=taken.append)
    store, cache, combined = MemoryStore(), dict[str, pa.Table](), dict[str, int]()
    stepped(spec, store, [(time, "a", 1, time) for time in range(count)], 0, cache=cache)
    stepped(spec, store, [], count - 1, cache=cache)
    for i, case in enumerate(("all", "on time", "late", "forgotten")):
        taken.clear()
        if case == "forgotten":
            cache.clear()
        late: list[Row] = [(count // 2, "a", 1, 1)] if case == "late" else []
        stepped(spec, store, [(count + i, "a", 1, 1), *late], count + i, cache=cache)
        combined[case] = sum(taken)
    blocks = count // SLICES
    path = 4 * FAN_OUT if technique == "b-int" else 2 * blocks
    assert combined["on time"] <= SLICES + path, combined
    assert SLICES < combined["late"] <= 2 * (SLICES + path), combined
    assert min(combined["all"], combined["forgotten"]) >= count - 3 * SLICES, combined

"""The subsumption experiment: its windows, its figures against brute force, and its files."""

import csv
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from lab.registry import Options
from lab.subsumption.report import run
from lab.subsumption.run import CLASSES, Traffic, _memory, _warm, pool, traffic
from muntin.errors import StrategyError
from muntin.model.windows import Window


@pytest.mark.parametrize("kind", CLASSES)
def test_windows_are_as_the_paper_says(kind: str) -> None:
    windows = pool(kind, 2_000, seed=3)
    assert {w.slide for w in windows} == set(range(1, CLASSES[kind] + 1))
    assert all(w.slide < w.range <= 60 for w in windows)
    assert all((w.offset + w.range) % w.slide == 0 for w in windows)
    assert all(w.offset == 0 for w in pool(kind, 100, seed=3, spark=True))
    assert windows == pool(kind, 2_000, seed=3)


def test_stairs_hold_what_the_widest_windows_do() -> None:
    stream = Traffic(np.arange(5), np.repeat(np.arange(200), 2), "two a second")
    held = _memory([Window(4, 1), Window(20, 2), Window(30, 7, 5)], stream, measured=20)
    assert held.groups == 2
    assert held.shared == held.widest
    assert held.apart == held.distinct_apart > held.shared > held.buffered


def test_windows_apart_and_together_give_the_same_answers() -> None:
    windows = pool("abrupt", 60, seed=2)
    stream = traffic(None, seed=1)
    together, apart = _warm([windows]), _warm([[window] for window in windows])
    sums: dict[int, int] = {}
    answers = 0
    for now in range(121, 240):
        sums[now] = int(stream.tuples(now, 10).sum())
        shared = [answer for each in together for answer in each.insert(now, sums[now])]
        alone = [answer for each in apart for answer in each.insert(now, sums[now])]
        assert sorted(shared) == sorted(alone)
        for answer in shared:
            if answer.start >= 121:
                assert answer.value == sum(sums[t] for t in range(answer.start, answer.end))
                answers += 1
    assert answers > 100


def test_the_experiment_prints_and_writes(tmp_path: Path) -> None:
    console = Console(record=True, width=160, file=StringIO())
    found = run(Options(tmp_path, sets=1), console, sizes=(40,), rates=(5,))
    text = console.export_text()
    assert all(f"Figure {number}" in text for number in (10, 11, 12))
    assert "generated tuples" in text
    assert (tmp_path / "subsumption.png").stat().st_size > 10_000
    with (tmp_path / "subsumption_groups.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == list(CLASSES)
    assert all(row.fewest <= row.greedy for row in found.groups)


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(StrategyError, match=r"unknown part 'group': did you mean 'groups'\?"):
        run(Options(parts=("group",)), Console(quiet=True))

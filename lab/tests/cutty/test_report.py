"""The Cutty experiment counts what its techniques do, and Table 1 comes out."""

from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from lab.cutty.report import claims, run
from lab.cutty.run import TECHNIQUES, count, counted, drive, formula, naive, partials
from lab.cutty.workload import Stream, energies, periodic, sessions
from lab.registry import Options
from muntin.aggregates import avg
from muntin.data_windows import Aggregator
from muntin.errors import ColumnError, StrategyError
from muntin.model.data_windows import CountWindow

QUERIES = [CountWindow(range=100, slide=30, id="a"), CountWindow(range=64, slide=8, id="b")]


VALUES = [float((7 * i * i + 3 * i) % 101) for i in range(3_000)]
"""Whole numbers: their sums are exact in any order."""


def intervals(stream: Stream) -> list[tuple[int, int]]:
    """The records of every window of the stream, those that it breaks off included."""
    return list(zip(stream.begin.tolist(), stream.stop.tolist(), strict=True))


def test_count_windows_begin_at_every_slide_and_hold_their_range() -> None:
    expected = [(i, i + q.range) for q in QUERIES for i in range(500) if i % q.slide == 0]
    assert intervals(periodic(VALUES[:500], QUERIES)) == expected


def test_a_session_begins_where_the_one_before_ended() -> None:
    found = intervals(sessions(VALUES, 20, seed=3))
    firsts = [i for i, (begin, _) in enumerate(found) if begin == 0]
    assert len(firsts) == 20
    for first, after in pairwise([*firsts, len(found)]):
        own = found[first:after]
        assert all(begin < stop for begin, stop in own)
        assert all(stop == begin for (_, stop), (begin, _) in pairwise(own))
        assert own[-1][0] < len(VALUES) <= own[-1][1]


def test_naive_is_what_folding_every_window_by_itself_takes() -> None:
    folded = 0
    for begin, stop in intervals(periodic(VALUES[:500], QUERIES)):
        held = [i for i in range(500) if begin <= i < stop]
        folded += len(held) - 1  # the first record of a window is only lifted
    assert naive("8", 2, periodic(VALUES[:500], QUERIES)).calls == folded


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize(
    "stream",
    [periodic(VALUES[:2_000], QUERIES), sessions(VALUES, 20, seed=3)],
    ids=["count", "gap"],
)
def test_every_window_that_ends_has_the_mean_of_its_records(stream: Stream, technique: str) -> None:
    store, cut, coalesce = TECHNIQUES[technique]
    found = drive(Aggregator(avg("energy"), store, cut, coalesce), stream, [0, 0])
    expected = {
        window: sum(VALUES[begin:stop]) / (stop - begin)
        for window, (begin, stop) in enumerate(intervals(stream))
        if stop < len(stream.values)
    }
    assert len(expected) > 40
    assert found == expected
    assert count("8", technique, 2, stream).windows == len(expected)


def test_cutty_calls_and_keeps_less_than_its_rivals() -> None:
    for stream in (periodic(VALUES[:2_000], QUERIES), sessions(VALUES, 20, seed=3)):
        runs = {name: count("8", name, 2, stream) for name in TECHNIQUES}
        assert runs["Cutty"].calls < runs["RA"].calls
        assert runs["Cutty"].produced <= runs["Pairs+"].produced < runs["RA"].produced
        assert runs["Cutty coalesced"].most_partials <= runs["Cutty"].most_partials


@pytest.mark.parametrize(("r", "s"), [(64, 8), (4096, 64)])
def test_table_1_comes_out_where_ranges_are_powers_of_two(r: int, s: int) -> None:
    for technique in ("Cutty", "Panes", "RA"):
        said, found = formula(technique, "eager", r, s), counted(technique, "eager", r, s)
        assert found.update == pytest.approx(said.update)
        assert found.merge <= said.merge
        assert found.space in (said.space - 1, said.space - 2)
        said, found = formula(technique, "lazy", r, s), counted(technique, "lazy", r, s)
        assert (found.space, found.merge) == (
            partials(technique, r, s),
            partials(technique, r, s) - 1,
        )


def test_cutty_keeps_half_the_partials_of_pairs_where_the_slide_does_not_divide_the_range() -> None:
    cutty, pairs = (counted(name, "lazy", 10_000, 700) for name in ("Cutty", "Pairs"))
    assert (cutty.space, pairs.space) == (15, 29)


def test_the_experiment_prints_claims_and_writes_files(tmp_path: Path) -> None:
    console = Console(record=True, width=150, file=(tmp_path / "out.txt").open("w"))
    found = run(Options(out=tmp_path, sets=1, parts=("sessions",)), console, records=5_000)
    text = console.export_text()
    assert "generated rows" in text
    assert "three orders below RA" in text
    assert claims(found)[0].endswith("1 queries here:")
    names = {path.name for path in tmp_path.iterdir()}
    assert {"cutty.csv", "cutty_9.png"} <= names
    with pytest.raises(StrategyError, match="unknown part 'session'"):
        run(Options(parts=("session",)), console)
    with pytest.raises(ColumnError, match="does not exist"):
        energies(tmp_path / "none", 10, 1)
    console.file.close()

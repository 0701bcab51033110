"""The Cutty experiment counts what its techniques do, and Table 1 comes out."""

from pathlib import Path

import pytest
from rich.console import Console

from muntin.data_windows import CountWindow
from muntin.errors import ColumnError, StrategyError
from muntin.experiments.cutty import claims, run_cutty
from muntin.experiments.cutty_counts import TECHNIQUES, count, marks, naive
from muntin.experiments.cutty_table import counted, formula, partials
from muntin.experiments.cutty_workload import energies, periodic, sessions
from muntin.experiments.options import Options

QUERIES = [CountWindow(range=100, slide=30, id="a"), CountWindow(range=64, slide=8, id="b")]


def test_naive_is_what_folding_every_window_by_itself_takes():
    stream = periodic([1.0] * 500, QUERIES)
    folded, running = 0, set()
    at = {i: (ends, begins) for i, ends, begins in marks(stream)}
    empty = set()
    for i in range(500):
        ends, begins = at.get(i, ([], []))
        running -= set(ends)
        running |= set(begins)
        empty = set(begins)
        folded += len(running - empty)  # the first record of a window is only lifted
    assert naive("8", 2, stream).calls == folded


def test_every_technique_ends_the_same_windows_with_fewer_calls_than_naive():
    for stream in (periodic([1.0] * 2_000, QUERIES), sessions([1.0] * 3_000, 5, seed=3)):
        runs = {name: count("8", name, 2, stream) for name in TECHNIQUES}
        assert {run.windows for run in runs.values()} == {stream.windows}
        assert runs["Cutty"].calls < runs["RA"].calls
        assert runs["Cutty"].produced <= runs["Pairs+"].produced < runs["RA"].produced
        assert runs["Cutty coalesced"].most_partials <= runs["Cutty"].most_partials


@pytest.mark.parametrize(("r", "s"), [(64, 8), (4096, 64)])
def test_table_1_comes_out_where_ranges_are_powers_of_two(r, s):
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


def test_cutty_keeps_half_the_partials_of_pairs_where_the_slide_does_not_divide_the_range():
    cutty, pairs = (counted(name, "lazy", 10_000, 700) for name in ("Cutty", "Pairs"))
    assert (cutty.space, pairs.space) == (15, 29)


def test_the_experiment_prints_claims_and_writes_files(tmp_path: Path):
    console = Console(record=True, width=150, file=(tmp_path / "out.txt").open("w"))
    found = run_cutty(Options(out=tmp_path, sets=1, parts=("sessions",)), console, records=5_000)
    text = console.export_text()
    assert "generated rows" in text
    assert "three orders below RA" in text
    assert claims(found)[0].endswith("1 queries here:")
    names = {path.name for path in tmp_path.iterdir()}
    assert {"cutty.csv", "cutty_9.png"} <= names
    with pytest.raises(StrategyError, match="unknown part 'session'"):
        run_cutty(Options(parts=("session",)), console)
    with pytest.raises(ColumnError, match="does not exist"):
        energies(tmp_path / "none", 10, 1)
    console.file.close()

"""The experiments on techniques: every technique has a row, and the counts are the paper's."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from lab.multi_query import omega, techniques
from lab.multi_query.omega import LOADS, compare, deviation, questions
from lab.multi_query.techniques import PAPER, Counts, count_variant, variants
from lab.registry import Options
from muntin.cost.omega import PAPER as OMEGA
from muntin.cost.omega import load_of
from muntin.incremental import TECHNIQUES
from muntin.model.windows import Window


def counted(title: str, n: int) -> Counts:
    return next(count_variant(v, n) for v in variants() if v.title == title)


def test_every_technique_has_a_row_and_a_paper_row() -> None:
    assert {v.technique for v in variants()} == set(TECHNIQUES.values())
    assert {v.title for v in variants()} == set(PAPER)


def test_the_counts_of_table_2() -> None:
    n = 64
    assert counted("Panes", n).amortised == n - 1
    assert counted("Panes", n).multi == n * (n - 1) / 2
    assert counted("FlatFAT", n).amortised == counted("FlatFAT", n).worst == 6
    assert counted("BInt", n).amortised == 6
    assert counted("FlatFIT", n).amortised == pytest.approx((3 * n - 3) / (n + 1), rel=0.02)
    assert counted("TwoStacks", n).amortised == pytest.approx(3 - 3 / n, rel=0.02)
    assert counted("DABA", n).amortised == pytest.approx(5, rel=0.05)
    assert counted("DABA", n).worst <= 8
    assert counted("SlickDeque (Inv)", n).multi == 2 * n
    assert counted("SlickDeque (Non-Inv)", n).amortised < 2
    worst = counted("… on its worst input", n)
    assert (worst.worst, worst.most_space) == (n - 1, 2 * n)
    assert worst.amortised < 2


def test_tables_and_files_are_written(tmp_path: Path) -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    techniques.run(Options(tmp_path), console, sizes=(1, 4))
    text = console.export_text()
    assert all(name in text for name in PAPER)
    assert "n·log n" in text
    assert "where the counts differ" in text
    rows = (tmp_path / "techniques.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * len(variants())
    assert (tmp_path / "techniques.png").stat().st_size > 10_000


def test_questions_of_the_papers_example() -> None:
    """Example 2: slides 2 and 4, ranges 6 and 8: edges at 2 and 4; 3 and 4 partials."""
    assert questions(load_of([Window(6, 2), Window(8, 4)])) == [(4, 3), (3,)]


@pytest.mark.long
@pytest.mark.parametrize("kind", LOADS)
def test_the_better_estimates_are_better(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.multi_query.omega.EDGES", 1500)
    found = [c for queries, seed in [(1, 0), (4, 1), (12, 2)] for c in compare(kind, queries, seed)]
    for name in OMEGA:
        rows = [c for c in found if c.technique == name]
        better, worst = deviation(rows, "better")
        assert better <= deviation(rows, "paper")[0] + 1e-9, name
        assert worst < (0.7 if name == "flatfit" else 0.15), name


@pytest.mark.long
def test_omega_prints_deviations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.multi_query.omega.EDGES", 100)
    console = Console(width=160, record=True, file=io.StringIO())
    found = omega.run(Options(tmp_path, parts=("queries",)), console, queries=(2,), sets=1)
    assert len(found) == 2 * 5
    assert "deviation" in console.export_text()
    assert len((tmp_path / "omega.csv").read_text().splitlines()) == 11
    assert (tmp_path / "omega.png").stat().st_size > 10_000

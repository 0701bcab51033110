"""The experiment as a command: tables, CSV and pictures, and the paper's order of techniques."""

import csv
import io
from pathlib import Path

import pytest
from rich.console import Console

from lab.factor_windows.report import run
from lab.factor_windows.run import (
    DASHBOARD,
    PANELS,
    TECHNIQUES,
    Costs,
    Panel,
    Row,
    fewest_gains,
    panel_rows,
)
from lab.registry import Options


def test_tables_csv_and_pictures(tmp_path: Path) -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    rows = run(Options(tmp_path, seed=1, sets=1), console)
    text = console.export_text()
    assert all(panel.title in text for panel in PANELS)
    assert "The paper's observations and ours" in text
    assert "What fewest pieces gain" in text
    with (tmp_path / "factor_windows.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == len(rows) == len(PANELS) * len(TECHNIQUES)
    assert {row["figure"] for row in written} == {"11", "12", "13", "14", "15"}
    assert float(written[0]["cost"]) == rows[0].cost
    for figure in range(11, 16):
        assert (tmp_path / f"factor_windows_{figure}.png").stat().st_size > 10_000


@pytest.mark.parametrize("panel", [p for p in PANELS if p.eta == 100], ids=lambda p: p.title)
def test_what_must_hold_for_every_set(panel: Panel) -> None:
    for index in range(3):
        cost = {row.technique: row.cost for row in panel_rows(panel, index, seed=9)}
        assert cost["steiner"] <= cost["WCG-FW"] <= cost["WCG"] <= cost["BL"]
        assert cost["SP"] < cost["UP"]
        if panel.shape == "tumbling":
            assert cost["UP"] >= cost["BL"]  # section 5.3: the same or even worse


def test_panels_that_differ_in_rate_see_the_same_sets() -> None:
    one, ten = (panel_rows(panel, 0, seed=1)[0] for panel in PANELS[:2])
    assert one.windows == ten.windows
    assert ten.cost == pytest.approx(10 * one.cost)


def test_fewest_pieces_let_hopping_windows_serve_sums() -> None:
    gains = fewest_gains(seed=1, count=1, console=Console(file=io.StringIO()))
    sums = next(g for g in gains if (g.generator, g.aggregate) == ("dashboard", "SUM"))
    assert sums.costs["WCG"] == sums.costs["BL"]  # Theorem 4: no hopping window partitions
    assert sums.costs["WCG fewest"] < sums.costs["BL"] / 50
    assert all(g.costs["steiner"] <= g.costs["WCG-FW fewest"] for g in gains)
    assert [w.range for w in DASHBOARD] == [5, 15, 60, 360, 1440]


def test_means_of_ratios() -> None:
    panel = Panel(11, "RandomGen", "general", 1)
    cells = ((1, "BL", 4), (1, "SP", 1), (2, "BL", 9), (2, "SP", 9))
    costs = Costs(Row(panel, number, "", name, cost) for number, name, cost in cells)
    assert costs.ratios([panel], "BL", "SP") == [4, 1]
    assert costs.mean([panel], "BL", "SP") == pytest.approx(2)

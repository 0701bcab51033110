"""The matrix of edge costs says what coverage and the cost models say pair by pair."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import CostModel, PaperCost, RateCost
from muntin.cost.arrays import WindowArrays, edge_matrix, source_costs
from muntin.model.windows import Window
from muntin.plan.coverage import (
    SOURCE,
    EdgePieces,
    Progression,
    covered_by,
    covering_pieces,
    every,
    fewest_pieces,
)
from muntin.planner.strategies.coverage.edge_costs import children_of, edge_costs, piece_counts
from muntin_testing.windows import all_windows, random_window, window_sets


def test_piece_counts_agree_with_coverage() -> None:
    windows = all_windows(longest=9)
    table = WindowArrays.of(windows)
    for disjoint in (True, False):
        for fewest, take in ((True, fewest_pieces), (False, covering_pieces)):
            found = piece_counts(table, table, disjoint, fewest)
            for i, parent in enumerate(windows):
                for j, child in enumerate(windows):
                    pieces = take(child, parent, disjoint) if i != j else None
                    assert found[i, j] == (pieces.count if pieces else 0), (child, parent)


def test_the_edges_of_example_6() -> None:
    table = WindowArrays.of([Window(n, n) for n in (10, 20, 30, 40)])
    counts = piece_counts(table, table, disjoint=False, fewest=False)
    assert counts.tolist() == [[0, 2, 3, 4], [0, 0, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("unit", [1, 60_000_000])
def test_the_children_among_a_thousand_windows(unit: int) -> None:
    random, known = Random(5), dict[Window, None]()
    while len(known) < 1_000:
        known[random_window(random, unit * random.choice([1, 2, 5]))] = None
    windows = list(known)
    found = children_of(windows, idempotent=True, fewest=True)
    for i in random.sample(range(1_000), 30):
        parent = windows[i]
        covered = [j for j, w in enumerate(windows) if w != parent and covered_by(w, parent)]
        assert found[i] == covered


@given(window_sets(most=6), st.sampled_from([0.5, 100.0, 1e6]), st.booleans())
def test_matrices_agree_with_the_model(asked: list[Window], rate: float, paper: bool) -> None:
    model: CostModel = PaperCost(tuple(asked), rate) if paper else RateCost(rate, keys=3)
    table = WindowArrays.of(asked)
    assert [table.window(i) for i in range(len(table))] == asked
    three = EdgePieces((Progression(0, 1, 3),))
    direct = [model.edge(SOURCE, w, every(w.range)) for w in asked]
    costs = [[model.edge(p, c, three) for c in asked] for p in asked]
    np.testing.assert_allclose(source_costs(model, table), direct)
    counts = np.full((len(asked), len(asked)), 3)
    np.testing.assert_allclose(edge_matrix(model, table, table, counts), costs)


@given(window_sets(least=2, most=6), st.booleans(), st.booleans())
def test_edges_cost_what_the_model_says(
    asked: list[Window], idempotent: bool, fewest: bool
) -> None:
    model, table = RateCost(1e6), WindowArrays.of(asked)
    matrix = edge_costs(model, table, table, idempotent, fewest)
    take = fewest_pieces if fewest else covering_pieces
    for i, parent in enumerate(asked):
        for j, child in enumerate(asked):
            pieces = take(child, parent, not idempotent) if i != j else None
            expected = model.edge(parent, child, pieces) if pieces else np.inf
            np.testing.assert_allclose(matrix[i, j], expected)

"""Seconds edge by edge: the formulas of each operator, their matrices, and their closed forms."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import Constants, ExpandCost, KernelCost, Statistics
from muntin.cost.arrays import WindowArrays, edge_matrix, slice_rows, source_costs, window_rows
from muntin.cost.members import Members
from muntin.cost.statistics import SECOND
from muntin.cost.surrogates import GATHER, HALO
from muntin.cost.tree_forms import final_of, tree_form
from muntin.model.windows import Window
from muntin.plan.coverage import SOURCE, Source, every, fewest_pieces
from muntin.plan.slicing import Slices, edge_rate, shared_pairs
from muntin.planner.strategies.coverage.edge_costs import edge_costs, piece_counts
from muntin_testing.reached import Reached
from muntin_testing.windows import window_sets

MODELS = (ExpandCost, KernelCost)
ROWS, KEYS = (50.0, 1e4, 1e7), (1.0, 40.0, 1e6)
RATES = (0.5e6, 1e8)
"""Events a second of windows of a few microseconds."""
statistics = st.builds(
    Statistics, st.sampled_from(ROWS), st.sampled_from(KEYS), st.sampled_from(RATES)
)


def kinds(windows: Sequence[Window]) -> list[str]:
    return ["tumbling" if w.tumbling else "hopping" for w in windows]


def test_matrices_are_the_models_edge_by_edge() -> None:
    reached = Reached()

    @given(window_sets(least=2, most=6), statistics, st.sampled_from(MODELS), st.booleans())
    def each(
        asked: list[Window], known: Statistics, kind: type[ExpandCost | KernelCost], disjoint: bool
    ) -> None:
        model, table = kind(known, partials=2, width=5), WindowArrays.of(asked)
        np.testing.assert_allclose(window_rows(known, table), [known.held(w) for w in asked])
        alone = [model.edge(SOURCE, w, every(w.range)) for w in asked]
        np.testing.assert_allclose(source_costs(model, table), alone)
        counts = piece_counts(table, table, disjoint, fewest=True)
        matrix = edge_matrix(model, table, table, counts)
        for i, parent in enumerate(asked):
            for j, child in enumerate(asked):
                pieces = fewest_pieces(child, parent, disjoint) if i != j else None
                if pieces is not None:
                    reached.update([f"{kind.__name__} from {kinds([parent])[0]}"])
                    assert matrix[i, j] == pytest.approx(model.edge(parent, child, pieces))

    each()
    reached.at_least(
        10, *(f"{m.__name__} from {k}" for m in MODELS for k in ("tumbling", "hopping"))
    )


@pytest.mark.parametrize("kind", MODELS)
def test_a_matrix_has_no_edge_where_coverage_has_none(kind: type[ExpandCost | KernelCost]) -> None:
    table = WindowArrays.of([Window(4, 4), Window(6, 6), Window(12, 12)])
    costs = edge_costs(kind(Statistics()), table, table, idempotent=False, fewest=True)
    assert np.isfinite(costs).tolist() == [[False, False, True], [False, False, True], [False] * 3]


def test_closed_forms_are_the_sums_of_edges_and_bounds_are_below() -> None:
    reached = Reached()

    @given(window_sets(most=6), window_sets(most=6), statistics, st.sampled_from(MODELS))
    def each(
        asked: list[Window],
        more: list[Window],
        known: Statistics,
        kind: type[ExpandCost | KernelCost],
    ) -> None:
        model = kind(known, partials=2, width=5)
        rest = [w for w in more if w not in asked]
        if not rest:
            return
        slices = shared_pairs([*asked, *rest])
        edges = float(edge_rate(slices))
        np.testing.assert_allclose(slice_rows(known, np.array([edges])), known.held(slices))
        one, other = Members.of(asked), Members.of(rest)
        both = one.join(other)
        exact = sum(model.edge(slices, w, every(w.range)) for w in both.windows)
        assert final_of(model).cost(edges, both, slices) == pytest.approx(exact)
        few = max(float(edge_rate(shared_pairs(part))) for part in (asked, rest))
        reached["coarser parts"] += few < edges
        for root in (SOURCE, slices):
            _tree_is_the_sum(model, root, slices, both)
            for results in (True, False):
                slicing, final = tree_form(model, root, results)
                whole = final.cost(edges, both, slices)
                bound = final.bound(
                    np.array([few, edges]), np.array([edges, edges]), one, [other, other]
                )
                assert (bound <= whole * (1 + 1e-9)).all()
                assert bound[1] == pytest.approx(whole)
                assert slicing >= 0
        reached[kind.__name__] += 1

    each()
    reached.at_least(10, "coarser parts", *(kind.__name__ for kind in MODELS))


def _tree_is_the_sum(
    model: ExpandCost | KernelCost, root: Slices | Source, slices: Slices, members: Members
) -> None:
    edges = float(edge_rate(slices))
    slicing, final = tree_form(model, root)
    windows = sum(model.edge(slices, w, every(w.range)) for w in members.windows)
    asked = model.edge(root, slices, every(1)) + windows
    assert slicing + final.cost(edges, members, slices) == pytest.approx(asked)
    _, without = tree_form(model, root, results=False)
    per_result = model.step if isinstance(model, KernelCost) else model.kept
    results = per_result * sum(map(model.statistics.held, members.windows))
    left = final.cost(edges, members, slices) - without.cost(edges, members, slices)
    assert left == pytest.approx(results, rel=1e-6)


MINUTE = 60 * SECOND
KNOWN = Statistics(rows=6e6, keys=1, rate=1e4)
"""Ten minutes, and no empty cell among a few."""
UNIT = Constants(copied=1, grouped=10, entered=100, exploded=1e3, shipped=1e4, scanned=3)
MINUTES, TWO = Window(MINUTE, MINUTE), Window(2 * MINUTE, 2 * MINUTE)
HOPPING, LONG = Window(2 * MINUTE, MINUTE), Window(4 * MINUTE, MINUTE)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(ExpandCost, 6e6 + 2 * 10 * 10), (KernelCost, 6e6 + 2 * 10 * (10 + HALO * 1e4))],
)
def test_slices_of_the_source(kind: type[ExpandCost | KernelCost], expected: float) -> None:
    model = kind(KNOWN, UNIT, partials=4, width=2)
    assert model.edge(SOURCE, shared_pairs([MINUTES]), every(1)) == pytest.approx(expected)


def test_what_the_operators_do_on_an_edge() -> None:
    expand, kernel = ExpandCost(KNOWN, UNIT, 4, 2), KernelCost(KNOWN, UNIT, 4, 2)
    fine, coarse = shared_pairs([MINUTES]), shared_pairs([TWO])
    held = KNOWN.held
    rows = [held(shape) for shape in (fine, coarse, MINUTES, HOPPING, LONG)]
    assert rows == pytest.approx([10, 5, 11, 12, 14])
    four = every(4 * MINUTE)
    assert expand.edge(fine, coarse, every(1)) == pytest.approx(10 * (100 + 2e3) + 5 * 20)
    assert expand.edge(fine, LONG, four) == pytest.approx(10 * (100 + 4 * 2e3) + 14 * 20)
    assert kernel.edge(fine, coarse, every(1)) == pytest.approx(4 * 10)
    assert kernel.edge(fine, LONG, four) == pytest.approx(4 * (20 + 14))
    for parent, pieces, scanned in ((MINUTES, 4, 2 * 11 + 14), (HOPPING, 2, GATHER * 2 * 14)):
        taken = fewest_pieces(LONG, parent, disjoint=True)
        assert taken is not None
        assert taken.count == pieces
        fed = held(parent) * pieces
        expected = held(parent) * 100 + fed * 2e3 + 14 * 20
        assert expand.edge(parent, LONG, taken) == pytest.approx(expected)
        assert kernel.edge(parent, LONG, taken) == pytest.approx(4 * scanned)

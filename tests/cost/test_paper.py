"""The factor-windows paper's figures under its own cost, to the digit."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from muntin.cost import PaperCost, node_costs, total
from muntin.errors import StrategyError
from muntin.model.windows import Window
from muntin.plan import Node, SharingPlan, check
from muntin.plan.coverage import SOURCE, covering_pieces
from muntin.plan.slicing import pairs, panes, shared_pairs
from muntin.plan.tree import slices_node, window_node
from muntin.planner.strategies import Problem
from muntin.planner.strategies.coverage.wcg import wcg
from muntin.planner.strategies.slices import direct
from muntin_testing.windows import window_sets

TEN, TWENTY, THIRTY, FORTY = FOUR = tuple(Window(n, n, id=str(n)) for n in (10, 20, 30, 40))
THREE = FOUR[1:]


def problem(windows: tuple[Window, ...], idempotent: bool = True) -> Problem:
    return Problem(windows, idempotent, PaperCost(windows))


def parents(plan: SharingPlan) -> dict[str, str | None]:
    return {node.id: node.parent for node in plan.nodes}


class TestExample6:
    def test_direct_costs_480(self) -> None:
        assert PaperCost(FOUR).period == 120
        assert total(PaperCost(FOUR), direct(problem(FOUR))) == 480

    @pytest.mark.parametrize("idempotent", [True, False])  # tumbling: both relations coincide
    def test_the_coverage_graph_costs_150(self, idempotent: bool) -> None:
        plan = wcg(problem(FOUR, idempotent))
        assert parents(plan) == {"10": None, "20": "10", "30": "10", "40": "20"}
        assert node_costs(PaperCost(FOUR), plan) == {"10": 120, "20": 12, "30": 12, "40": 6}
        assert total(PaperCost(FOUR), plan) == 150

    def test_recurrence_counts(self) -> None:
        assert [PaperCost(FOUR).recurrence(w) for w in FOUR] == [12, 6, 4, 3]


class TestExample7:
    def test_without_the_ten(self) -> None:
        assert total(PaperCost(THREE), direct(problem(THREE))) == 360
        plan = wcg(problem(THREE))
        assert parents(plan) == {"20": None, "30": None, "40": "20"}
        assert total(PaperCost(THREE), plan) == 246

    def test_the_ten_as_a_factor_window_costs_150_again(self) -> None:
        # R is fixed by the user's windows, and the factor window reads the source at n·η·r.
        plan = with_factor(THREE, TEN, {"20": TEN, "30": TEN, "40": TWENTY})
        assert total(PaperCost(THREE), plan) == 150

    @pytest.mark.parametrize(("length", "cost"), [(10, 144), (5, 168), (2, 240)])
    def test_candidates_under_20_and_30_alone(self, length: int, cost: int) -> None:
        factor = Window(length, length, id="factor")
        plan = with_factor((TWENTY, THIRTY), factor, {"20": factor, "30": factor})
        assert total(PaperCost(THREE), plan) == cost


def with_factor(
    windows: tuple[Window, ...], factor: Window, fed_by: dict[str, Window]
) -> SharingPlan:
    nodes = [replace(window_node(factor, hidden=True), id=factor.id)]
    for window in windows:
        pieces = covering_pieces(window, fed_by[window.id], disjoint=True)
        assert pieces is not None
        nodes.append(Node(window.id, window, fed_by[window.id].id, pieces))
    plan = SharingPlan.build(nodes, idempotent=True)
    check(plan, windows)
    return plan


def test_a_covered_window_pays_its_multiplier() -> None:
    child, parent = Window(10, 2, id="child"), Window(8, 2, id="parent")
    model = PaperCost((child, parent))  # R = 40
    assert [model.recurrence(w) for w in (child, parent)] == [16, 17]
    plan = wcg(Problem((child, parent), True, model))
    assert parents(plan) == {"parent": None, "child": "parent"}
    assert node_costs(model, plan) == {"parent": 17 * 8, "child": 16 * 2}
    alone = wcg(Problem((child, parent), False, model))
    assert parents(alone) == {"parent": None, "child": None}


def test_the_rate_multiplies_what_reads_the_source_and_nothing_else() -> None:
    plan = wcg(problem(FOUR))
    assert total(PaperCost(FOUR, rate=10), plan) == 10 * 120 + 30


def test_instances_are_counted_in_two_ways() -> None:
    # Equation 1 counts one instance of W(3600, 300) in R = 3600, Table 1 counts twelve.
    window = Window(3600, 300, id="w")
    model = PaperCost((window,))
    assert model.recurrence(window) == 1
    assert model.edge(SOURCE, window, window_node(window).pieces) == 3600
    per_slide = PaperCost((window,), period=3600)
    slices = pairs(window)
    assert per_slide.edge(slices, window, window_node(window).pieces) == 12 * 24  # ⌈2r/s⌉ = 24


class TestTable1:
    """Over S, the lcm of the slides, with T = ηS events."""

    WINDOW = Window(14, 8, id="w")

    def test_every_set_of_slices_reads_all_events(self) -> None:
        model = PaperCost((self.WINDOW, Window(9, 9)), rate=3, period=72)
        assert model.edge(SOURCE, panes(self.WINDOW), slices_node(panes(self.WINDOW)).pieces) == 216

    def test_panes(self) -> None:
        model = PaperCost((self.WINDOW,), period=8)
        pieces = window_node(self.WINDOW).pieces
        assert model.edge(panes(self.WINDOW), self.WINDOW, pieces) == 14 / 2  # (S/s)·(r/g), S = s

    def test_unshared_pairs_are_charged_a_bound(self) -> None:
        model = PaperCost((self.WINDOW,), period=8)
        pieces = window_node(self.WINDOW).pieces
        assert model.edge(pairs(self.WINDOW), self.WINDOW, pieces) == 4  # ⌈28/8⌉; they take 3

    def test_shared_slices(self) -> None:
        # E = 8 edges in S = 18: each window pays E·r/s.
        windows = (Window(12, 9), Window(10, 6))
        model, slices = PaperCost(windows, period=18), shared_pairs(windows)
        costs = [model.edge(slices, w, window_node(w).pieces) for w in windows]
        assert costs == [pytest.approx(8 * 12 / 9), pytest.approx(8 * 10 / 6)]
        assert model.edge(slices, slices, slices_node(slices).pieces) == 8


@given(window_sets(most=4))
def test_equation_1(windows: list[Window]) -> None:
    model = PaperCost(tuple(windows))
    for w in windows:
        m = Fraction(model.period, w.range)
        assert m.denominator == 1
        assert model.recurrence(w) == 1 + (m - 1) * Fraction(w.range, w.slide)


@pytest.mark.parametrize("rate", [0, -1, float("nan")])
def test_a_rate_must_be_positive(rate: float) -> None:
    with pytest.raises(StrategyError, match=r"rate .* must be positive: events per unit"):
        PaperCost(FOUR, rate)

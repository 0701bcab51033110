"""Algorithm 1; that it is the cheapest tree is tested with the costs."""

from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import PaperCost, RateCost
from muntin.model.windows import Window
from muntin.plan.coverage import covered_by
from muntin.planner.strategies import Problem
from muntin.planner.strategies.coverage.wcg import wcg
from muntin_testing.reached import Reached
from muntin_testing.windows import window_sets


def test_theorem_7_each_window_has_one_parent_that_covers_it() -> None:
    reached = Reached()

    @given(window_sets(most=8), st.booleans(), st.booleans())
    def each(asked: list[Window], idempotent: bool, paper: bool) -> None:
        windows = tuple(asked)
        model = PaperCost(windows) if paper else RateCost(1e6)
        plan = wcg(Problem(windows, idempotent, model))
        assert sorted(node.id for node in plan.nodes) == sorted(w.id for w in windows)
        for node in plan.nodes:
            assert isinstance(node.shape, Window)
            if node.parent is not None:
                parent = plan.node(node.parent).shape
                assert isinstance(parent, Window)
                assert covered_by(node.shape, parent)
                reached["paper" if paper else "rate"] += 1

    each()
    reached.at_least(15, "paper", "rate")


def test_each_cost_takes_its_own_pieces() -> None:
    minute = 60_000_000
    windows = tuple(Window(n * minute, minute, id=str(n)) for n in (60, 1440))
    fewest = wcg(Problem(windows, True, RateCost(1e4)))
    paper = wcg(Problem(windows, True, PaperCost(windows, rate=1.0)))
    assert fewest.node("1440").pieces.count == 24
    assert paper.node("1440").pieces.count == 1_381

"""Equations 2 to 5 and Algorithms 3 and 4, with the counterexamples to their text."""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import PaperCost
from muntin.model.windows import Window
from muntin.plan.coverage import SOURCE, Source, covering_pieces, every, partitioned_by
from muntin.planner.strategies.coverage.factor_benefit import (
    best_tumbling_factor,
    helps,
    overlap_sum,
)
from muntin_testing.reached import Reached
from muntin_testing.windows import windows

etas = st.sampled_from([0.25, 0.5, 1.0, 2.0, 10.0])


def tumbling(length: int) -> Window:
    return Window(length, length)


@st.composite
def partitions(draw: st.DrawFn) -> tuple[PaperCost, Source | Window, Window, list[Window]]:
    """Figure 9 under `partitioned by`: a tumbling target, a tumbling factor, and children."""
    target = draw(st.sampled_from([None, 1, 2, 3]))
    length = (target or 1) * draw(st.integers(2 if target else 1, 4))
    children = [
        Window(length * slide * draw(st.integers(1, 4)), length * slide)
        for slide in draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    ]
    children = list(dict.fromkeys(children))
    cost = PaperCost(tuple(children), rate=draw(etas))
    return cost, tumbling(target) if target else SOURCE, tumbling(length), children


Pattern = tuple[PaperCost, Source | Window, Window, list[Window]]


def cost_change(
    cost: PaperCost, factor: Window, target: Source | Window, children: Sequence[Window]
) -> Fraction:
    """Equation 2: cost with the factor window between target and children, less cost without it.

    Equation 3, the factor window pays, is cost_change ≤ 0. Holds for hopping windows too.
    """
    r_W = s_W = 1 / Fraction(cost.rate)
    if isinstance(target, Window):
        r_W, s_W = Fraction(target.range), Fraction(target.slide)
    k_f, k_W = Fraction(factor.range, factor.slide), r_W / s_W
    change = cost.recurrence(factor) * (1 + factor.range / s_W - k_W)
    for child in children:
        saved = Fraction(child.range, factor.slide) - k_f - child.range / s_W + k_W
        change += cost.recurrence(child) * saved
    return change


class TestWorkedFigures:
    THREE = (tumbling(20), tumbling(30), tumbling(40))

    @pytest.mark.parametrize(("length", "cost"), [(10, 144), (5, 168), (2, 240)])
    def test_candidates_under_20_and_30(self, length: int, cost: int) -> None:
        model = PaperCost(self.THREE)  # R = 120, and 20 and 30 read directly cost 240
        change = cost_change(model, tumbling(length), SOURCE, self.THREE[:2])
        assert 240 + change == cost

    def test_all_three_candidates_help_and_the_ten_is_best(self) -> None:
        model, children = PaperCost(self.THREE), self.THREE[:2]
        assert all(helps(model, tumbling(r), SOURCE, children) for r in (10, 5, 2))
        assert best_tumbling_factor(model, SOURCE, children) == tumbling(10)


@st.composite
def covered(draw: st.DrawFn, parent: Window) -> Window:
    """A window that the parent covers, or the parent itself."""
    slide = parent.slide * draw(st.integers(1, 3))
    longer = parent.slide * draw(st.integers(0, 6))
    return Window(max(parent.range + longer, slide + parent.range % parent.slide), slide)


@given(windows(12, offsets=False), etas, st.data())
def test_equation_2_is_the_difference_of_the_edges(
    target: Window, eta: float, data: st.DataObject
) -> None:
    factor = data.draw(covered(target))
    children = [data.draw(covered(factor)) for _ in range(2)]
    model = PaperCost(tuple(children), eta)
    for parent in (SOURCE, target):
        before = sum(cost(model, parent, child) for child in children)
        after = cost(model, parent, factor) + sum(cost(model, factor, w) for w in children)
        found = float(cost_change(model, factor, parent, children))
        assert found == pytest.approx(after - before, rel=1e-9, abs=1e-9 * before)


def cost(model: PaperCost, parent: Source | Window, child: Window) -> float:
    pieces = every(child.range)
    if isinstance(parent, Window):
        covering = covering_pieces(child, parent, disjoint=False)
        assert covering is not None
        pieces = covering
    return model.edge(parent, child, pieces)


def test_algorithm_3_decides_as_equation_2_does() -> None:
    reached = Reached()

    @given(partitions())
    def each(pattern: Pattern) -> None:
        cost, target, factor, children = pattern
        verdict = helps(cost, factor, target, children)
        assert verdict == (cost_change(cost, factor, target, children) <= 0)
        reached["helps" if verdict else "does not help"] += 1

    each()
    reached.at_least(10, "helps", "does not help")


def test_algorithm_3_where_the_paper_divides_by_zero() -> None:
    child = (Window(12, 4),)  # alone: R = 12, m_1 = 1
    assert not helps(PaperCost(child), tumbling(4), SOURCE, child)
    assert cost_change(PaperCost(child), tumbling(4), SOURCE, child) > 0


def test_algorithm_3_where_the_factor_is_not_twice_the_target() -> None:
    pair = (tumbling(2), tumbling(3))
    # One event a unit: W(1, 1) holds as many partials as there are events, and costs a pass.
    assert not helps(PaperCost(pair, rate=1), tumbling(1), SOURCE, pair)
    assert helps(PaperCost(pair, rate=2), tumbling(1), SOURCE, pair)


def test_algorithm_4_must_look_at_slides_too() -> None:
    pair = (Window(4, 2), Window(6, 3))
    assert gcd(4, 6) == 2
    assert not partitioned_by(pair[1], tumbling(2))
    assert best_tumbling_factor(PaperCost(pair, rate=10), SOURCE, pair) == tumbling(1)


def test_algorithm_4_aligns_offsets() -> None:
    pair = (Window(8, 8, 3), Window(12, 12, 7))
    factor = best_tumbling_factor(PaperCost(pair, rate=10), SOURCE, pair)
    assert factor == Window(4, 4, 3)
    shifted = (Window(8, 8, 3), Window(12, 12, 5))
    assert best_tumbling_factor(PaperCost(shifted, rate=10), SOURCE, shifted) == Window(2, 2, 1)


def test_theorem_9_fails_where_it_divides_by_a_negative_number() -> None:
    pair, r_W = (tumbling(12), tumbling(24)), 1
    model = PaperCost(pair)
    lambda_ = overlap_sum(model, pair)
    assert lambda_ == 2
    printed = Fraction(6, 4) >= (lambda_ - Fraction(6, r_W)) / (lambda_ - Fraction(4, r_W))
    assert not printed  # Equation 5 as printed prefers 4
    assert cost_change(model, tumbling(6), tumbling(r_W), pair) < cost_change(
        model, tumbling(4), tumbling(r_W), pair
    )


def test_algorithm_4_finds_the_best_tumbling_factor_window() -> None:
    reached = Reached()

    @given(partitions())
    def each(pattern: Pattern) -> None:
        cost, target, _, children = pattern
        found = best_tumbling_factor(cost, target, children)
        step = 1 if isinstance(target, Source) else target.range
        common = gcd(*(n for w in children for n in (w.range, w.slide)))
        lengths = [n for n in range(1, common + 1) if common % n == 0 and n % step == 0]
        eligible = [tumbling(n) for n in lengths if tumbling(n) != target]
        free = [w for w in eligible if w not in cost.windows]
        best = min((cost_change(cost, w, target, children) for w in free), default=Fraction(1))
        if found is not None:
            assert cost_change(cost, found, target, children) == best <= 0
            reached["found"] += 1
        elif free == eligible:  # no asked window does a factor window's work
            assert best > 0
            reached["none"] += 1

    each()
    reached.at_least(8, "found", "none")


def test_a_hopping_target_partitions_nothing() -> None:
    child = Window(12, 4)
    assert best_tumbling_factor(PaperCost((child,)), Window(4, 2), [child]) is None

"""optimize by the papers' cost: every strategy over one period, and `auto` takes the cheapest."""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.cost import PaperCost
from muntin.plan import SharingPlan
from muntin.plan.coverage import EdgeKind, Source
from muntin.plan.slicing import Slices
from muntin.planner.strategies import STRATEGIES, Problem
from muntin_testing.windows import window_sets

THREE = [mt.Window(40, 8), mt.Window(20, 4), mt.Window(10, 2)]


def query(windows: list[mt.Window], aggregate: mt.Aggregate) -> mt.Query:
    return mt.query("ts", windows, [aggregate])


def test_slices_and_windows_are_compared_over_one_period() -> None:
    # R = 40 and S = 8: over their own periods shared pairs would cost 140.
    found = mt.optimize(query(THREE, mt.min("v")), rate=10, cost="paper")
    costs = {a.strategy: a.cost for a in found.alternatives}
    assert (costs["shared-pairs"], costs["wcg-fw"]) == (700, 520)
    assert found.cost == min(cost for cost in costs.values() if cost is not None)


def test_a_period_is_never_walked() -> None:
    primes = [mt.Window(n, n) for n in (999_999_937, 999_999_929, 999_999_893, 999_999_883)]
    found = mt.optimize(query(primes, mt.sum("v")), "direct", rate=1e-6, cost="paper")
    assert found.cost == pytest.approx(4e-6 * lcm(*(w.range for w in primes)))


def test_a_period_beyond_counting_is_refused_with_the_remedy() -> None:
    odd = [mt.Window(10**9 + 2 * n + 1, 10**9 + 2 * n + 1) for n in range(60)]
    with pytest.raises(mt.MuntinError, match=r"more than 1e200 units.*use cost='rate'"):
        mt.optimize(query(odd, mt.sum("v")), cost="paper")


@given(window_sets(least=2, most=4, longest=12), st.booleans(), st.sampled_from([1, 10, 100]))
def test_every_strategy_is_priced_over_lcm_of_ranges_and_slides(
    windows: list[mt.Window], idempotent: bool, rate: int
) -> None:
    aggregate = mt.min("v") if idempotent else mt.sum("v")
    found = mt.optimize(query(windows, aggregate), rate=rate, cost="paper")
    problem = Problem(tuple(windows), idempotent, PaperCost(tuple(windows), rate))
    period = lcm(*(n for w in windows for n in (w.range, w.slide)))
    tried = {a.strategy: a.cost for a in found.alternatives if a.cost is not None}
    assert {"direct", "shared-pairs", "cutty", "wcg-fw", "weave-share", "tri-weave"} <= set(tried)
    for name, cost in tried.items():
        assert cost == pytest.approx(float(sum(prices(STRATEGIES[name](problem), rate, period))))
    assert found.cost == tried[found.strategy] == min(tried.values())


def prices(plan: SharingPlan, rate: int, period: int) -> Iterator[Fraction]:
    """Section 3.2 and Table 1 with edges counted off one by one over the period."""
    for parent, node in plan.edges():
        child, read, foot = node.shape, rate, plan.shape(plan.foot(node))
        if isinstance(foot, Slices):
            read = sum(any(t % c.step == c.phase for c in foot.cuts) for t in range(period))
        if isinstance(child, Slices):
            yield Fraction(rate * period if isinstance(parent, Source) else read)
            continue
        assert isinstance(child, mt.Window)
        if not isinstance(parent, Slices):
            instances = 1 + Fraction(period - child.range, child.slide)
            pieces = rate * child.range if isinstance(parent, Source) else node.pieces.count
            yield instances * pieces
            if node.pieces.kind is EdgeKind.SUFFIX:  # of the delta Table 1 counts slices
                [piece] = node.pieces.progressions
                yield Fraction(period, child.slide) * Fraction(read, period) * piece.offset
            continue
        slices = Fraction(read, period) * child.range
        if node.pieces.kind is EdgeKind.PREFIX:
            slices = Fraction(ceil(slices))
        if parent.kind == "pairs":
            slices = Fraction(ceil(Fraction(2 * child.range, child.slide)))
        yield Fraction(period, child.slide) * slices

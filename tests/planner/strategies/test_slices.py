"""Slices as rivals: the four trees, their rate cost, and the paper's Table 1."""

from math import ceil, gcd
from typing import ClassVar

import pytest
from hypothesis import given

from muntin.cost import PaperCost, RateCost, WeaveCost, total
from muntin.model.windows import Window
from muntin.plan import SharingPlan, check, close
from muntin.plan.coverage import EdgeKind
from muntin.plan.slicing import Slices, cutty, edge_rate
from muntin.planner.strategies import STRATEGIES, Problem
from muntin_testing.windows import window_sets

NAMES = ("unshared-panes", "unshared-pairs", "shared-panes", "shared-pairs", "cutty")
PAIR = (Window(12, 9), Window(10, 6))


def plan(name: str, windows: tuple[Window, ...]) -> SharingPlan:
    found = STRATEGIES[name](Problem(windows, False, RateCost()))
    check(found, windows)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_tree(name: str) -> None:
    found = plan(name, PAIR)
    slices = [node for node in found.nodes if node.hidden]
    assert len(slices) == (2 if name.startswith("unshared") else 1)
    assert all(isinstance(node.shape, Slices) and node.parent is None for node in slices)
    assert all(node.parent for node in found.nodes if not node.hidden)


@pytest.mark.parametrize("name", NAMES)
def test_ids_of_the_user_are_left_alone(name: str) -> None:
    windows = (Window(12, 9, id="slices"), Window(10, 6, id="slices of slices"))
    assert {"slices", "slices of slices"} <= {
        n.id for n in plan(name, windows).nodes if not n.hidden
    }


class TestTable1:
    """T = ηS events, S = 18, η = 5, for W(12, 9) and W(10, 6)."""

    COSTS: ClassVar = {
        "unshared-panes": 2 * 90 + (18 / 9) * (12 / 3) + (18 / 6) * (10 / 2),
        "unshared-pairs": 2 * 90 + (18 / 9) * 3 + (18 / 6) * 4,  # ⌈24/9⌉ and ⌈20/6⌉
        "shared-panes": 90 + 18 * (12 / 9) + 18 * (10 / 6),
        "shared-pairs": 90 + 8 * (12 / 9) + 8 * (10 / 6),
        "cutty": 90 + (18 / 9) * 3 + (18 / 6) * 3,  # 4 edges: ⌈12·4/18⌉ and ⌈10·4/18⌉ slices
    }

    @pytest.mark.parametrize("name", NAMES)
    def test_costs(self, name: str) -> None:
        model = PaperCost(PAIR, rate=5, period=18)
        assert total(model, plan(name, PAIR)) == pytest.approx(self.COSTS[name])


def in_an_instance(window: Window, slices: Slices, kind: EdgeKind) -> float:
    mean = window.range * edge_rate(slices)
    return float(mean if kind is EdgeKind.WHOLE else ceil(mean))


@given(window_sets(most=5))
def test_rate_costs(asked: list[Window]) -> None:
    """A pass for each set of slices, then each slice once for every instance that holds it."""
    windows = tuple(asked)
    model = RateCost(rate=1e9)  # many records a slice
    second = 1e6
    for name in NAMES:
        found = plan(name, windows)
        passes = sum(isinstance(node.shape, Slices) for node in found.nodes)
        final = sum(
            second * in_an_instance(node.shape, parent, node.pieces.kind) / node.shape.slide
            for parent, node in found.edges()
            if isinstance(parent, Slices) and isinstance(node.shape, Window)
        )
        assert total(model, found) == pytest.approx(passes * 1e9 + final)


@pytest.mark.parametrize("window", [Window(14, 8), Window(12, 9), Window(10, 6), Window(35, 3)])
def test_one_window_takes_the_partials_of_the_papers(window: Window) -> None:
    """Panes r/gcd, pairs 2⌊r/s⌋ + 1 (r·E on average over begins and ends), Cutty ⌈r/s⌉."""
    (slices, reading) = plan("cutty", (window,)).nodes
    assert slices.shape == cutty(window)
    assert reading.pieces.kind is EdgeKind.PREFIX
    model = WeaveCost("panes", rate=1, unit_of_time=window.slide)
    assert total(model, plan("cutty", (window,))) == 1 + ceil(window.range / window.slide)
    assert total(model, plan("unshared-panes", (window,))) == 1 + window.range / gcd(
        window.range, window.slide
    )


@given(window_sets(most=4))
def test_cutty_is_shared_pairs_once_it_is_closed(asked: list[Window]) -> None:
    windows = tuple(asked)
    lowered, pairs = close(plan("cutty", windows)), plan("shared-pairs", windows)
    assert lowered.nodes[0].shape == pairs.nodes[0].shape
    assert [n.pieces for n in lowered.nodes] == [n.pieces for n in pairs.nodes]
    even = all(w.range % w.slide == 0 for w in windows)
    assert (close(plan("cutty", windows)) == plan("cutty", windows)) == even


@given(window_sets(most=5))
def test_pairs_never_take_more_slices_than_panes(asked: list[Window]) -> None:
    windows = tuple(asked)
    model = RateCost(rate=1e9)
    for kind in ("unshared", "shared"):
        pairs, panes = (total(model, plan(f"{kind}-{cut}", windows)) for cut in ("pairs", "panes"))
        assert pairs <= panes * (1 + 1e-12)

"""subsume: its tree is the groups of the window manager, and a level reuses a narrower one."""

from itertools import pairwise

import pytest

import muntin as mt
from muntin.cost import KernelCost, RateCost, Statistics, suffix_cost, total
from muntin.nesting import WindowManager
from muntin.plan import SharingPlan, check
from muntin.plan.coverage import EdgeKind, Progression, every
from muntin.plan.slicing import Slices
from muntin.plan.slicing.cuts import begins
from muntin.planner.strategies import STRATEGIES, Problem
from muntin.planner.strategies.subsume import FLIGHT


def planned(*windows: mt.Window, idempotent: bool = False, rate: float = 1e6) -> SharingPlan:
    plan = STRATEGIES["subsume"](Problem(windows, idempotent, RateCost(rate)))
    check(plan, windows)
    return plan


SECOND = 1_000_000


def seconds(range: int, slide: int, id: str) -> mt.Window:
    return mt.Window(range * SECOND, slide * SECOND, id=id)


def test_a_group_reads_the_source_once() -> None:
    windows = [seconds(4, 2, "d"), seconds(24, 8, "v"), seconds(32, 4, "z"), seconds(6, 3, "r")]
    plan = planned(*windows)
    manager = WindowManager(windows)
    assert len(plan.children(None)) == len(manager.groups) == 3
    for root in plan.children(None):
        below = [node.id for node in plan.nodes if node.parent == root.id]
        if isinstance(root.shape, Slices):
            assert all(manager.group_of(id) is manager.group_of(below[0]) for id in below)


def test_piggybacked_windows_are_one_piece() -> None:
    plan = planned(seconds(6, 2, "d"), seconds(6, 4, "u"), seconds(24, 8, "v"))
    node = plan.node("u")
    assert node.parent == "d"
    assert node.pieces.progressions == (Progression(0, 2 * SECOND, 1),)


def test_a_level_is_made_of_a_narrower_one_where_that_is_cheaper() -> None:
    hour, minute = 3_600, 60
    plan = planned(seconds(hour, minute, "hour"), seconds(24 * hour, minute, "day"))
    assert plan.node("day").parent == "hour"
    assert plan.node("day").pieces.count == 24


def test_a_single_tumbling_window_needs_no_slices() -> None:
    plan = planned(seconds(10, 10, "ten"))
    assert [node.id for node in plan.nodes] == ["ten"]


def test_cut_by_cutty_the_slices_are_the_granules_of_the_stairs() -> None:
    windows = (seconds(7, 3, "seven"), mt.Window(14 * SECOND, 6 * SECOND, 5 * SECOND, "fourteen"))
    assert len(WindowManager(windows).groups) == 1
    plan = STRATEGIES["subsume"](Problem(windows, False, RateCost(1e6), slicing="cutty"))
    check(plan, windows)
    [root] = plan.children(None)
    assert isinstance(root.shape, Slices)
    assert set(root.shape.cuts) == {begins(window) for window in windows}
    assert {node.pieces.kind for node in plan.children(root.id)} == {EdgeKind.PREFIX}


def ends_aligned(range: int, slide: int, id: str) -> mt.Window:
    """A window of the paper, whose instances end at multiples of its slide."""
    return mt.Window(range * SECOND, slide * SECOND, -range % slide * SECOND, id)


def stairs(plan: SharingPlan) -> dict[str, str | None]:
    """Every window that is a narrower one and a delta, with that one."""
    return {n.id: n.parent for n in plan.nodes if n.pieces.kind is EdgeKind.SUFFIX}


def test_figure_5_windows_of_different_progression_share_nothing() -> None:
    plan = planned(ends_aligned(8, 3, "W1"), ends_aligned(10, 4, "W2"))
    assert len(plan.children(None)) == 2
    assert not stairs(plan)


def test_figure_6_w3_reuses_the_answer_of_w1_and_w2_is_that_of_w3() -> None:
    """W1 and W3 slide by 2, and W2 is W3 at every fourth instant: sums, as in the paper's text."""
    plan = planned(*(ends_aligned(*w) for w in ((4, 2, "W1"), (6, 4, "W2"), (6, 2, "W3"))))
    [root] = plan.children(None)
    assert {n.id: n.parent for n in plan.nodes[1:]} == {"W1": root.id, "W3": "W1", "W2": "W3"}
    assert stairs(plan) == {"W3": "W1"}
    assert plan.node("W3").pieces.progressions == (Progression(2 * SECOND, 2 * SECOND, 1),)
    assert plan.node("W2").pieces.count == 1
    assert plan.node("W2").pieces.kind is EdgeKind.WHOLE


FIGURE_7 = {
    **{"d": (6, 2), "u": (6, 4), "b": (8, 5), "h": (14, 5), "f": (20, 5), "e": (26, 10)},
    **{"r": (10, 3), "p": (18, 3), "y": (30, 6), "v": (24, 8), "z": (32, 4)},
}


def test_figure_7_every_enclosing_window_reuses_the_one_before_it() -> None:
    windows = [ends_aligned(*size, id) for id, size in FIGURE_7.items()]
    plan, manager = planned(*windows), WindowManager(windows)
    assert stairs(plan) == {"h": "b", "f": "h", "e": "f", "p": "r", "y": "p"}
    assert (plan.node("v").parent, plan.node("v").pieces.count) == ("d", 4)  # of whole pieces
    assert (plan.node("u").parent, plan.node("u").pieces.count) == ("d", 1)
    for group in manager.groups:
        for below, above in pairwise(group.levels):
            assert plan.node(above.window.id).parent == below.window.id


def test_stairs_are_taken_where_they_cost_less() -> None:
    """By the kernel a result costs the same however wide its window: there a stair is dearer."""
    windows = (seconds(40, 10, "narrow"), seconds(70, 10, "wide"))
    kernel = KernelCost(Statistics(1e7, keys=100, rate=1e3))
    assert stairs(planned(*windows)) == {"wide": "narrow"}
    assert not stairs(STRATEGIES["subsume"](Problem(windows, False, kernel)))


def test_the_cost_of_a_stair_is_one_piece_and_its_delta() -> None:
    narrow, wide = seconds(40, 10, "narrow"), seconds(70, 10, "wide")
    plan, model = planned(narrow, wide), RateCost(1e6)
    slices = plan.nodes[0].shape
    assert isinstance(slices, Slices)
    assert suffix_cost(model, slices, narrow, wide) * 10 == 1 + 3  # pieces of each of 0.1 a second
    assert model.edge(slices, wide, every(wide.range)) * 10 == 7
    apart = STRATEGIES["shared-pairs"](Problem((narrow, wide), False, model))
    assert total(model, apart) - total(model, plan) == pytest.approx((7 - 4) / 10)


def test_a_flight_ends_before_the_tree_is_too_deep() -> None:
    plan = planned(*(seconds(101 + 3 * n, 1, f"w{n}") for n in range(50)))
    assert len(plan.levels()) == 2 + FLIGHT
    assert len(stairs(plan)) == 50 - 3  # the seed of each flight reads its slices


def test_groups_are_as_few_as_there_can_be_where_that_is_cheaper() -> None:
    sizes = [(2, 1), (3, 3), (4, 2), (6, 6), (8, 2)]
    windows = [seconds(*size, f"w{i}") for i, size in enumerate(sizes)]
    assert len(WindowManager(windows).groups) == 3
    assert len(planned(*windows).children(None)) == 2

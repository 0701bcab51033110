"""subsume: its tree is the groups of the window manager."""

import muntin as mt
from muntin.cost import RateCost
from muntin.nesting import WindowManager
from muntin.plan import SharingPlan, check
from muntin.plan.coverage import EdgeKind, Progression
from muntin.plan.slicing import Slices
from muntin.plan.slicing.cuts import begins
from muntin.planner.strategies import STRATEGIES, Problem


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

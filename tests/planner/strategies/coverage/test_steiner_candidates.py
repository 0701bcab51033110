"""Classes and meets: for any members, no coarser class serves them."""

from itertools import combinations

from hypothesis import given

from muntin.cost.arrays import WindowArrays
from muntin.model.windows import Window
from muntin.plan.coverage import covered_by
from muntin.planner.strategies.coverage.steiner_candidates import classes_for, members
from muntin_testing.reached import Reached
from muntin_testing.windows import all_windows, window_sets

EVERY = all_windows(longest=16)


def test_the_windows_of_a_class_cover_its_members() -> None:
    reached = Reached()

    @given(window_sets(most=4, longest=16))
    def each(asked: list[Window]) -> None:
        table = WindowArrays.of(asked)
        classes = classes_for(table, idempotent=True, limit=1000)
        serves = members(classes, table)
        for (slide, offset, rest), served in zip(classes.tolist(), serves, strict=True):
            shortest = Window(slide + rest, slide, offset)
            for window, fits in zip(asked, served, strict=True):
                # Longer by whole slides of the class, so that its shortest window has room.
                longer = Window(window.range + 20 * slide, window.slide, window.offset)
                assert fits == covered_by(longer, shortest)
                reached["member" if fits else "stranger"] += 1

    each()
    reached.at_least(50, "member", "stranger")


@given(window_sets(most=4, longest=16))
def test_every_slide_that_serves_several_is_matched_by_a_coarser_class(
    asked: list[Window],
) -> None:
    table = WindowArrays.of(asked)
    classes = classes_for(table, idempotent=True, limit=1000)
    serves = members(classes, table)
    for factor in EVERY:
        served = [covered_by(w, factor) for w in asked]
        if any(served):
            coarser = [
                slide % factor.slide == 0
                for (slide, _, _), fits in zip(classes.tolist(), serves, strict=True)
                if all(f or not s for f, s in zip(fits, served, strict=True))
            ]
            assert any(coarser), factor


def test_the_limit_keeps_the_classes_that_serve_most() -> None:
    asked = [Window(n, n) for n in (8, 12, 20, 28, 44, 52)]
    table = WindowArrays.of(asked)
    kept = classes_for(table, idempotent=False, limit=3)
    assert len(kept) == 3
    assert [4, 0, 0] in kept.tolist()


def test_disjoint_pieces_need_panes() -> None:
    table = WindowArrays.of([Window(14, 8), Window(9, 6, 1)])
    classes = classes_for(table, idempotent=False, limit=100)
    assert all(rest == 0 for _, _, rest in classes.tolist())
    pairs = combinations(classes.tolist(), 2)
    assert all(left != right for left, right in pairs)

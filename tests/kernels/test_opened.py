"""Slices that are read while they are open: equal to brute force, whatever else cuts them."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.test_tree import assert_is_brute_force
from muntin.cost import RateCost
from muntin.kernels.monoids import Ufuncs
from muntin.kernels.opened import Join, OpenSlices, Rest
from muntin.kernels.pieces import Pieces, Results
from muntin.model.windows import Window
from muntin.physical import lower
from muntin.physical.lowering import Prefix
from muntin.plan import check, refine
from muntin.plan.slicing import Slices
from muntin.planner.strategies import STRATEGIES, Problem
from muntin_testing.reached import Reached

TOTAL = (Ufuncs((np.add,), (0,)),)


@st.composite
def uneven(draw: st.DrawFn) -> Window:
    """A window whose instances end within its own slices, most often."""
    slide = draw(st.integers(2, 9))
    range = slide * draw(st.integers(1, 3)) + draw(st.integers(0, slide - 1))
    return Window(range, slide, draw(st.integers(0, slide - 1)))


def test_open_slices_give_what_brute_force_gives() -> None:
    reached = Reached()

    @given(
        asked=st.lists(uneven(), min_size=1, max_size=4, unique=True),
        name=st.sampled_from(["cutty", "cutty", "subsume", "tri-weave"]),
        within=st.booleans(),
        seed=st.integers(0, 2**30),
    )
    def each(asked: list[Window], name: str, within: bool, seed: int) -> None:
        plan = STRATEGIES[name](Problem(tuple(asked), False, RateCost(rate=5e6), "cutty"))
        refined = refine(plan)
        check(refined, asked)
        assert refine(refined) is refined
        physical = lower(refined)
        wanted = assert_is_brute_force(physical, Random(seed), within, False, reached)
        opened = [n for n in physical.nodes if isinstance(n.program, Prefix)]
        made_of = [physical.nodes[n.parent].shape for n in opened]
        reached["open"] += bool(opened)
        reached["open, within a span"] += bool(opened) and within and bool(wanted)
        reached["cut by other windows"] += any(
            isinstance(slices, Slices) and len(slices.cuts) > 1 for slices in made_of
        )
        reached["slices of slices"] += name == "tri-weave" and bool(opened)

    each()
    reached.at_least(25, "open")
    reached.at_least(10, "open, within a span", "cut by other windows")
    reached.at_least(5, "slices of slices")


def test_instances_are_found_again_where_codes_do_not_fit() -> None:
    """Groups times slides may not fit into 64 bits: instants are numbered instead."""
    far, group = 2**55, np.array([0, 1000])
    start = np.array([0, far])
    whole = Results(1, group, start, np.arange(2), ((np.array([1, 2]),),))
    rest_of = np.array([0, 1000, 1000]), np.array([0, far - 1, far]), np.arange(3)
    rest = Rest(*rest_of, ((np.array([10, 20, 40]),),), np.ones(3))
    join = Join(rest, Window(3, 1), TOTAL)
    assert join.with_rest(whole).columns[0][0].tolist() == [11, 42]
    left = join.left(1)
    assert (left.group.tolist(), left.start.tolist()) == ([1000], [far - 1])


def test_long_runs_are_scanned_as_short_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices of many fragments take another way to the same running partials."""
    start = np.arange(40)
    values = np.random.default_rng(3).integers(0, 99, len(start))
    fragments = Pieces(np.zeros_like(start), start, start, ((values,),))
    found = []
    for long in (64, 1):
        monkeypatch.setattr("muntin.kernels.opened.LONG", long)
        opened = OpenSlices.cut(fragments, start // 9 * 9, TOTAL)
        found.append((opened.running[0][0].tolist(), opened.slices.columns[0][0].tolist()))
    assert found[0] == found[1]
    assert found[0][1] == [int(values[i : i + 9].sum()) for i in range(0, 40, 9)]

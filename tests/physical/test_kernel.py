"""Bases of a stream: pieces that no window of the base ends or begins within."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import RateCost
from muntin.model.windows import Window
from muntin.physical.operators.kernel import bases
from muntin.plan.slicing import SLICINGS
from muntin.plan.slicing.cuts import begins, ends
from muntin.planner.strategies import STRATEGIES, Problem
from muntin_testing.reached import Reached, built_by, edges_of
from muntin_testing.running import for_stream
from muntin_testing.windows import window_sets


@pytest.mark.parametrize("name", ["cutty", "weave-share", "tri-weave", "wcg", "wcg-fw"])
def test_every_window_begins_and_ends_at_cuts_of_its_base(name: str) -> None:
    reached = Reached()

    @given(asked=window_sets(most=4, longest=16), slicing=st.sampled_from(sorted(SLICINGS)))
    def each(asked: list[Window], slicing: str) -> None:
        plan = STRATEGIES[name](Problem(tuple(asked), False, RateCost(5e6), slicing))
        physical = for_stream(plan)
        found = bases(physical)
        for base in found:
            for window in base.windows.values():
                assert base.slices.cuts_at(begins(window))
                assert base.slices.cuts_at(ends(window))
        answered = {physical.nodes[number].id for base in found for number in base.windows}
        assert {w.id for w in asked} <= answered
        reached.update(edges_of(plan))
        reached["several windows on a base"] += any(len(base.windows) > 1 for base in found)

    each()
    reached.at_least(10, *built_by(name))
    reached.at_least(10, "several windows on a base")

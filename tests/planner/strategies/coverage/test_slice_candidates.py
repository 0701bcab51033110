"""Candidate slices: what they serve, and which are made of which, as the checker says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import ExpandCost, KernelCost, RateCost, Statistics
from muntin.cost.arrays import WindowArrays, ask_each, slice_costs
from muntin.model.windows import Window
from muntin.plan.check import fault
from muntin.plan.coverage import SOURCE, every
from muntin.plan.slicing import edge_rate, shared_pairs
from muntin.plan.tree import slices_node, window_node
from muntin.planner.strategies import Problem
from muntin.planner.strategies.coverage.slice_candidates import refines, serves, slice_candidates
from muntin_testing.reached import Reached
from muntin_testing.windows import window_sets

EVEN = WindowArrays.rows([(1, 1, 0), (2, 2, 1), (3, 3, 0)])
KNOWN = Statistics(1e4, keys=7, rate=1e6)
MODELS = (RateCost(1e6, keys=7), ExpandCost(KNOWN, width=4), KernelCost(KNOWN, partials=2))


def test_every_edge_that_is_offered_is_right() -> None:
    reached = Reached()

    @given(window_sets(most=5))
    def each(asked: list[Window]) -> None:
        found = slice_candidates(Problem(tuple(asked), False, RateCost()), EVEN, limit=20)
        assert found[0] == shared_pairs(asked)
        assert len({frozenset(s.cuts) for s in found}) == len(found) <= 20
        below, made = serves(found, WindowArrays.of(asked)), refines(found)
        assert below[0].all()
        assert not (made & made.T).any()
        for i, parent in enumerate(found):
            children = [window_node(w) for w in asked] + [slices_node(s) for s in found]
            for child, offered in zip(children, [*below[i], *made[i]], strict=True):
                allowed = fault(parent, child, idempotent=False) is None
                assert allowed or not offered
                reached["window" if isinstance(child.shape, Window) else "slices"] += bool(offered)

    each()
    reached.at_least(20, "window", "slices")


@given(window_sets(most=5), st.sampled_from(MODELS))
def test_costs_are_the_models(
    asked: list[Window], model: RateCost | ExpandCost | KernelCost
) -> None:
    slices = slice_candidates(Problem(tuple(asked), False, model), EVEN, limit=8)
    edges = np.array([float(edge_rate(each)) for each in slices])
    found = slice_costs(model, slices, edges, WindowArrays.of(asked))
    asked_for = ask_each(model, slices, WindowArrays.of(asked))
    for mine, theirs in zip(found, asked_for, strict=True):
        np.testing.assert_allclose(mine, theirs)
    assert found.source[0] == pytest.approx(model.edge(SOURCE, slices[0], every(1)))

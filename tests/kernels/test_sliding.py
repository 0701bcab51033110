"""Bulk sliding windows against recomputation of every window."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.aggregates import max as max_of
from muntin.incremental import TwoStacks
from muntin.kernels import sliding
from muntin.kernels.sliding import DOUBLING_LIMIT


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=400), st.data())
def test_every_window_is_the_combination_of_its_values(
    values: list[int], data: st.DataObject
) -> None:
    n = data.draw(st.integers(1, len(values)))
    array = np.array(values)
    views = np.lib.stride_tricks.sliding_window_view(array, n)
    assert sliding(array, n, np.maximum).tolist() == views.max(axis=1).tolist()
    assert sliding(array, n, np.add).tolist() == views.sum(axis=1).tolist()


@pytest.mark.parametrize("n", [3, DOUBLING_LIMIT, DOUBLING_LIMIT + 1, 1000])
def test_nothing_poisons_windows_that_do_not_contain_it(n: int) -> None:
    values = np.ones(3 * n)
    values[n] = np.nan
    values[0] = 1e16
    found = sliding(values, n, np.add)
    assert np.array_equal(
        np.isnan(found), (np.arange(len(found)) > 0) & (np.arange(len(found)) <= n)
    )
    assert found[-1] == n


def test_it_agrees_with_the_structure_it_replaces() -> None:
    values = np.random.default_rng(3).normal(size=500)
    window = TwoStacks(max_of("v"))
    answers = []
    for i, value in enumerate(values.tolist()):
        window.insert(value)
        if i >= 100:
            window.evict()
        if i >= 99:
            answers.append(window.query())
    assert sliding(values, 100, np.maximum).tolist() == answers


def test_a_window_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="windows of 4 do not fit into 3 values"):
        sliding(np.arange(3), 4, np.add)

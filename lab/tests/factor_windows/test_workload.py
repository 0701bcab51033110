"""The generators: seeded, and every set satisfies what its generator promises."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.factor_windows.workload import (
    GENERATORS,
    Sizes,
    chain_gen,
    random_gen,
    random_graph_gen,
    random_window,
    star_gen,
)
from muntin.errors import StrategyError
from muntin.model.windows import Window
from muntin.plan.coverage import covered_by

sizes = st.sampled_from([Sizes(), Sizes(40, 6), Sizes().tumbling])


@pytest.mark.parametrize("name", GENERATORS)
@given(seed=st.integers(0, 10_000), limits=sizes)
def test_windows_differ_keep_to_the_sizes_and_repeat(name: str, seed: int, limits: Sizes) -> None:
    windows = GENERATORS[name](Random(seed), 5, limits)
    assert windows == GENERATORS[name](Random(seed), 5, limits)
    assert len(set(windows)) == 5
    for w in windows:
        assert 2 <= w.slide <= limits.s_max
        assert w.range % w.slide == 0
        assert 1 <= w.range // w.slide <= limits.k_max


@given(st.integers(0, 10_000), sizes)
def test_a_chain_and_a_star(seed: int, limits: Sizes) -> None:
    chain = chain_gen(Random(seed), 5, limits)
    assert all(covered_by(newer, older) for older, newer in pairwise(chain))
    star = star_gen(Random(seed), 5, limits)
    assert all(covered_by(window, star[0]) for window in star)


@given(st.integers(0, 10_000), sizes)
def test_a_graph_has_levels_of_2_4_and_6_windows(seed: int, limits: Sizes) -> None:
    windows = random_graph_gen(Random(seed), 12, limits)
    assert len(set(windows)) == 12
    for level in (windows[:2], windows[2:6], windows[6:]):
        for i, window in enumerate(level):
            assert not any(covered_by(window, earlier) for earlier in level[:i])


def test_levels_of_a_graph_are_related() -> None:
    related = total = 0
    for seed in range(40):
        windows = random_graph_gen(Random(seed), 12, Sizes())
        total += 10
        related += sum(any(covered_by(w, p) for p in windows[:2]) for w in windows[2:6])
        related += sum(any(covered_by(w, p) for p in windows[2:6]) for w in windows[6:])
    independent = sum(
        covered_by(a, b)
        for seed in range(40)
        for a, b in pairwise(random_gen(Random(seed), 12, Sizes()))
    )
    assert related / total > 0.25 > independent / (40 * 11)


def test_algorithm_5_draws_every_slide_and_ratio() -> None:
    random = Random(1)
    drawn = {random_window(random, 2, Sizes(4, 2)) for _ in range(200)}
    assert drawn == {Window(s * k, s) for s in (2, 3, 4) for k in (1, 2)}


def test_chains_of_tumbling_windows_need_room_to_double() -> None:
    chain = chain_gen(Random(1), 5, Sizes(32, 1))
    assert [w.range for w in chain] == [2, 4, 8, 16, 32]
    with pytest.raises(StrategyError, match=r"found no 10 windows.*raise s_max"):
        chain_gen(Random(1), 10, Sizes(100, 1))

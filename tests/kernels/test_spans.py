"""Runs of records in bulk, against folding each by itself."""

from functools import reduce
from itertools import pairwise
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muntin.kernels.monoids import Scanned, Ufuncs
from muntin.kernels.spans import Cuts, reduce_pieces, spans

TOTAL = Ufuncs((np.add, np.maximum), (0, -(2**62)))
LINEAR = Scanned(lambda a, b: ((a[0] * b[0]) % 97, (a[1] * b[0] + b[1]) % 97), (1, 0))
"""Composition of x ↦ a·x + b modulo 97: associative, and the order shows."""


@st.composite
def runs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    length = draw(st.integers(1, 50))
    ends = st.tuples(st.integers(0, length - 1), st.integers(1, length))
    found = draw(st.lists(ends.filter(lambda r: r[0] < r[1]), min_size=1, max_size=30))
    return length, found


@st.composite
def one_after_the_other(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    """Runs of which each stops where the next begins, as sessions do."""
    length = draw(st.integers(2, 50))
    edges = sorted(draw(st.sets(st.integers(0, length), min_size=2)))
    return length, list(pairwise(edges))


@given(runs() | one_after_the_other(), st.randoms(use_true_random=False))
def test_all_runs_at_once_are_each_folded_in_order(
    given_runs: tuple[int, list[tuple[int, int]]], random: Random
) -> None:
    length, wanted = given_runs
    first, stop = (np.array(side) for side in zip(*wanted, strict=True))
    for monoid in (TOTAL, LINEAR):
        values = tuple(np.array([random.randrange(97) for _ in range(length)]) for _ in range(2))
        cuts = Cuts.of([(first, stop)], length)
        assert set(cuts.at.tolist()) == {*first.tolist(), *stop.tolist()}
        pieces = cuts.reduced(values, monoid)
        low, high = (np.searchsorted(cuts.at, side) for side in (first, stop))
        found = spans(pieces, low - 0, high, monoid)
        for i, (a, b) in enumerate(wanted):
            each = [tuple(np.array([v[k]]) for v in values) for k in range(a, b)]
            alone = reduce(monoid.combine, each)
            assert [int(f[i]) for f in found] == [int(x[0]) for x in alone]


def test_pieces_of_one_value_are_that_value() -> None:
    values = (np.array([5, 6, 7]), np.array([1, 1, 1]))
    assert reduce_pieces(values, np.array([0, 1, 2]), LINEAR)[0].tolist() == [5, 6, 7]

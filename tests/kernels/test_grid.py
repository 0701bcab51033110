"""Windows on a grid: the same instances, partials and pieces as by index, whatever is missing."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.test_tree import LARGEST, TEXTS
from muntin.kernels import grid
from muntin.kernels.monoids import Array
from muntin.kernels.pieces import Bounds, Pieces
from muntin.kernels.tree import Branch, evaluate_tree
from muntin.model.windows import Window
from muntin_testing.reached import Reached

more = settings(max_examples=3 * settings().max_examples)

Found = dict[tuple[int, int], object]
"""(group, start) → what was merged."""


def pieces_of(random: Random, step: int) -> Pieces:
    """Disjoint pieces of a few groups, numbered with gaps, some of them far apart."""
    keys = []
    for group in sorted(random.sample(range(6), random.randint(1, 4))):
        share = random.choice((0.1, 0.5, 0.9, 1.0))
        first = random.randrange(-50, 50)
        keys += [
            (group, (first + i) * step)
            for i in range(random.randint(1, 60))
            if random.random() < share
        ] or [(group, first * step)]
    text = np.empty(len(keys), dtype=object)
    text[:] = [f"[{group} {start}]" for group, start in keys]
    groups, starts = (np.array([key[i] for key in keys], dtype=np.int64) for i in (0, 1))
    return Pieces(groups, starts, np.arange(len(keys)), ((text,), (np.arange(len(keys)),)))


def evaluated(pieces: Pieces, window: Window, limits: Bounds | None) -> Found:
    between = None if limits is None else lambda _: limits
    held: list[int] = []

    def read(node: int, starts: Array, count: Array) -> None:
        held.append(int(count.sum()))

    found: Found = {}
    monoids = (TEXTS, LARGEST)
    for results in evaluate_tree([Branch(1, window, True)], pieces, monoids, between, read=read):
        (text,), (largest,) = results.columns
        assert (pieces.group[results.origin] == results.group).all()
        for i, begin in enumerate(results.start.tolist()):
            key = (int(results.group[i]), begin)
            assert key not in found, "no instance comes twice"
            found[key] = (str(text[i]), int(largest[i]))
    return {**found, (-1, 0): sum(held)}


def test_a_grid_gives_what_enumerating_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    reached = Reached()

    @more
    @given(
        step=st.sampled_from([1, 2, 3]),
        slide=st.integers(1, 12),
        more_range=st.integers(0, 30),
        offset=st.integers(-11, 11),
        bounds=st.sampled_from(["none", "one", "each"]),
        portion=st.sampled_from([40, 10**6]),
        seed=st.integers(0, 2**30),
    )
    def each(
        step: int, slide: int, more_range: int, offset: int, bounds: str, portion: int, seed: int
    ) -> None:
        random = Random(seed)
        window = Window(slide + more_range, slide, offset % slide)
        pieces = pieces_of(random, step)
        limits: Bounds | None = None
        if bounds == "one":
            limits = random.randrange(-100, 50), random.randrange(-20, 150)
        elif bounds == "each":
            low = np.array([random.randrange(-100, 50) for _ in range(6)])
            limits = low, low + np.array([random.randrange(-10, 120) for _ in range(6)])
        sides = []
        for sparse in (0, 10**9):
            monkeypatch.setattr(grid, "SPARSE", sparse)
            monkeypatch.setattr(grid, "PORTION", portion)
            sides.append(evaluated(pieces, window, limits))
        assert sides[0] == sides[1]
        reached[bounds] += len(sides[0]) > 20
        reached["reduced first"] += slide % step == 0 and more_range % slide == 0 and slide > step
        reached["not a multiple"] += more_range % slide != 0
        reached["in portions"] += portion == 40 and len(sides[0]) > 50

    each()
    reached.at_least(5, "none", "one", "each", "not a multiple", "in portions", "reduced first")

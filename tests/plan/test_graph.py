"""The coverage graph against the relation on every pair."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.model.windows import Window
from muntin.plan.coverage import (
    SOURCE,
    Pieces,
    Source,
    covered_by,
    covering_pieces,
    every,
    fewest_pieces,
)
from muntin.plan.graph import CoverageGraph
from muntin_testing.reached import Reached
from muntin_testing.windows import random_window, window_sets


def test_edges_are_the_relation_and_their_pieces() -> None:
    reached = Reached()

    @given(window_sets(most=8), st.booleans(), st.booleans())
    def each(windows: list[Window], idempotent: bool, fewest: bool) -> None:
        graph = CoverageGraph(windows, idempotent, fewest)
        pieces_of = fewest_pieces if fewest else covering_pieces
        for child in windows:
            found = {edge.parent: edge.pieces for edge in graph.parents(child)}
            expected: dict[Window | Source, Pieces] = {SOURCE: every(child.range)}
            for parent in windows:
                pieces = pieces_of(child, parent, disjoint=not idempotent)
                if parent != child and pieces is not None:
                    expected[parent] = pieces
                    reached["disjoint" if not idempotent else "overlapping"] += 1
            assert found == expected
            assert all(edge.child == child for edge in graph.parents(child))

    each()
    reached.at_least(20, "disjoint", "overlapping")


@given(window_sets(most=8), st.booleans())
def test_children_are_the_other_side_of_parents(windows: list[Window], idempotent: bool) -> None:
    graph = CoverageGraph(windows, idempotent)
    assert graph.children(SOURCE) == windows
    for parent in windows:
        expected = [w for w in windows if any(e.parent == parent for e in graph.parents(w))]
        assert graph.children(parent) == expected


@given(window_sets(most=8))
def test_the_source_comes_first_and_windows_in_the_order_given(windows: list[Window]) -> None:
    graph = CoverageGraph(windows, idempotent=True)
    for child in windows:
        parents = [edge.parent for edge in graph.parents(child)]
        assert parents == [SOURCE, *(w for w in windows if w in parents)]


def test_the_graph_of_example_6() -> None:
    ten, twenty, thirty, forty = windows = [Window(n, n) for n in (10, 20, 30, 40)]
    graph = CoverageGraph(windows, idempotent=True, fewest=False)
    edges = {(e.parent, e.child): e.pieces.count for w in windows for e in graph.parents(w)}
    inner = {pair: count for pair, count in edges.items() if pair[0] is not SOURCE}
    assert inner == {
        (ten, twenty): 2,
        (ten, thirty): 3,
        (ten, forty): 4,
        (twenty, forty): 2,
    }


def test_an_equal_range_gives_one_edge_downwards_only() -> None:
    fine, coarse = Window(12, 2), Window(12, 6)
    graph = CoverageGraph([coarse, fine], idempotent=False)
    assert graph.children(fine) == [coarse]
    assert graph.children(coarse) == []


@pytest.mark.parametrize("unit", [1, 60_000_000])
def test_a_thousand_windows_take_little_time(unit: int) -> None:
    random = Random(5)
    known: dict[Window, None] = {}
    while len(known) < 1_000:
        known[random_window(random, unit * random.choice([1, 2, 5]))] = None
    windows = list(known)
    graph = CoverageGraph(windows, idempotent=True)
    sample = random.sample(windows, 30)
    for child in sample:
        parents = {e.parent for e in graph.parents(child)} - {SOURCE}
        assert parents == {p for p in windows if p != child and covered_by(child, p)}

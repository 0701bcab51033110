"""Grouping a pool: Algorithm 1 as written, the fewest groups, and the matching behind them."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from muntin.model.windows import Window
from muntin.nesting import Group, Level, subsumable
from muntin.nesting.chains import fewest, hosts, maximum_matching
from muntin.nesting.greedy import greedy
from muntin_testing.groups import is_sequence
from muntin_testing.windows import window_sets

pools = window_sets(least=1, most=12, longest=12)


def as_written(windows: list[Window]) -> list[Group]:
    """Algorithm 1, lines 1 to 29, group by group."""
    groups: list[Group] = []
    for window in sorted(windows, key=lambda w: (w.range, w.slide, w.offset)):
        candidates = [g for g in groups if window.slide % g.seed.slide == 0]
        for group in sorted(candidates, key=lambda g: (-g.seed.slide, g.number)):
            if not subsumable(group.widest, window):
                continue
            if group.widest.range == window.range:
                group.levels[-1].piggybacked[window.id] = window
            else:
                group.levels.append(Level(window))
            break
        else:
            groups.append(Group([Level(window)], number=len(groups)))
    return groups


def all_in(groups: list[Group], windows: list[Window]) -> bool:
    assert all(map(is_sequence, groups))
    return sorted(w.id for g in groups for w in g.windows()) == sorted(w.id for w in windows)


@given(pools)
def test_the_index_changes_nothing(pool: list[Window]) -> None:
    groups = greedy(pool)
    assert list(map(repr, groups)) == list(map(repr, as_written(pool)))
    assert all_in(groups, pool)


def share_a_group(one: Window, other: Window) -> bool:
    return one.range != other.range and (subsumable(one, other) or subsumable(other, one))


@given(pools)
def test_no_grouping_has_fewer_groups(pool: list[Window]) -> None:
    groups = fewest(pool)
    assert all_in(groups, pool)
    assert len(groups) <= len(greedy(pool))
    levels = [level.window for level in hosts(pool)]
    apart = max(
        n
        for n in range(1, len(levels) + 1)
        for some in combinations(levels, n)
        if not any(share_a_group(a, b) for a, b in combinations(some, 2))
    )
    assert len(groups) == apart  # windows of which no two share a group need a group each


graphs = st.integers(1, 7).flatmap(
    lambda right: st.lists(
        st.lists(st.integers(0, right - 1), unique=True), min_size=1, max_size=7
    ).map(lambda edges: (edges, right))
)


@given(graphs)
def test_the_matching_is_as_large_as_any(graph: tuple[list[list[int]], int]) -> None:
    edges, right = graph
    found = maximum_matching(edges, right)
    assert all(target in edges[node] for node, target in found.items())
    assert len(set(found.values())) == len(found)
    assert len(found) == largest(edges, frozenset())


def largest(edges: list[list[int]], taken: frozenset[int]) -> int:
    if not edges:
        return 0
    first, rest = edges[0], edges[1:]
    without = largest(rest, taken)
    return max([without, *(1 + largest(rest, taken | {t}) for t in first if t not in taken)])


def test_ten_thousand_windows() -> None:
    pool = [Window(60 * k, 60, id=f"{k}") for k in range(1, 5_001)]
    pool += [Window(60 * k, 120, id=f"{k} twice") for k in range(2, 5_002)]
    assert len(greedy(pool)) == 1
    assert len(fewest(pool)) == 1

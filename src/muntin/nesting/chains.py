"""The fewest groups: a minimum chain cover, by matching.

needs  every pair of windows judged      time  O(√n·e) for e subsumable pairs      space  O(e)

The subsumption paper leaves open how to find a minimal number of groups. A window can be
piggybacked if another one has its range, a slide that divides its own, and ends where it ends. All
others must be levels, in any grouping; and the levels of a group are a chain of the relation
"subsumable, and narrower", which is a partial order. So the fewest groups are the fewest chains
that cover these windows. In a partial order that number is n less the size of a maximum matching of
windows with windows they can be nested in (Fulkerson 1956), which by Dilworth's theorem is also
the largest number of windows of which no two can share a group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from muntin.model.windows import Window
from muntin.nesting.groups import Group, Level, subsumable
from muntin.plan.slicing.cuts import ends


def fewest(windows: Iterable[Window]) -> list[Group]:
    """As few groups as there can be.

    Narrow windows first, W(6, 6) would go on the larger seed, W(4, 2), and W(8, 2) be left alone:

    >>> fewest([Window(2, 1), Window(3, 3), Window(4, 2), Window(6, 6), Window(8, 2)])
    [<group W(2, 1) ⊂ W(3, 3) ⊂ W(6, 6)>, <group W(4, 2) ⊂ W(8, 2)>]
    """
    levels = hosts(windows)
    following = maximum_matching(above([level.window for level in levels]), len(levels))
    first = sorted(set(range(len(levels))) - set(following.values()))
    groups: list[Group] = []
    for at in first:
        chain = [levels[at]]
        while at in following:
            at = following[at]
            chain.append(levels[at])
        groups.append(Group(chain, number=len(groups)))
    return groups


def hosts(windows: Iterable[Window]) -> list[Level]:
    """A level for each window that cannot be piggybacked, the others on these, by range."""
    pool = sorted(windows, key=lambda w: (w.range, w.slide, w.offset))
    levels: list[Level] = []
    first = 0
    for window in pool:
        if levels and levels[-1].window.range < window.range:
            first = len(levels)
        host = next((h for h in levels[first:] if subsumable(h.window, window)), None)
        if host is None:
            levels.append(Level(window))
        else:
            host.piggybacked[window.id] = window
    return levels


def above(windows: Sequence[Window]) -> list[list[int]]:
    """For each window, those by number in which it can be nested; nearest range first.

    Windows come by range; equal ranges are never comparable here, or one would be piggybacked.
    """
    slide = np.array([w.slide for w in windows], dtype=np.int64)
    phase = np.array([ends(w).phase for w in windows], dtype=np.int64)
    found: list[list[int]] = []
    for i in range(len(windows)):
        later = slice(i + 1, None)
        fits = slide[later] % slide[i] == 0
        fits &= (phase[later] - phase[i]) % slide[i] == 0
        found.append((np.nonzero(fits)[0] + i + 1).tolist())
    return found


def maximum_matching(edges: Sequence[Sequence[int]], right: int) -> dict[int, int]:
    """As many pairs (left, right) of a bipartite graph as possible, each node in at most one.

    Hopcroft and Karp, SIAM J. Comput. 1973. A phase measures by breadth how far each free left node
    is from a free right one, then by depth augments along disjoint shortest paths. The search by
    depth keeps its own stack: paths may be longer than Python's.

    >>> maximum_matching([[0, 1], [0]], right=2)
    {0: 1, 1: 0}
    """
    partner = [-1] * len(edges)
    taken = [-1] * right
    for node, targets in enumerate(edges):
        free = next((t for t in targets if taken[t] < 0), None)
        if free is not None:
            partner[node], taken[free] = free, node
    while (depth := _depths(edges, partner, taken)) is not None:
        rest = [iter(targets) for targets in edges]
        for node in range(len(edges)):
            if partner[node] < 0:
                _augment(node, rest, depth, partner, taken)
    return {node: target for node, target in enumerate(partner) if target >= 0}


def _depths(
    edges: Sequence[Sequence[int]], partner: list[int], taken: list[int]
) -> list[int] | None:
    """The distance of every left node from the free ones; None where no path augments."""
    depth = [0 if p < 0 else -1 for p in partner]
    front = [node for node, p in enumerate(partner) if p < 0]
    seen = [False] * len(taken)
    reached = False
    while front and not reached:
        after: list[int] = []
        for node in front:
            for target in edges[node]:
                if seen[target]:
                    continue
                seen[target] = True
                owner = taken[target]
                if owner < 0:
                    reached = True
                elif depth[owner] < 0:
                    depth[owner] = depth[node] + 1
                    after.append(owner)
        front = after
    return depth if reached else None


def _augment(
    root: int,
    rest: list[Iterator[int]],
    depth: list[int],
    partner: list[int],
    taken: list[int],
) -> None:
    """Walk down the layers from a free node; if a free target is found, swap the whole path."""
    path: list[tuple[int, int]] = []
    node = root
    while True:
        target = next(
            (t for t in rest[node] if taken[t] < 0 or depth[taken[t]] == depth[node] + 1), None
        )
        if target is None:
            depth[node] = -2
            if not path:
                return
            node, _ = path.pop()
            continue
        path.append((node, target))
        if taken[target] < 0:
            for left, right in path:
                partner[left], taken[right] = right, left
            return
        node = taken[target]

"""A maximum matching in a bipartite graph, by shortest augmenting paths.

time  O(√n·e)      space  O(n + e)

Hopcroft and Karp, SIAM J. Comput. 1973. A phase measures by breadth how far each free left node is
from a free right one, then by depth augments along disjoint shortest paths. The search by depth
keeps its own stack: paths may be longer than Python's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def maximum_matching(edges: Sequence[Sequence[int]], right: int) -> dict[int, int]:
    """As many pairs (left, right) as possible, each node in at most one.

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

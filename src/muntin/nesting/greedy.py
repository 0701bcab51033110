"""SubsumeWindows: narrow windows first, each into the group with the largest seed slide.

time  O(n log n + n·d) for d different slides that divide a window's      space  O(n)

Windows are taken by growing range, then slide. Because all levels so far are at most as wide, only
the last level of a group matters: a window fits exactly if that level is subsumable under it, which
is a question of its slide and of where it fires, not of its range. Groups are therefore kept by
(slide, phase of the ends) of their last level, and a window looks at one entry for each slide that
divides its own. Algorithm 1, lines 1 to 29, of the subsumption paper; among groups with equal seed
slides, where the paper does not choose, the oldest is taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

import numpy as np

from muntin.model.windows import Window
from muntin.nesting.groups import Group, Level
from muntin.plan.slicing.cuts import ends

_ROWS = 256
"""Slides that are divided by all others at once: bounds the size of the matrix."""


def greedy(windows: Iterable[Window]) -> list[Group]:
    """The groups of Algorithm 1.

    >>> greedy([Window(4, 2), Window(24, 8), Window(32, 4), Window(24, 16)])
    [<group W(4, 2) ⊂ W(24, 8) [W(24, 16) ×2]>, <group W(32, 4)>]
    """
    pool = sorted(windows, key=lambda w: (w.range, w.slide, w.offset))
    divisors = dividing_slides({w.slide for w in pool})
    groups: list[Group] = []
    last: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for window in pool:
        phase = ends(window).phase
        fitting = [last.get((d, phase % d)) for d in divisors[window.slide]]
        best = min((heap for heap in fitting if heap), key=lambda heap: heap[0], default=None)
        if best is None:
            group = Group([Level(window)], number=len(groups))
            groups.append(group)
        else:
            group = groups[best[0][1]]
            if group.widest.range == window.range:
                group.levels[-1].piggybacked[window.id] = window
                continue
            heappop(best)
            group.levels.append(Level(window))
        entry = (-group.seed.slide, group.number)
        heappush(last.setdefault((window.slide, phase), []), entry)
    return groups


def dividing_slides(slides: Iterable[int]) -> dict[int, list[int]]:
    """For each slide all those that divide it, itself among them.

    >>> dividing_slides([2, 3, 6])
    {2: [2], 3: [3], 6: [2, 3, 6]}
    """
    table = np.array(sorted(slides), dtype=np.int64)
    found: dict[int, list[int]] = {}
    for begin in range(0, len(table), _ROWS):
        rows = table[begin : begin + _ROWS]
        divides = rows[:, None] % table[None, :] == 0
        for slide, row in zip(rows.tolist(), divides, strict=True):
            found[slide] = table[row].tolist()
    return found

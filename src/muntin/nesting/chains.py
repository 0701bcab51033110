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

from collections.abc import Iterable, Sequence

import numpy as np

from muntin.model.windows import Window
from muntin.nesting.groups import Group, Level, subsumable
from muntin.nesting.matching import maximum_matching
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

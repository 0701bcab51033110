"""How many results are equal to their neighbours, and whether they are sent as one.

Where rows of a key are far apart, the same few slices make many instances in a row: a single row is
all that ten instances of 10 minutes/1 minute hold. Such a run begins where a slice enters or one
leaves. With E slides in which one does, and a share P of all instances that are not empty,

    runs = E · (1 + P)

since what begins when a slice leaves is a run only if another one is still there.
"""

from __future__ import annotations

from functools import lru_cache

from muntin.cost.statistics import SECOND, Statistics
from muntin.model.windows import Window

PAYS = 1.5
"""From so many results a run on, runs are cheaper than lists of results."""
REPEATED = 0.4
"""What a result costs that is another one repeated by the engine, as a part of one that is sent."""


def expected_runs(known: Statistics, window: Window) -> float:
    """How many runs of equal neighbours the results of a window are expected to be.

    >>> seldom = Statistics(rows=1000, keys=1000, rate=0.01)
    >>> minute = 60 * SECOND
    >>> [round(expected_runs(seldom, Window(n * minute, minute))) for n in (1, 10, 100)]
    [1000, 1006, 1058]
    """
    results = known.held(window)
    slides = known.span * SECOND / window.slide
    entered = known.held(Window(window.slide, window.slide))
    return min(results, entered * (1 + results / max(known.keys * slides, results)))


@lru_cache(maxsize=1024)
def windows_in_runs(known: Statistics, windows: tuple[Window, ...]) -> frozenset[Window]:
    """The windows whose results are sent as runs: none, if that does not pay for all together.

    >>> minute = Window(60 * SECOND, 60 * SECOND)
    >>> day = Window(86_400 * SECOND, 60 * SECOND)
    >>> for keys in (10, 1_000_000):
    ...     known = Statistics(rows=1e8, keys=keys, rate=100)
    ...     print([w.id for w in windows_in_runs(known, (minute, day))])
    []
    ['1 day/1 minute']
    """
    if known.unknown:
        return frozenset()
    results = {window: known.held(window) for window in windows}
    runs = {window: expected_runs(known, window) for window in windows}
    if sum(results.values()) < PAYS * sum(runs.values()):
        return frozenset()
    return frozenset(window for window in windows if results[window] >= PAYS * runs[window])


def results_sent(known: Statistics, window: Window, in_runs: bool) -> float:
    """How many results come back, a repeated one counted by what it costs."""
    results = known.held(window)
    runs = expected_runs(known, window) if in_runs else results
    return runs + REPEATED * (results - runs)

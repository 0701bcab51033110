"""Windows that are hard to plan: what people never write, and what a program may.

Each kind makes one thing grow that a planner might enumerate: common periods (primes, offsets of
microseconds), divisors (numbers of small primes), pieces (weeks by the microsecond), different cuts
(uneven ranges), or simply windows.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from muntin.model.durations import LONGEST
from muntin.model.windows import MOST_OVERLAP, Window

SECOND = 1_000_000
MINUTE, WEEK = 60 * SECOND, 604_800 * SECOND


def microsecond_offsets(random: Random) -> Window:
    """Slides of seconds, offsets of microseconds."""
    slide = random.randrange(1, 120) * SECOND
    return Window(slide * random.randrange(1, 50), slide, random.randrange(slide))


def odd_ranges(random: Random) -> Window:
    """Unrelated slides, ranges that end anywhere, offsets of microseconds."""
    slide = random.randrange(2, 20_000) * SECOND + random.choice((0, 1, 7))
    length = slide * random.randrange(1, 50) + random.randrange(SECOND)
    return Window(length, slide, random.randrange(slide))


def long_overlaps(random: Random) -> Window:
    """Ranges up to weeks, slides from one microsecond on: as many pieces as a window may have."""
    slide = 1 if random.random() < 0.3 else random.randrange(1, SECOND)
    longest = min(4 * WEEK, (MOST_OVERLAP - 1) * slide)
    return Window(slide + random.randrange(longest), slide, random.randrange(slide))


def many_divisors(random: Random) -> Window:
    """Slides of small primes, with thousands of divisors each."""
    slide = 2 ** random.randrange(15) * 3 ** random.randrange(9) * 5 ** random.randrange(6)
    slide *= 7 ** random.randrange(4)
    most = min(LONGEST // slide, 999)
    return Window(slide * random.randint(1, most), slide, random.randrange(slide))


def one_slide(random: Random) -> Window:
    """One slide, and as many different ends as windows."""
    length = random.randrange(1, 10_000) * MINUTE + random.randrange(MINUTE)
    return Window(length, MINUTE, random.randrange(MINUTE))


def giants(random: Random) -> Window:
    """Lengths of years that have nothing in common."""
    slide = random.randrange(10**12, 10**15)
    return Window(slide + random.randrange(10**15), slide, random.randrange(slide))


def whole_minutes(random: Random) -> Window:
    """Tumbling windows of whole minutes, up to two weeks."""
    length = random.randrange(1, 20_160) * MINUTE
    return Window(length, length)


HOSTILE: dict[str, Callable[[Random], Window]] = {
    "microsecond offsets": microsecond_offsets,
    "odd ranges": odd_ranges,
    "long overlaps": long_overlaps,
    "many divisors": many_divisors,
    "one slide": one_slide,
    "giants": giants,
    "whole minutes": whole_minutes,
}


def hostile_windows(kind: str, count: int, seed: int = 1) -> tuple[Window, ...]:
    """So many different windows of a kind.

    >>> len(hostile_windows("giants", 20))
    20
    """
    random, found = Random(f"{kind} {seed}"), dict[Window, None]()
    while len(found) < count:
        found[HOSTILE[kind](random)] = None
    return tuple(found)

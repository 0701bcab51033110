"""Random windows, and windows written out as explicit intervals, for brute force.

The numbers are small on purpose: short periods make relations between windows frequent and let
brute force look at every instance.
"""

from collections.abc import Iterator
from math import lcm
from random import Random

from hypothesis import strategies as st

from muntin.windows import Window

Interval = tuple[int, int]


def all_windows(longest: int) -> list[Window]:
    """Every window whose range is at most `longest`."""
    return [
        Window(length, slide, offset)
        for length in range(1, longest + 1)
        for slide in range(1, length + 1)
        for offset in range(slide)
    ]


def random_window(random: Random, unit: int = 1) -> Window:
    """Any window, of numbers that share many divisors; every third is tumbling."""
    slide = random.choice([1, 2, 3, 4, 6, 8, 12]) * unit
    length = slide if random.random() < 0.33 else slide + random.randrange(0, 25) * unit
    shift = random.randrange(slide // unit) * unit if random.random() < 0.5 else 0
    return Window(length, slide, shift)


def related_pair(random: Random) -> tuple[Window, Window]:
    """A child and a parent; more often than not, the parent covers the child."""
    parent = random_window(random)
    if random.random() < 0.3:
        return random_window(random), parent
    slide = parent.slide * random.randrange(1, 4)
    length = parent.range + parent.slide * random.randrange(0, 8)
    length += random.choice([0, 0, 0, 0, 1])
    offset = (parent.offset + parent.slide * random.randrange(0, 3)) % slide
    return Window(max(length, slide), slide, offset), parent


@st.composite
def windows(draw: st.DrawFn, longest: int = 24, offsets: bool = True) -> Window:
    """Any window: tumbling and hopping, with and without offset, uneven ranges too."""
    slide = draw(st.sampled_from([n for n in (1, 2, 3, 4, 5, 6, 8, 9, 12) if n <= longest]))
    length = draw(st.integers(slide, longest))
    shift = draw(st.integers(0, slide - 1)) if offsets else 0
    return Window(length, slide, shift)


def window_sets(
    least: int = 1, most: int = 5, longest: int = 24
) -> st.SearchStrategy[list[Window]]:
    """Several different windows."""
    return st.lists(windows(longest), min_size=least, max_size=most, unique=True)


def starts(window: Window, first: int, last: int) -> Iterator[int]:
    """Every begin of an instance in [first, last), counted out from the definition."""
    for m in range((first - window.offset) // window.slide - 1, last // window.slide + 2):
        start = m * window.slide + window.offset
        if first <= start < last:
            yield start


def intervals(window: Window, first: int, last: int) -> list[Interval]:
    """Every instance that begins in [first, last), as explicit intervals."""
    return [(start, start + window.range) for start in starts(window, first, last)]


def one_period(child: Window, parent: Window) -> tuple[list[Interval], set[Interval]]:
    """The child's instances of one common period, and all of the parent's that could matter."""
    period = lcm(child.slide, parent.slide)
    around = period + child.range + parent.range
    return intervals(child, 0, period), set(intervals(parent, -around, 2 * around))

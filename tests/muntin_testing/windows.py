"""Random windows, and windows written out as explicit intervals, for brute force.

The numbers are small on purpose: short periods make relations between windows frequent and let
brute force look at every instance.
"""

from collections.abc import Iterator
from math import lcm
from random import Random

from hypothesis import strategies as st

from muntin.model.windows import Window

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
    """Any window: tumbling, hopping by a divisor of its range, uneven; with and without offset."""
    slide = draw(st.sampled_from([n for n in (1, 2, 3, 4, 5, 6, 8, 9, 12) if n <= longest]))
    uneven = st.integers(slide, longest)
    even = st.integers(1, longest // slide).map(lambda turns: turns * slide)
    length = draw(st.one_of(st.just(slide), even, uneven, uneven))
    shift = draw(st.integers(0, slide - 1)) if offsets else 0
    return Window(length, slide, shift)


@st.composite
def window_sets(draw: st.DrawFn, least: int = 1, most: int = 5, longest: int = 24) -> list[Window]:
    """Several different windows, of which two of three are covered by one before them."""
    found: dict[Window, None] = {}
    many = range((least + most) // 2, most + 1)
    for _ in range(draw(st.sampled_from([*range(least, most + 1), *many]))):
        related = bool(found) and draw(st.sampled_from([False, True, True]))
        window = draw(covered_windows(list(found), longest) if related else windows(longest))
        found[window] = None
    while len(found) < least:
        found[draw(windows(longest).filter(lambda window: window not in found))] = None
    return list(found)


@st.composite
def covered_windows(draw: st.DrawFn, parents: list[Window], longest: int) -> Window:
    """A window that is made of one of the parents', as far as there is room for it.

    Such as a day of its hours, or the last hour of ten minutes each; for sums or for maxima only.
    """
    parent = draw(st.sampled_from(parents))
    slide = parent.slide * draw(st.integers(1, max(min(longest // parent.slide, 4), 1)))
    tiled = {n * parent.range for n in range(1, longest)}
    overlapped = {parent.range + n * parent.slide for n in range(longest)}
    lengths = [sorted(n for n in some if slide <= n <= longest) for some in (tiled, overlapped)]
    shape = st.sampled_from([[slide], *(some for some in lengths if some)])
    return Window(draw(shape.flatmap(st.sampled_from)), slide, parent.offset)


@st.composite
def nested_sets(draw: st.DrawFn, most: int = 4, longest: int = 18) -> list[Window]:
    """Windows that end together, slides dividing as ranges grow: what stairs are made of."""
    slide, shift = draw(st.sampled_from([1, 1, 2, 3])), draw(st.integers(0, 5))
    length = slide + draw(st.integers(0, 3))
    found: dict[Window, None] = {}
    for _ in range(draw(st.integers(2, most))):
        found[Window(length, slide, (shift - length) % slide)] = None
        slide *= draw(st.sampled_from([1, 1, 2, 3]))
        length = max(length + draw(st.integers(1, 6)), slide)
        if length > longest:
            break
    return list(found)


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

"""Random window sets with different degrees of correlation (section 5.2, Algorithms 5 and 6).

    RandomGen        windows of Algorithm 5, independent of each other
    ChainGen         each window is covered by the one before it
    StarGen          each window is covered by the first
    RandomGraphGen   levels of windows, each covered by a random part of the level below

The paper publishes neither s_max nor k_max. We take s_max = 100 and k_max = 10 (`Sizes`), slides
from 2 up, for all figures. A chain of n tumbling windows needs 2ⁿ ≤ s_max.

Where the text is silent or wrong:

* Algorithm 6 counts B down to zero and then uses it: the number of windows of level l is meant to
  be B + Δ·l with the B that was given.
* It draws a slide between lcm(slides of the subset) and s_max, which covers nothing unless that
  slide is a multiple of the lcm: we draw among the multiples, and a range that the subset covers.
* Drawing again until a constraint holds may never end: we draw among what satisfies the
  constraint, and begin the whole set anew where nothing does. In a chain of tumbling windows each
  slide leaves room for the rest, which at least double it.
* The tumbling variants draw with k_max = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lcm
from random import Random

from muntin.errors import StrategyError
from muntin.model.windows import Window
from muntin.plan.coverage import covered_by

ATTEMPTS = 20_000
"""How often a set is begun anew before its constraints count as impossible."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """s_max, the longest slide, and k_max, the largest ratio of range to slide."""

    s_max: int = 100
    k_max: int = 10

    @property
    def tumbling(self) -> Sizes:
        """The same slides, tumbling windows only."""
        return Sizes(self.s_max, 1)


Generator = Callable[[Random, int, Sizes], tuple[Window, ...]]


def random_window(
    random: Random, s_min: int, sizes: Sizes, parents: Sequence[Window] = ()
) -> Window | None:
    """Algorithm 5; with parents, among multiples of s_min and covered by all of them, or None.

    >>> print(random_window(Random(1), 6, Sizes(20, 3)))
    W(24, 8)
    """
    slides = range(s_min, sizes.s_max + 1, s_min if parents else 1)
    if not slides:
        return None
    slide = random.choice(slides)
    options = [Window(k * slide, slide) for k in range(1, sizes.k_max + 1)]
    covered = [w for w in options if all(covered_by(w, parent) for parent in parents)]
    return random.choice(covered) if covered else None


def random_gen(random: Random, count: int, sizes: Sizes) -> tuple[Window, ...]:
    """Independent windows."""
    return _until(random, count, sizes, lambda chosen: ())


def chain_gen(random: Random, count: int, sizes: Sizes) -> tuple[Window, ...]:
    """Each window is covered by the one before it."""
    limits = [Sizes(sizes.s_max >> (count - 1 - i), 1) for i in range(count)]
    room = limits if sizes.k_max == 1 else None
    return _until(random, count, sizes, lambda chosen: chosen[-1:], room)


def star_gen(random: Random, count: int, sizes: Sizes) -> tuple[Window, ...]:
    """Each window is covered by the first."""
    return _until(random, count, sizes, lambda chosen: chosen[:1])


def random_graph_gen(
    random: Random, count: int, sizes: Sizes, base: int = 2, delta: int = 2, edge: float = 0.5
) -> tuple[Window, ...]:
    """Algorithm 6: levels of base, base + delta, … windows, until there are `count`."""
    for _ in range(ATTEMPTS):
        windows: list[Window] = []
        below: list[Window] = []
        size = base
        while len(windows) < count:
            below = _level(random, min(size, count - len(windows)), sizes, below, edge, windows)
            if not below:
                break
            windows += below
            size += delta
        else:
            return tuple(windows)
    raise _impossible("RandomGraphGen", count, sizes)


def _level(
    random: Random, size: int, sizes: Sizes, below: list[Window], edge: float, used: list[Window]
) -> list[Window]:
    """One level: no window of it covered by an earlier one; empty if none could be drawn."""
    level: list[Window] = []
    for _ in range(100 * size):
        subset = [w for w in below if random.random() < edge]
        s_min = lcm(*(w.slide for w in subset)) if subset else 2
        window = random_window(random, s_min, sizes, subset)
        if window and window not in used and not any(covered_by(window, w) for w in level):
            level.append(window)
            if len(level) == size:
                return level
    return []


def _until(
    random: Random,
    count: int,
    sizes: Sizes,
    parents: Callable[[list[Window]], Sequence[Window]],
    limits: Sequence[Sizes] | None = None,
) -> tuple[Window, ...]:
    """Windows one after another, each different and covered by its parents."""
    for _ in range(ATTEMPTS):
        chosen: list[Window] = []
        for _ in range(20 * count):
            above = parents(chosen)
            limit = limits[len(chosen)] if limits else sizes
            window = random_window(random, above[0].slide if above else 2, limit, above)
            if window and window not in chosen:
                chosen.append(window)
            if len(chosen) == count:
                return tuple(chosen)
    raise _impossible("the generator", count, sizes)


def _impossible(name: str, count: int, sizes: Sizes) -> StrategyError:
    return StrategyError(
        f"{name} found no {count} windows with slides up to {sizes.s_max} and ranges up to "
        f"{sizes.k_max} slides: ask for fewer windows or raise s_max"
    )


GENERATORS: dict[str, Generator] = {
    "RandomGen": random_gen,
    "ChainGen": chain_gen,
    "StarGen": star_gen,
    "RandomGraphGen": random_graph_gen,
}


def window_set(generator: str, shape: str, index: int, seed: int) -> tuple[Window, ...]:
    """The set with this number; figures that differ in η only see the same sets.

    >>> [str(w) for w in window_set("StarGen", "tumbling", 0, seed=1)]
    ['W(12, 12)', 'W(24, 24)', 'W(48, 48)', 'W(72, 72)', 'W(60, 60)']
    """
    sizes = Sizes() if shape == "general" else Sizes().tumbling
    random = Random(f"{generator} {shape} {index} {seed}")
    return GENERATORS[generator](random, 12 if generator == "RandomGraphGen" else 5, sizes)

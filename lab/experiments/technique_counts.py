"""Count the operations and the space of every technique as its window slides (for Table 2).

A slide is an insert into a full window of n values, which evicts the oldest, and the answer to the
query: one of range n (single), or n of all ranges 1 … n (max-multi). Operations are combines and
inverts; for SlickDeque (Non-Inv) also the comparisons of positions by which a traversal finds the
answers, since it combines nothing there. Space counts partials, positions and pointers held.
Only SlickDeque (Non-Inv) depends on the values: it is run on random ones and on its worst case,
falling values with a peak after every n of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from random import Random

from muntin.aggregates import Aggregate, max, sum
from muntin.incremental import TECHNIQUES, Counting, Technique, space

SLIDES = 6
"""A run is so many times n slides long, and a little."""

BUDGET = 300_000
"""Operations after which a run may end early: with all ranges, Panes does n²/2 in one slide."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A technique with an aggregate and an input: one row of the table."""

    title: str
    technique: type[Technique]
    aggregate: Aggregate
    values: Callable[[int], Iterator[int]]


@dataclass(frozen=True, slots=True)
class Counts:
    """What one variant did with windows of n values; None where it cannot serve all ranges."""

    title: str
    n: int
    amortised: float
    worst: int
    multi: float | None
    space: float
    most_space: int


def random_values(n: int) -> Iterator[int]:
    """Values without order."""
    random = Random(n)
    return (random.randrange(10**9) for _ in count())


def falling_with_peaks(n: int) -> Iterator[int]:
    """n - 1 values each smaller than the last, then one that is larger than all before it."""
    return (10**9 + i if i % n == 0 else -i for i in count())


def variants() -> list[Variant]:
    """Every technique found in `muntin.incremental`, SlickDeque for each of its inputs."""
    found = []
    for name, technique in TECHNIQUES.items():
        if name == "slick-deque":
            found += [
                Variant("SlickDeque (Inv)", technique, sum("v"), random_values),
                Variant("SlickDeque (Non-Inv)", technique, max("v"), random_values),
                Variant("… on its worst input", technique, max("v"), falling_with_peaks),
            ]
        else:
            invertible = technique.refusal(max("v").function) is not None
            aggregate = sum("v") if invertible else max("v")
            found.append(Variant(technique.__name__, technique, aggregate, random_values))
    return found


def count_variant(variant: Variant, n: int) -> Counts:
    """Slide a full window of n values for several times its length."""
    counting = Counting(variant.aggregate)
    window = variant.technique(counting, ranges=[n])
    values = variant.values(n)
    for _ in range(n):
        window.slide(next(values))
    operations: list[int] = []
    held: list[int] = []
    begun = counting.operations
    while len(operations) < SLIDES * n + 20 and counting.operations - begun < BUDGET:
        before = counting.operations
        window.slide(next(values))
        window.query()
        operations.append(counting.operations - before)
        held.append(space(window))
    return Counts(
        variant.title,
        n,
        _amortised(operations),
        _largest(operations),
        _count_multi(variant, n) if variant.technique.several_ranges else None,
        _mean(held),
        _largest(held),
    )


def _amortised(operations: list[int]) -> float:
    """The mean over whole cycles, from one spike to another: a part of a cycle would mislead."""
    spikes = [i for i, number in enumerate(operations) if number >= 0.9 * _largest(operations)]
    cycles = operations[spikes[0] : spikes[-1]]
    return _mean(cycles if 2 * len(cycles) > len(operations) else operations)


def _count_multi(variant: Variant, n: int) -> float:
    """Operations of a slide that answers all ranges 1 … n, sampled over one turn of the window."""
    counting = Counting(variant.aggregate)
    window = variant.technique(counting, ranges=range(1, n + 1))
    values = variant.values(n)

    def slide_and_ask() -> int:
        before = _done(counting, window)
        window.slide(next(values))
        window.query_all()
        return _done(counting, window) - before

    for _ in range(n):
        window.slide(next(values))
    slide_and_ask()
    done = [slide_and_ask()]
    samples = sorted((1, BUDGET // (done[0] + 1), 2 * n))[1]
    # running aggregates cost the same at every slide, and are slow to move on; otherwise samples
    # are an odd number of slides apart, to meet even and odd positions of a tree equally often
    apart = 0 if variant.aggregate.function.invertible else n // samples | 1
    for _ in range(samples):
        for _ in range(apart):
            window.slide(next(values))
        slide_and_ask()  # FlatFIT's answers make shortcuts for those of the next slide
        done.append(slide_and_ask())
    return _mean(done[1:])


def _done(counting: Counting, window: Technique) -> int:
    steps: int = getattr(window, "steps", 0)
    return counting.operations + steps


def _mean(numbers: list[int]) -> float:
    total = 0
    for number in numbers:
        total += number
    return total / len(numbers)


def _largest(numbers: list[int]) -> int:
    return sorted(numbers)[-1]

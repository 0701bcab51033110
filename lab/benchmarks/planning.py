"""planning: seconds to plan 20, 100, 1,000 and 3,000 windows that are hard to plan.

People never write such windows, but programs may. Each kind makes one thing grow that a planner
might enumerate: common periods (primes, offsets of microseconds), divisors (numbers of small
primes), pieces (weeks by the microsecond), different cuts (uneven ranges), or simply windows.

All strategies are tried, as by "auto". Beside the seconds stand the steps that were counted: those
are what the planning budget limits (`strategies.budget`), and the same on every machine.
Give fewer `rows` than 3,000 to leave out sets of more windows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from statistics import median
from time import process_time

from rich.console import Console

from lab.registry import Options
from lab.report import new_table
from lab.timing import machine
from muntin import aggregates
from muntin.aggregates import Aggregate
from muntin.api.optimize import optimize
from muntin.model.durations import LONGEST
from muntin.model.query import query
from muntin.model.windows import MOST_OVERLAP, Window
from muntin.plan.slicing.edges import forget

SIZES = (20, 100, 1_000, 3_000)
AGGREGATES: tuple[Aggregate, ...] = (aggregates.max("v"), aggregates.sum("v"))
"""One whose pieces may overlap, and one whose pieces may not."""

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
    kind.__name__.replace("_", " "): kind
    for kind in (
        *(microsecond_offsets, odd_ranges, long_overlaps, many_divisors),
        *(one_slide, giants, whole_minutes),
    )
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


def run(options: Options, console: Console) -> None:
    """Plan every kind of windows, and print the seconds and the steps."""
    kinds = options.choose(HOSTILE, "set")
    console.print(machine())
    columns = ("windows|,", "<kind", "<of", "seconds|.2f", "explain|.2f", "steps", "out")
    rows = []
    for size, kind, asked in product(SIZES, kinds, AGGREGATES):
        if size <= options.rows:
            with console.status(f"{size:,} windows, {kind}, {asked.name}"):
                figures = measure(size, kind, asked, options.repeat)
            rows.append((size, kind, asked.function.name, *figures))
    table = new_table("Seconds of processor time to plan", *columns, rows=rows, group=1)
    table.caption = "out: strategies that were left out or refused"
    for column in table.columns:
        column.no_wrap = True
    console.print(table)


def measure(size: int, kind: str, aggregate: Aggregate, repeat: int) -> tuple[object, ...]:
    """Seconds to plan windows of a kind from scratch and to explain, steps, strategies left out."""
    asked = query("ts", hostile_windows(kind, size), [aggregate])
    seconds = []
    for _ in range(repeat):
        forget()
        begun = process_time()
        plan = optimize(asked)
        planned = process_time()
        plan.explain()
        seconds.append((planned - begun, process_time() - planned))
    steps = sum(a.steps for a in plan.alternatives) / 1e6
    left_out = sum(a.cost is None for a in plan.alternatives)
    return *map(median, zip(*seconds, strict=True)), f"{steps:.2f} M", left_out

"""Due techniques: what answers a stream's windows when they are due, chosen by predicted Ω.

order  any: a late row repairs what was combined      needs  a monoid, which need not commute
time   Ω, the partials read a result, amortised       space  panes nothing, the others a piece for
                                                             each key and block, or two

All three serve every aggregate that Python merges, so no flag rules one out and Ω alone decides.
With E slices in a unit of time and blocks of length L (`physical.blocks`), a step emits the k
instances of a window that have become due and reads, of each key,

    panes        (r + (k - 1)·s)·E       nothing is combined
    b-int        the slices outside of whole blocks, at most 2·(FAN_OUT - 1) rungs a level
    two-stacks   the slices outside of whole blocks, and 2

Blocks are combined beside it. A new block costs its L·E slices; then 1 + 1/FAN_OUT + … for the
rungs above it, or about 4 for two stacks: into a suffix, and into a prefix. A late row costs its
block again, then FAN_OUT for each rung above, or all that two stacks have combined from there on.
Windows of one set of slices share blocks and rungs, not stacks.

A step is taken to come every STEP of event time, as in a stream that keeps up, a late row before
one of ten steps that emit, and a key to have rows in every slice. Where steps are so long that the
due instances share no core, all techniques do the same. Slices that windows read while they are
open are in fragments, F in a unit of time, until a block after them is settled (`state.merging`):
for a step, half a block and half a slice on average, F - E more partials in a unit of that time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muntin.kernels.monoids import Array
from muntin.model.windows import Window
from muntin.physical.blocks import FAN_OUT, block_length, core_of, has_core, rung_counts
from muntin.plan.slicing import Slices, edge_rate, slices_within

TECHNIQUES = {
    "panes": "every slice of every window",
    "b-int": "a ladder of combined blocks, repaired where a late row falls",
    "two-stacks": "blocks combined up to a flip and from it on",
}
"""What each does; of those that read about the same, the first is taken."""

STEP = 10_000_000
"""Microseconds of event time from one step to the next, unless told."""
LATE = 0.1
"""Steps that emit after a late row, of all that emit, unless told."""
ALIKE = 1.1
"""Predictions within this factor are alike: panes then remember nothing, and a ladder never
combines all blocks in one step, as two stacks do when they flip."""
PHASES = 1021
"""Steps that a mean is taken over; a prime, so that they fall anywhere in blocks and rungs."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Slices that a stream keeps, and its windows on them: `alone` those that nothing else is
    made of and that are made of nothing else, and deltas of stairs, which a technique answers;
    `others` are read whole. The newest slices are kept in `fragments`, where windows end within
    them. `widest` is the longest range, where no window here is that long.
    """

    slices: Slices
    alone: tuple[Window, ...]
    others: tuple[Window, ...] = ()
    fragments: Slices | None = None
    widest: int = 1

    @property
    def windows(self) -> tuple[Window, ...]:
        return self.alone + self.others


@dataclass(frozen=True, slots=True)
class _Core:
    """A window read by blocks, means over its steps: time outside of whole blocks, how many rungs
    and stacks are read, what part of the window are blocks, and what a late row combines anew."""

    apart: int
    levels: int
    outside: float
    rungs: float
    stacks: float
    blocks: float
    late_rungs: float
    late_stacks: float


def predict_partials(
    kept: Sequence[Kept], technique: str, step: int = STEP, late: float = LATE
) -> float:
    """Ω: the partials of a key that are read for a result, where there is a step every `step`.

    >>> from muntin.plan.slicing import panes
    >>> hour = Window(3_600_000_000, 1_000_000)  # 3,600 slices
    >>> kept = [Kept(panes(hour), (hour,))]
    >>> [round(predict_partials(kept, technique, step=1_000_000)) for technique in TECHNIQUES]
    [3600, 261, 249]
    >>> [round(predict_partials(kept, technique)) for technique in TECHNIQUES]
    [361, 28, 27]
    """
    results = sum(1 / window.slide for each in kept for window in each.windows)
    return sum(_read(each, technique, step, late) for each in kept) / results


def choose_technique(kept: Sequence[Kept], step: int = STEP) -> tuple[str, dict[str, float]]:
    """The technique that reads least a result, or the first that is alike; and what each reads.

    >>> from muntin.plan.slicing import panes
    >>> few = Window(300_000_000, 60_000_000)  # 5 slices
    >>> choose_technique([Kept(panes(few), (few,))])[0]
    'panes'
    """
    found = {technique: predict_partials(kept, technique, step) for technique in TECHNIQUES}
    least = min(found.values())
    return next(name for name, read in found.items() if read <= ALIKE * least), found


def due_together(window: Window, step: int) -> int:
    """How many instances of a window are due at a step."""
    return max(step // window.slide, 1)


def _read(kept: Kept, technique: str, step: int, late: float) -> float:
    """Partials that are read in a unit of time."""
    edges, found = float(edge_rate(kept.slices)), 0.0
    widest = max((w.range for w in kept.windows), default=1)
    widest = max(widest, kept.widest)
    block = block_length(widest, edge_rate(kept.slices))
    cores = []
    for window in kept.windows:
        last = (due_together(window, step) - 1) * window.slide
        found += _fragments(kept, window, step, block) / (last + window.slide)
        core = technique != "panes" and window in kept.alone
        if core and has_core(last, window.range, block):
            cores.append(_core(window, due_together(window, step), block))
        else:
            apart = last + window.slide
            found += (slices_within(window, kept.slices) + last * edges) / apart
    return found + _read_cores(cores, technique == "b-int", block, edges, late)


def _fragments(kept: Kept, window: Window, step: int, block: int) -> float:
    """Partials that a step reads more since the newest slices of a window are in fragments."""
    if kept.fragments is None:
        return 0.0
    edges = float(edge_rate(kept.slices))
    newest = min(step + block / 2 + 0.5 / edges, window.range)
    return newest * (float(edge_rate(kept.fragments)) - edges)


def _read_cores(
    cores: Sequence[_Core], ladder: bool, block: int, edges: float, late: float
) -> float:
    """Partials that are read in a unit of time by windows with a core."""
    if not cores:
        return 0.0
    read = sum(
        (each.outside * edges + (each.rungs if ladder else each.stacks)) / each.apart
        for each in cores
    )
    hits = [(each, each.blocks / each.apart) for each in cores]  # late rows that hit a block
    repaired = max(hit for _, hit in hits) * block * edges
    if ladder:
        above = sum(1 / float(FAN_OUT**i) for i in range(max(each.levels for each in cores)))
        repaired += max(hit * each.late_rungs for each, hit in hits)
    else:
        above = 4.0 * len(cores)
        repaired += sum(hit * each.late_stacks for each, hit in hits)
    return read + edges + above / block + late * repaired


def _core(window: Window, due: int, block: int) -> _Core:
    """What a window reads, over steps at every phase."""
    apart, reach = due * window.slide, (due - 1) * window.slide
    period = block * FAN_OUT
    while period < window.range:
        period *= FAN_OUT
    first = np.array([window.offset + i * period // PHASES // apart * apart for i in range(PHASES)])
    low, flip, high = core_of(window.range, first + reach, first + window.range, block)
    outside = window.range + reach - (high - low) * block
    rungs = rung_counts(low, high)
    number, count = np.sum(rungs, axis=0), np.maximum(high - low, 1)
    split = low < flip  # else two stacks read rungs too
    stacks = np.where(split, 1 + (flip < high), number)
    before, after = flip - low, high - flip
    late_stacks = (before * (before + 1) + after * (after + 1)) / count
    blocks = (high - low) * block / window.range
    each = outside, number, stacks, blocks, _repair_rungs(rungs, count), late_stacks
    return _Core(apart, len(rungs) - 1, *(float(np.mean(array)) for array in each))


def _repair_rungs(rungs: Sequence[Array], count: Array) -> Array:
    """Pieces that are combined anew above one of `count` blocks: FAN_OUT for each level."""
    repaired, below = np.zeros(len(count)), np.zeros(len(count))
    for level, own in enumerate(rungs[:-1]):
        below = below + own * FAN_OUT**level
        repaired = repaired + FAN_OUT * (count - below) / count
    return repaired

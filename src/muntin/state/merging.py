"""Fragments merged into the slices that they make, once no window can end within one any more.

Windows that read a slice while it is open need its fragments until they have fired; from then on
every window takes the slice whole. So a state keeps fragments of what is recent, and of all before
one piece for each key and coarse slice: Cutty's half as many partials (section 5 of the paper).

    ── merged: coarse slices ──┃── fragments, cut where windows begin and end ──
                           merged_to                                  settled

`merged_to` is a cut of the coarse slices and never after `settled`: windows that end later and hold
a part of a slice before it hold all of it. It moves on when a block of runs is settled, so that a
run is written once more, and not at every step. A late piece from before it joins its coarse slice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.kernels.monoids import Array
from muntin.physical.operators.kernel import Base
from muntin.state.header import KeptBase
from muntin.state.pieces import START, longs, merge, starts


def adopt(kept: KeptBase, base: Base) -> bool:
    """Let a base merge into the coarse slices of a plan from now on; whether that is new."""
    if kept.coarse == base.coarse:
        return False
    if kept.coarse is not None and kept.merged_to is not None:
        kept.older.append((kept.merged_to, kept.coarse))
    kept.coarse, kept.merged_to = base.coarse, None
    return True


def merge_until(kept: KeptBase, settled: int) -> int | None:
    """Until where slices can be merged now, if that is further than they are.

    >>> from muntin.model.windows import Window
    >>> from muntin.plan.slicing import cutty, pairs
    >>> window = Window(14, 8)
    >>> kept = KeptBase(pairs(window), 20, [], coarse=cutty(window))
    >>> merge_until(kept, 39), merge_until(kept, 59)
    (16, 40)
    """
    if kept.coarse is None:
        return None
    until = kept.coarse.start_of(settled // kept.block * kept.block)
    return until if kept.merged_to is None or until > kept.merged_to else None


def place(kept: KeptBase, start: Array) -> Array:
    """Where pieces that begin there are kept: in their slices, or in coarse ones."""
    if kept.coarse is None or kept.merged_to is None:
        return start
    return np.where(start < kept.merged_to, starts(kept.coarse, start), start)


def merge_runs(
    kept: KeptBase,
    runs: dict[int, pa.Table],
    until: int,
    partials: Sequence[PartialColumn],
    wraps: bool,
) -> dict[int, pa.Table | None]:
    """The runs that change when slices are merged until there; None for one that is left empty."""
    assert kept.coarse is not None, "merge_until has said so"
    table = pa.concat_tables(list(runs.values())).combine_chunks()
    start = longs(table, START)
    moved = np.where(start < until, starts(kept.coarse, start), start)
    if np.array_equal(moved, start):
        return {}
    at = table.schema.get_field_index(START)
    table = merge([table.set_column(at, START, pa.array(moved))], partials, wraps)
    block = longs(table, START) // kept.block
    changed: dict[int, pa.Table | None] = dict.fromkeys(runs)
    for each in np.unique(block).tolist():
        changed[each] = table.filter(pa.array(block == each))
    return {b: new for b, new in changed.items() if new is None or not new.equals(runs.get(b))}

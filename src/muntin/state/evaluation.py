"""Results of a bucket: all instances that a step emits, over all keys at once.

In append mode these are the instances whose end the watermark has passed since the step before; in
update mode those that a new piece fell into. Both come out of the same kernels as in batch, which
look only at the pieces that such instances contain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.kernels.encoding import Encoded
from muntin.kernels.instances import instances
from muntin.kernels.monoids import Array
from muntin.kernels.pieces import Pieces, Results
from muntin.kernels.portions import whole
from muntin.kernels.tree import Branch, evaluate_tree, span_of
from muntin.model.windows import Window, first_open
from muntin.physical.operators.kernel import Base
from muntin.state.corrected import REVISION, Corrected
from muntin.state.header import KeptBase
from muntin.state.keys import Keys
from muntin.state.pieces import GROUP, START, by_group, encode_pieces, longs
from muntin.state.spec import Spec, last_due


@dataclass(frozen=True, slots=True)
class Due:
    """The instances with an end in (last, watermark], as far as they are complete."""

    kept: KeptBase
    last: int
    watermark: int

    def between(self, window: Window) -> tuple[int, int]:
        """The begins of the first and the last instance of a window that is due."""
        return opened(self.kept, window, self.last), last_due(window, self.watermark)

    def bounds(self, branch: Branch) -> tuple[int, int]:
        """The first and the last begin of all windows of a branch; none is due if they cross."""
        each = [self.between(window) for window in branch.windows.values()]
        due = [(low, high) for low, high in each if low <= high]
        if not due:
            return 0, -1
        return min(low for low, _ in due), max(high for _, high in due)


@dataclass(frozen=True, slots=True)
class Changed:
    """The open instances that some of these pieces, sorted by group and start, fall into."""

    kept: KeptBase
    last: int
    group: Array
    start: Array

    def between(self, window: Window) -> tuple[int, int]:
        """The begins of the first and the last open instance with a new piece."""
        newest = int(self.start.max(initial=-1))
        return opened(self.kept, window, self.last), last_due(window, newest + window.range)

    def wanted(self, group: Array, start: Array, window: Window) -> Array:
        """Which instances have a new piece."""
        low, high = limits = self.between(window)
        inside = (self.start >= low) & (self.start < high + window.range)
        whose, when = self.group[inside], self.start[inside]
        turns = (high - low) // window.slide + 1

        def code(group: Array, start: Array) -> Array:
            return np.asarray(group * turns + (start - low) // window.slide)

        changed = [
            code(whose[found.first], found.start)
            for found in instances(whose, when, window, between=limits)
        ]
        known = np.concatenate(changed) if changed else np.zeros(0, dtype=np.int64)
        return np.asarray((start >= low) & (start <= high) & np.isin(code(group, start), known))


Asked = Due | Changed | Corrected
"""Which instances are to be emitted."""


def opened(kept: KeptBase, window: Window, last: int) -> int:
    """The begin of the oldest instance that has not fired and is complete."""
    first, own = first_open(window, last), kept.kept(window)
    if own.since is None or first >= own.since:
        return first
    early = own.early.first_from(first)
    return own.since if early is None else early


def _complete(found: Results, base: Base, asked: Due | Changed) -> Results:
    """Without the instances of a window that joined later which nothing makes whole."""
    kept = asked.kept.kept(base.windows[found.node])
    if kept.since is None or not kept.early.begins:
        return found
    whole = (found.start >= kept.since) | kept.early.holds(found.start)
    return found if whole.all() else found.where(whole)


def results(
    spec: Spec,
    base: Base,
    tables: Sequence[pa.Table],
    keys: Keys,
    asked: Asked,
    note: Callable[[Results], None] | None = None,
) -> Iterator[pa.Table]:
    """The asked instances of a base's windows, in tables of bounded size; `note` hears of all."""
    if not tables:
        return
    table = pa.concat_tables(tables).combine_chunks()
    group, start = longs(table, GROUP).astype(np.int64), longs(table, START)
    order = by_group(group)  # runs are in the order of time, and each in that of its pieces
    if not isinstance(asked, Due):
        order = order[np.isin(group[order], asked.group)]
    columns = encode_pieces(table, spec.partials, spec.wraps)
    pieces = Pieces(
        group[order],
        start[order],
        np.arange(len(order)),
        tuple(tuple(a[order] for a in c.arrays) for c in columns),
    )
    if spec.taken is not None and isinstance(asked, Due):
        spans = [span_of(branch, asked.between) for branch in base.branches]
        spec.taken(sum(len(pieces.within(*span).start) for span in spans))
    monoids = tuple(c.monoid for c in columns)
    keep = None if isinstance(asked, Due) else asked.wanted
    for found in evaluate_tree(base.branches, pieces, monoids, asked.between, keep, spec.read):
        if not isinstance(asked, Corrected):  # of which no window is early
            found = _complete(found, base, asked)
        if len(found.start):
            if note is not None:
                note(found)
            made = _table(spec, found, columns, keys)
            yield _number(made, found, base, asked) if spec.revises else made


def _table(spec: Spec, found: Results, columns: list[Encoded], keys: Keys) -> pa.Table:
    rows = pa.array(found.group)
    named = {name: whole(keys.table, name).take(rows) for name in spec.keys}
    named["node"] = pa.array(np.full(len(found.group), found.node, dtype=np.int32))
    named[START] = pa.array(found.start)
    for partial, column, arrays in zip(spec.partials, columns, found.columns, strict=True):
        named[partial.name] = column.decode(arrays)
    return pa.table(named)


def _number(table: pa.Table, found: Results, base: Base, asked: Asked) -> pa.Table:
    """The results with their revisions: what is due comes for the first time."""
    revision = np.zeros(len(found.start), dtype=np.int32)
    if isinstance(asked, Corrected):
        revision = asked.revisions(found.group, found.start, base.windows[found.node])
    return table.append_column(REVISION, pa.array(revision, pa.int32()))

"""Another set of windows on what a bucket keeps of records: nodes come, and nodes go.

    new       begins with the next record: nothing is open, nothing is remembered
    copied    begins with all that an equal window has: open ones, and what they remember
    counted   a new count window counts from here: how many records each key had is its zero
    gone      its open windows leave, and slices of keys of which nothing is open any more

Nodes are never numbered twice, so what the others keep is theirs as before.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from muntin.data_windows.elements import NEVER
from muntin.data_windows.slices import DUE, NODE, SEEN, Kept, value_type
from muntin.data_windows.stream_state import StreamSpec
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole
from muntin.model.data_windows import CountWindow
from muntin.state.pieces import GROUP, longs


def change_windows(
    kept: Kept, spec: StreamSpec, like: pa.Table, new: Mapping[int, int | None]
) -> Kept:
    """What is kept, for the windows of the spec; of `new` ones, each with the node it copies."""
    opened = [kept.open.filter(pa.array(np.isin(longs(kept.open, NODE), list(spec.windows))))]
    for node, other in new.items():
        if other is not None:
            own = kept.open.filter(pa.array(longs(kept.open, NODE) == other))
            number = pa.array(np.full(own.num_rows, node), pa.int32())
            place = own.schema.get_field_index(NODE)
            opened.append(own.set_column(place, own.schema.field(place), number))
    open = pa.concat_tables(opened).combine_chunks()
    held = np.zeros(kept.facts.num_rows, dtype=np.bool_)
    held[longs(open, GROUP)] = True
    slices = kept.slices.filter(pa.array(held[longs(kept.slices, GROUP)])).combine_chunks()
    return Kept(slices, open, _facts(kept.facts, spec, like, new, held))


def _facts(
    facts: pa.Table,
    spec: StreamSpec,
    like: pa.Table,
    new: Mapping[int, int | None],
    held: Array,
) -> pa.Table:
    due = np.where(held, longs(facts, DUE), NEVER)
    found = {SEEN: whole(facts, SEEN), DUE: pa.array(due)}
    for node, window in spec.windows.items():
        source = new.get(node, node)
        kind = value_type(window, spec, like)
        if source is not None and f"v{source}" in facts.column_names:
            found[f"v{node}"] = whole(facts, f"v{source}")
        elif isinstance(window, CountWindow) and node in new and source is None:
            found[f"v{node}"] = whole(facts, SEEN)
        elif kind is not None:
            found[f"v{node}"] = pa.nulls(facts.num_rows, kind)
    return pa.table(found)

"""How state in Python keeps partials: a form that records are lifted to, and that merges again.

    record   what a partial's keeper takes of one row: its value, its hash
    kept     the partial of any number of records: what a slice holds, and what is merged

A partial without a keeper is kept as it is sent. Kept partials of one column merge by `encode`; the
result of a window comes back by `decode`, what is kept of a slice by `keep`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from muntin.aggregates.algebra import Keeper, Partial
from muntin.kernels.columns import encode
from muntin.kernels.custom import lift_records
from muntin.kernels.distinct_sketches import DistinctSketch
from muntin.kernels.encoding import Encoded
from muntin.kernels.quantile_sketches import QuantileSketch
from muntin.kernels.value_sets import encode_sets, lift_values


@dataclass(frozen=True, slots=True)
class Form:
    """From records to what is kept of them, and from there to what merges."""

    lift: Callable[[pa.Array], pa.Array]
    encode: Callable[[pa.Array], Encoded] | None = None


def _of_sketch(sketch: Any) -> Form:
    return Form(sketch.lift, sketch.encode)


KEEPERS: dict[str, Callable[..., Form]] = {
    "set": lambda: Form(lift_values, encode_sets),
    "distinct_sketch": lambda lg_k: _of_sketch(DistinctSketch(lg_k)),
    "quantile_sketch": lambda kind, k: _of_sketch(QuantileSketch(kind, k)),
    "custom": lambda: Form(lift_records),
}
"""What each keeper does; where it does not say how to merge, the partial's `merger` does."""


def _form_of(keeper: Keeper) -> Form:
    return KEEPERS[keeper.name](*keeper.parameters)


def lift_kept(partial: Partial, records: pa.Array) -> pa.Array:
    """What is kept of each record, given its column of a partial."""
    return records if partial.keeper is None else _form_of(partial.keeper).lift(records)


def encode_kept(partial: Partial, columns: Sequence[pa.Array], wraps: bool) -> Encoded:
    """Kept partials of a column, followed by those beside it, as arrays that merge."""
    own = None if partial.keeper is None else _form_of(partial.keeper).encode
    if own is None:
        return encode(partial.merger, list(columns), wraps, partial.code)
    [column] = columns
    return own(column)

"""Aggregates written in Python, in the kernel: records in, results out.

A column is a struct of the records of a slice and of a result that is not there yet. Partials are
any objects, each in a box so that NumPy does not look into those that are sequences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from muntin.aggregates.custom import call
from muntin.errors import AggregateError
from muntin.kernels.encoding import Encoded
from muntin.kernels.monoids import Array, Arrays, Scanned

if TYPE_CHECKING:
    from muntin.aggregates.algebra import Function


@dataclass(frozen=True, slots=True)
class Box:
    """One partial."""

    held: Any


def custom(column: pa.Array, function: Function) -> Encoded:
    """The partial of every slice, and the result of every window."""
    records, results = column.field("records"), column.field("result")
    fold = getattr(function, "fold", None)

    def folded(values: pa.Array) -> Box:
        if fold is not None and len(values):
            return Box(call(function.name, "fold", fold, values))
        lifted = map(function.lift, values.to_pylist())
        return Box(reduce(function.combine, lifted, function.identity))

    boxes = np.empty(len(column), dtype=object)
    for i, each in enumerate(records):
        boxes[i] = folded(each.values)
    merge = np.frompyfunc(lambda a, b: Box(function.combine(a.held, b.held)), 2, 1)

    def combine(older: Arrays, newer: Arrays) -> Arrays:
        return (np.asarray(merge(older[0], newer[0]), dtype=object),)

    def decode(arrays: Arrays) -> pa.Array:
        lowered = [function.lower(box.held) for box in _flat(arrays[0])]
        kinds = [column.type.field(0), column.type.field(1)]
        empty: list[list[Any]] = [[]] * len(lowered)
        parts = [pa.array(empty, records.type), _typed(function, lowered, results.type)]
        return pa.StructArray.from_arrays(parts, fields=kinds)

    return Encoded((boxes,), Scanned(combine, (Box(function.identity),)), decode)


def _typed(function: Function, lowered: list[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(lowered, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise AggregateError(
            f"custom {function.name!r}: lower gave what is not of its result type, "
            f"{kind}: {error}; give the right type as custom(..., result=...)"
        ) from error


def _flat(boxes: Array) -> list[Box]:
    return list(boxes.ravel())

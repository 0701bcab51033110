"""Aggregates written in Python, in the kernel: records in, results out.

A column is a struct of the records of a slice and of a result that is not there yet. Partials are
any objects. Where state keeps them, the struct has a third field: a partial as text, in the place
of its records (`plain_values`).
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.aggregates.custom import call
from muntin.errors import AggregateError
from muntin.kernels.boxes import box_all, boxed, unbox
from muntin.kernels.encoding import Encoded
from muntin.kernels.monoids import Arrays
from muntin.kernels.plain_values import PLAIN, dump, load

if TYPE_CHECKING:
    from muntin.aggregates.algebra import Function


KEPT = "kept"
"""The field with the partial of records that are gone."""


def lift_records(column: pa.Array) -> pa.Array:
    """Records as partials that state can keep.

    >>> lift_records(pa.array([{"records": [2], "result": None}])).to_pylist()
    [{'records': [2], 'result': None, 'kept': None}]
    """
    nothing = pa.nulls(len(column), pa.string())
    fields = [*column.type, pa.field(KEPT, pa.string())]
    return pa.StructArray.from_arrays([*column.flatten(), nothing], fields=fields)


def custom(column: pa.Array, function: Function) -> Encoded:
    """The partial of every slice, and the result of every window."""
    records, results = column.field("records"), column.field("result")
    fold = getattr(function, "fold", None)

    def folded(values: pa.Array) -> Any:
        if fold is not None and len(values):
            return call(function.name, "fold", fold, values)
        lifted = map(function.lift, values.to_pylist())
        return reduce(function.combine, lifted, function.identity)

    def decode(arrays: Arrays) -> pa.Array:
        lowered = [function.lower(each) for each in unbox(arrays[0])]
        empty: list[list[Any]] = [[]] * len(lowered)
        parts = [pa.array(empty, records.type), _typed(function, lowered, results.type)]
        return pa.StructArray.from_arrays(parts, fields=list(column.type)[:2])

    def keep(arrays: Arrays) -> pa.Array:
        texts = [_dumped(function, each) for each in unbox(arrays[0])]
        empty: list[list[Any]] = [[]] * len(texts)
        parts = [pa.array(empty, records.type), pa.nulls(len(texts), results.type)]
        parts.append(pa.array(texts, pa.string()))
        return pa.StructArray.from_arrays(parts, fields=list(column.type))

    texts = column.field(KEPT).to_pylist() if column.type.num_fields > 2 else [None] * len(column)
    partials = [
        folded(each.values) if text is None else load(text)
        for each, text in zip(records, texts, strict=True)
    ]
    return Encoded((box_all(partials),), boxed(function.combine, function.identity), decode, keep)


def _dumped(function: Function, partial: Any) -> str:
    try:
        return dump(partial)
    except (TypeError, ValueError) as error:
        raise AggregateError(
            f"custom {function.name!r}: a stream's state cannot keep its partial: {error}; let "
            f"lift and combine give {PLAIN}, or run it on batches"
        ) from error


def _typed(function: Function, lowered: list[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(lowered, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise AggregateError(
            f"custom {function.name!r}: lower gave what is not of its result type, "
            f"{kind}: {error}; give the right type as custom(..., result=...)"
        ) from error

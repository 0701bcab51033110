"""What results say of themselves, beside keys and aggregates, where a stream asks for it.

revision                     how often the window was emitted before
filled                       that the window had no rows
slice_end, missed_first, …   that these are late rows, and which instances they missed
records                      the late rows themselves, each as a text
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from muntin.state.corrected import REVISION
from muntin.state.known import FILLED
from muntin.state.missed import FIRST, LAST, RECORDS, SLICE_END, TEXTS
from muntin.state.spec import Spec


def extras(spec: Spec) -> dict[str, pa.DataType]:
    """The columns that results have besides, and their types."""
    found: dict[str, pa.DataType] = {}
    if spec.revises:
        found[REVISION] = pa.int32()
    if spec.fill_for is not None:
        found[FILLED] = pa.bool_()
    if spec.keeps_late:
        found |= dict.fromkeys((SLICE_END, FIRST, LAST), pa.int64())
    if spec.keeps_records:
        found[RECORDS] = TEXTS
    return found


def complete(tables: Iterable[pa.Table], spec: Spec) -> Iterator[pa.Table]:
    """The tables with all these columns, in one order; null where they say nothing."""
    more = extras(spec)
    if not more:
        yield from tables
        return
    for table in tables:
        for name, kind in more.items():
            if name not in table.column_names:
                table = table.append_column(name, pa.nulls(table.num_rows, kind))
        yield table.select([n for n in table.column_names if n not in more] + list(more))

"""The arrays operator: DuckDB groups and sorts the first level, NumPy evaluates the tree below it.

    DuckDB   the pieces of each root of the plan, sorted by key and start
    NumPy    every window below it (`muntin.kernels.tree`)
    DuckDB   results from merged partials, as in a SQL plan

What NumPy made is a table of the source's own connection; the text that is returned reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.dialects import Reading
from muntin.dialects.programs import Parent, select, select_group
from muntin.dialects.rendering import records_sql
from muntin.engines.duckdb.bound_query import run
from muntin.engines.duckdb.tables import Source
from muntin.kernels.columns import encode
from muntin.kernels.encoding import Encoded
from muntin.kernels.monoids import Array
from muntin.kernels.pieces import Pieces, Results
from muntin.kernels.tree import Branch, Read, evaluate_tree
from muntin.model.windows import Window
from muntin.physical import PhysicalNode, PhysicalPlan
from muntin.physical.operators.kernel import branches_below

if TYPE_CHECKING:
    import duckdb

_NUMBERS = count(1)


def evaluate_sql(physical: PhysicalPlan, read: Reading, source: Source) -> str:
    """Evaluate the plan now; the text finishes what was computed, over the same relation."""
    assert source.connection is not None, "a relation of the user's stays lazy, so it runs as SQL"
    batches = [
        batch for root in physical.roots for batch in _evaluate(root, physical, read, source)
    ]
    name = f"muntin_merged_{next(_NUMBERS)}"
    source.connection.register(name, pa.Table.from_batches(batches))
    return _finish_sql(physical, read, name)


def _evaluate(
    root: PhysicalNode, physical: PhysicalPlan, read: Reading, source: Source
) -> Iterator[pa.RecordBatch]:
    table = run(source.relation, _pieces_sql(root, read)).to_arrow_table().combine_chunks()
    tree = Tree(root.number, branches_below(physical, root), not root.hidden)
    try:
        yield from tree.evaluate(table, tuple(read.keys), read.columns.partials)
    except OverflowError as error:
        raise _out_of_range(error) from None


def _out_of_range(error: OverflowError) -> duckdb.Error:
    """What DuckDB raises where a sum does not fit, so that both are told in the same words."""
    import duckdb

    return duckdb.OutOfRangeException(str(error))


def _pieces_sql(root: PhysicalNode, read: Reading) -> str:
    """The pieces of a root, grouped from the records and sorted."""
    lifts = [(p.name, p.lift) for p in read.columns.partials]
    body = select_group(root, Parent("records", None), read.keys, lifts, read.writer)
    order = ", ".join([*read.keys, "start"])
    return f"WITH records AS (\n{records_sql(read, '  ')}\n)\n{body}\nORDER BY {order}"


@dataclass(frozen=True, slots=True)
class Tree:
    """What is made of the pieces of one root; `read` is told of every node that is."""

    root: int
    branches: tuple[Branch, ...]
    asked: bool
    read: Read | None = None

    def evaluate(
        self, table: pa.Table, keys: Sequence[str], partials: Sequence[PartialColumn]
    ) -> Iterator[pa.RecordBatch]:
        """The instances of all windows asked for, from pieces sorted by key and start."""
        columns = {name: _whole(table, name) for name in table.column_names}
        encoded = [_encode(each, columns) for each in partials]
        rows = np.arange(table.num_rows)
        start = columns["start"].to_numpy()
        arrays = tuple(each.arrays for each in encoded)
        pieces = Pieces(_groups([columns[k] for k in keys], table.num_rows), start, rows, arrays)

        def batch(results: Results) -> pa.RecordBatch:
            origin = pa.array(results.origin)
            made = {k: columns[k].take(origin) for k in keys}
            made["node"] = pa.array(np.full(len(origin), results.node, dtype=np.int32))
            made["start"] = pa.array(results.start, pa.int64())
            for each, merged, partial in zip(encoded, results.columns, partials, strict=True):
                made[partial.name] = each.decode(merged)
            return pa.RecordBatch.from_pydict(made)

        if self.asked or not table.num_rows:
            yield batch(Results(self.root, pieces.group, start, rows, arrays))
        monoids = tuple(each.monoid for each in encoded)
        for results in evaluate_tree(self.branches, pieces, monoids, read=self.read):
            yield batch(results)


def _encode(partial: PartialColumn, columns: dict[str, pa.Array]) -> Encoded:
    own = [columns[name] for name in (partial.name, *partial.beside)]
    return encode(partial.merger, own, code=partial.code)


def _groups(keys: Sequence[pa.Array], length: int) -> Array:
    """The number of each row's key, in rows sorted by key."""
    changes = np.zeros(max(length - 1, 0), dtype=np.bool_)
    for column in keys:
        if pa.types.is_floating(column.type):  # -0.0 is 0.0, as DuckDB groups it
            zero = pa.scalar(0.0).cast(column.type)
            column = pa.compute.if_else(pa.compute.equal(column, zero), zero, column)
        codes = column.dictionary_encode(null_encoding="encode").indices.to_numpy()
        changes |= codes[1:] != codes[:-1]
    begin = [0] if length else []
    return np.concatenate((begin, np.cumsum(changes))).astype(np.int64)


def _whole(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.combine_chunks() if column.num_chunks else pa.array([], column.type)


def _finish_sql(physical: PhysicalPlan, read: Reading, name: str) -> str:
    """Results under the user's names, from merged partials."""
    literal, quoted = read.writer.literal, read.writer.quoted
    ids, ranges = [], []
    for node in physical.outputs:
        assert isinstance(node.shape, Window), "slices are always hidden"
        ids.append(f"WHEN {node.number} THEN {literal(node.id)}")
        ranges.append(f"WHEN {node.number} THEN {node.shape.range}")
    id = f"CASE node {' '.join(ids)} END AS window_id"
    until = f"start + CASE node {' '.join(ranges)} END"
    finals = [f"{r.final} AS {quoted(r.name)}" for r in read.columns.results]
    return f"{select([*read.head(id, 'start', until), *finals])}\nFROM {name}"

"""Workers put rows in order: groups together, positions ascending, every row once."""

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.kernels import sorted_rows
from muntin.kernels.sorted_rows import Held, InOrder, order_of
from muntin_testing.reached import Reached

POSITIONS = st.one_of(st.integers(-3, 3), st.integers(-(2**61), 2**61))
ROWS = st.lists(
    st.tuples(st.sampled_from([None, "a", "b"]), st.integers(0, 1), POSITIONS), max_size=40
)


def test_an_order_has_groups_together_by_position() -> None:
    reached = Reached()

    @given(rows=ROWS, in_order=st.booleans())
    def compare(rows: list[tuple[str | None, int, int]], in_order: bool) -> None:
        rows = sorted(rows, key=lambda row: row[2]) if in_order else rows
        code = np.array([row[1] for row in rows], dtype=np.int64)
        position = np.array([row[2] for row in rows], dtype=np.int64)
        order = order_of(code, position)
        assert sorted(order.tolist()) == list(range(len(rows)))
        found = [(code[i], position[i]) for i in order]
        assert found == sorted(found)
        apart = len(rows) > 1 and int(position.max()) - int(position.min()) > 2**61
        reached["one number for both"] += len(rows) > 1 and not apart and not in_order
        reached["too far apart for one"] += apart and len(set(code.tolist())) > 1 and not in_order
        reached["in order already"] += in_order and len(rows) > 1

    compare()
    reached.at_least(5, "one number for both", "too far apart for one", "in order already")


def test_texts_of_any_length_are_held_and_given_out_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = pa.table({"k": ["b", "a", None], "v": pa.array([b"x", None, b"y"], pa.binary())})
    for limit, kind in ((2**31, pa.string()), (0, pa.large_string())):
        monkeypatch.setattr(sorted_rows, "_NARROW", limit)
        held = Held.of([table.slice(0, 1), table.slice(1)])
        assert held.table.schema.field("k").type == kind
        [two, one] = held.portions(np.array([2, 0, 1]), 2)
        assert pa.concat_tables([two, one]) == table.take(pa.array([2, 0, 1]))


def test_a_function_of_sorted_rows_is_given_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_rows, "_PORTION", 3)
    reached = Reached()

    def as_given(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return batches

    @given(rows=ROWS, size=st.integers(1, 5))
    def compare(rows: list[tuple[str | None, int, int]], size: int) -> None:
        keys, nodes, positions = zip(*rows, strict=True) if rows else ((), (), ())
        table = pa.table(
            {
                "k": pa.array(keys, pa.string()),
                "node": pa.array(nodes, pa.int32()),
                "t": pa.array(positions, pa.int64()),
            }
        )
        batches = iter(table.to_batches(max_chunksize=size))
        found = [
            (row["k"], row["node"], row["t"])
            for batch in InOrder(as_given, ("k", "node"), "t")(batches)
            for row in batch.to_pylist()
        ]
        assert sorted(map(repr, found)) == sorted(map(repr, rows))
        groups = [(group, [t for *_, t in own]) for group, own in groupby(found, lambda r: r[:2])]
        assert len(groups) == len({row[:2] for row in rows})
        assert all(own == sorted(own) for _, own in groups)
        reached["several portions"] += len(rows) > 3
        reached["a null key"] += None in keys

    compare()
    reached.at_least(10, "several portions", "a null key")

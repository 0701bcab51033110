"""Records that share an instant are taken in the order of their values, whatever they are."""

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from muntin.data_windows.record_buffer import sort_records
from muntin_testing.reached import Reached

LISTS = st.none() | st.lists(st.none() | st.integers(-2, 2), max_size=3)


def placed(values: list[int | None] | None) -> tuple[Any, ...]:
    """As Spark compares: null first, value by value, and of two that begin alike the shorter."""
    if values is None:
        return (0,)
    return (1, [(0, 0) if value is None else (1, value) for value in values])


def test_lists_and_structs_of_them_sort_as_in_spark() -> None:
    reached = Reached()

    @given(st.lists(LISTS, min_size=2, max_size=8))
    def each(lists: list[list[int | None] | None]) -> None:
        kind = pa.list_(pa.int64())
        wanted = sorted(lists, key=placed)
        plain = pa.array(lists, kind)
        columns = {"list": plain, "struct": pa.StructArray.from_arrays([plain], ["records"])}
        for name, column in columns.items():
            count = len(lists)
            table = pa.table({"group": [0] * count, "t": [5] * count, name: column})
            found = sort_records(table, [name]).column(name).to_pylist()
            assert [f["records"] if name == "struct" else f for f in found] == wanted
        lengths = {len(each or ()) for each in lists}
        reached["moved"] += wanted != lists
        reached["of several lengths"] += len(lengths) > 2
        reached["nulls inside"] += any(None in (each or ()) for each in lists)

    each()
    reached.at_least(5, "moved", "of several lengths", "nulls inside")

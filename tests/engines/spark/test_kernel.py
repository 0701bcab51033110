"""The kernel in process: portions, tails, time chunks and trees, against brute force."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.aggregates.columns import PartialColumn
from muntin.engines.spark import kernel_stage as module
from muntin.engines.spark.kernel_stage import Kernel
from muntin.kernels.tree import Branch
from muntin.model.windows import Window
from muntin_testing.monoids import joined

Row = tuple[str | None, int, int, int]
"""Key, node, start and value."""

PARTIALS = (
    PartialColumn("p0", "", "", "sum"),
    PartialColumn("p1", "", "", "max"),
    PartialColumn("p2", "", "", "custom", code=joined("in_order")),
)
RECORDS = pa.struct([("records", pa.list_(pa.int64())), ("result", pa.string())])
TREE = {
    0: (
        Branch(1, Window(4, 4), asked=True, branches=(Branch(2, Window(12, 4), asked=True),)),
        Branch(3, Window(10, 3, 1), asked=True),
        Branch(4, Window(6, 6), asked=False, branches=(Branch(5, Window(18, 6), asked=True),)),
    ),
    6: (),
}
WINDOWS = {1: Window(4, 4), 2: Window(12, 4), 3: Window(10, 3, 1), 5: Window(18, 6)}
WIDEST = 18


@pytest.fixture(autouse=True)
def _small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Portions of a few rows, so that every boundary is met."""
    monkeypatch.setattr(module, "PORTION", 5)


def batches(rows: list[Row], chunk: int | None, size: int) -> list[pa.RecordBatch]:
    """The rows as Spark hands them over: split by chunk, sorted, in batches."""
    split: list[tuple[str | None, int, int | None, int, int]] = []
    for key, node, start, value in rows:
        if chunk is None:
            split.append((key, node, None, start, value))
        else:
            owners = {start // chunk, (start - WIDEST + 1) // chunk}
            split += [(key, node, owner, start, value) for owner in owners]
    split.sort(key=lambda r: (r[0] is not None, r[0] or "", r[1], r[2] or 0, r[3]))
    columns = {
        "k0": pa.array([r[0] for r in split], pa.string()),
        "node": pa.array([r[1] for r in split], pa.int32()),
        "start": pa.array([r[3] for r in split], pa.int64()),
        "p0": pa.array([r[4] for r in split], pa.int64()),
        "p1": pa.array([r[4] for r in split], pa.int64()),
        "p2": pa.array([{"records": [r[4]], "result": None} for r in split], RECORDS),
    }
    if chunk is not None:
        columns["chunk"] = pa.array([r[2] for r in split], pa.int64())
    table = pa.table(columns)
    return [
        table.slice(i, size).combine_chunks().to_batches()[0] for i in range(0, len(split), size)
    ]


def expected(rows: list[Row]) -> dict[tuple[Any, ...], tuple[int, int, str]]:
    """Every instance of every asked window by hand; node 6 rows are results themselves."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for key, node, start, value in sorted(rows, key=lambda row: row[2]):
        if node == 6:
            found[key, 6, start] = [value]
            continue
        for number, window in WINDOWS.items():
            for begin in window.instances_of(start):
                found.setdefault((key, number, begin), []).append(value)
    return {
        where: (sum(values), max(values), "".join(map(str, values)))
        for where, values in found.items()
    }


ROWS = st.dictionaries(
    st.tuples(
        st.sampled_from([None, "a", "b"]),
        st.sampled_from([0, 0, 0, 6]),
        # every begin and end of the tree's windows is a cut of these slices of one unit
        st.integers(-60, 90),
    ),
    st.integers(-9, 9),
    min_size=1,
    max_size=40,
).map(lambda d: [(*where, value) for where, value in d.items()])


def unlisted(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """The results of a batch one by one: key, node, start and partials."""
    for key, node, *lists in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        assert 0 < len(lists[0]) <= module.LISTED
        yield from ((key, node, *one) for one in zip(*lists, strict=True))


@given(rows=ROWS, chunk=st.sampled_from([None, 18, 25, 72]), size=st.integers(1, 12))
def test_every_complete_instance_is_emitted_exactly_once(
    rows: list[Row], chunk: int | None, size: int
) -> None:
    kernel = Kernel(("k0",), PARTIALS, TREE, frozenset({1, 2, 3, 5, 6}), chunk, wraps=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "LISTED", 3)
        out = [row for batch in kernel(iter(batches(rows, chunk, size))) for row in unlisted(batch)]
    assert len(out) == len({(key, node, start) for key, node, start, *_ in out}), "one came twice"
    values = {(k, n, start): (p0, p1, p2["result"]) for k, n, start, p0, p1, p2 in out}
    assert values == expected(rows)


def test_an_empty_partition_gives_nothing() -> None:
    kernel = Kernel(("k0",), PARTIALS, TREE, frozenset({1}), None, wraps=False)
    assert list(kernel(iter([]))) == []


def test_only_a_tail_is_carried_over_however_long_a_key_is(monkeypatch: pytest.MonkeyPatch) -> None:
    carried: list[int] = []
    tail = module.Groups.tail

    def watched(groups: module.Groups) -> tuple[pa.Table, int]:
        rest, horizon = tail(groups)
        carried.append(rest.num_rows)
        return rest, horizon

    monkeypatch.setattr(module.Groups, "tail", watched)
    rows: list[Row] = [("a", 0, start, 1) for start in range(3000)]
    kernel = Kernel(("k0",), PARTIALS, TREE, frozenset({1, 2, 3, 5}), None, wraps=False)
    out = [row for batch in kernel(iter(batches(rows, None, 100))) for row in unlisted(batch)]
    assert len(out) == len(expected(rows))
    assert len(carried) > 20
    assert max(carried) == WIDEST

"""Sorted rows sliced in Python: portions, slices that go on, chunks, against brute force."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.aggregates.columns import PartialColumn
from muntin.engines.spark import kernel_stage, rows_stage
from muntin.engines.spark.kernel_stage import Kernel
from muntin.engines.spark.rows_stage import SlicedRows
from muntin.kernels.sent_columns import Sent
from muntin.kernels.tree import Branch
from muntin.model.windows import Window
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import Slices, begins
from muntin_testing.reached import Reached

Row = tuple[str | None, int, int]
"""Key, time and value."""

PARTIALS = (PartialColumn("p0", "", "", "sum"), PartialColumn("p1", "", "", "max"))
WINDOWS = {0: Window(2, 2, 1), 1: Window(4, 4, 1), 2: Window(12, 4, 1), 3: Window(10, 2, 1)}
TREE = (
    Branch(1, WINDOWS[1], asked=True, branches=(Branch(2, WINDOWS[2], asked=True),)),
    Branch(3, WINDOWS[3], asked=True),
)
BASE = Base(0, Slices((begins(WINDOWS[0]),), "instances"), TREE)
WIDEST = 12
ROWS = st.lists(
    st.tuples(st.sampled_from([None, "a"]), st.integers(-30, 30), st.integers(-9, 9)),
    min_size=1,
    max_size=60,
)


def batches(rows: list[Row], chunk: int | None, size: int) -> list[pa.RecordBatch]:
    """The rows as Spark hands them over: split by chunk of their time, sorted, in batches."""
    split = [(key, owner, t, value) for key, t, value in rows for owner in owners_of(t, chunk)]
    split.sort(key=lambda r: (r[0] is not None, r[0] or "", r[1], r[2]))
    keys, owners, times, values = zip(*split, strict=True)
    table = pa.table(
        {"k0": pa.array(keys, pa.string()), "t": times, "p0": values, "chunk": owners},
    )
    return [batch for batch in table.to_batches(max_chunksize=size) if batch.num_rows]


def owners_of(t: int, chunk: int | None) -> set[int]:
    return {0} if chunk is None else {t // chunk, (t - WIDEST + 1) // chunk}


def expected(rows: list[Row]) -> dict[tuple[Any, ...], tuple[int, int]]:
    found: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for key, t, value in rows:
        for number, window in WINDOWS.items():
            for begin in window.instances_of(t):
                found[key, number, begin].append(value)
    return {where: (sum(values), max(values)) for where, values in found.items()}


@pytest.fixture(autouse=True)
def _small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_stage, "PORTION", 4)
    monkeypatch.setattr(kernel_stage, "PORTION", 5)


def results_of(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """Every result by itself, of lists or of runs."""
    for row in batch.to_pylist():
        key, node, own = row["k0"], row["node"], (row["start"], row["p0"], row["p1"])
        if "times" not in row:
            yield from ((key, node, *each) for each in zip(*own, strict=True))
            continue
        for turn in range(row["times"]):
            yield key, node, own[0] + turn * WINDOWS[node].slide, *own[1:]


def test_every_instance_comes_once_with_all_its_rows() -> None:
    reached = Reached()

    @given(
        rows=ROWS,
        chunk=st.sampled_from([None, 12, 13, 17, 48]),
        size=st.integers(1, 7),
        in_runs=st.sampled_from([frozenset(), frozenset({2, 3})]),
    )
    def compare(rows: list[Row], chunk: int | None, size: int, in_runs: frozenset[int]) -> None:
        asked = frozenset({0, 1, 2, 3})
        kernel = Kernel(("k0",), PARTIALS, {0: TREE}, asked, chunk, False, in_runs)
        stage = SlicedRows(kernel, BASE, Sent({"p0": "p0", "p1": "p0"}))
        given_rows = batches(rows, chunk, size)
        found: dict[tuple[Any, ...], tuple[int, int]] = {}
        for batch in stage(iter(given_rows)):
            reached["runs of several"] += (
                in_runs != frozenset() and max(batch.column("times").to_pylist()) > 1
            )
            for key, node, start, total, most in results_of(batch):
                assert (key, node, start) not in found, "an instance came twice"
                found[key, node, start] = total, most
        assert found == expected(rows)
        reached["several portions"] += sum(b.num_rows for b in given_rows) > 8
        slices = {(key, (t - 1) // 2) for key, t, _ in rows}
        reached["several rows in a slice"] += len(slices) < len(rows)
        reached["whole keys"] += chunk is None
        reached["several chunks"] += len({t // (chunk or 2**62) for _, t, _ in rows}) > 1

    compare()
    reached.at_least(20, "several portions", "several rows in a slice", "several chunks")
    reached.at_least(10, "whole keys", "runs of several")


def test_an_empty_partition_gives_nothing() -> None:
    kernel = Kernel(("k0",), PARTIALS, {0: TREE}, frozenset({1}), 12, wraps=False)
    assert list(SlicedRows(kernel, BASE, Sent({"p0": "p0", "p1": "p0"}))(iter([]))) == []

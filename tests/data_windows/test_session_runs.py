"""Runs without a pause, merged by partitions in any way, give the sessions of all records."""

from datetime import timedelta
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.aggregates import count, sum
from muntin.aggregates.columns import columns_of
from muntin.data_windows import partitions
from muntin.data_windows.array_windows import sessions_over
from muntin.data_windows.partitions import Cutty, SessionRuns
from muntin.kernels.sent_columns import AS_NAMED
from muntin.model.data_windows import session

PARTIALS = columns_of([count(), sum("x")], lambda _: "bigint").partials

records = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 60)), min_size=1, max_size=40)


def sessions(times: list[int], gap: int) -> list[tuple[int, int, int, int]]:
    """Start, end, count and sum of the times, one record after the other."""
    found: list[list[int]] = []
    for time in sorted(times):
        if not found or time - found[-1][-1] > gap:
            found.append([])
        found[-1].append(time)
    return [(s[0], s[-1] + gap, len(s), int(np.sum(s))) for s in found]


def batch(part: list[tuple[str, int]]) -> pa.RecordBatch:
    keys, times = zip(*part, strict=True)
    arrays = [list(keys), list(times), [1] * len(part), list(times)]
    return pa.RecordBatch.from_arrays([pa.array(a) for a in arrays], ["k0", "t", "p0", "p1"])


@given(records, st.lists(st.integers(0, 3), min_size=40, max_size=40), st.data())
def test_sessions_of_every_gap_from_the_runs_of_scattered_records(
    given: list[tuple[str, int]], partition: list[int], data: st.DataObject
) -> None:
    gap = data.draw(st.integers(1, 12))
    wider = gap + data.draw(st.integers(0, 20))
    merge = SessionRuns(("k0",), PARTIALS, AS_NAMED, gap, False)
    parts = [[r for r, at in zip(given, partition, strict=False) if at == n] for n in range(4)]
    runs = [run for part in parts if part for run in merge(iter([batch(part)]))]
    table = pa.Table.from_batches(runs).sort_by([("k0", "ascending"), ("lo", "ascending")])
    names = ("lo", "hi", "p0", "p1")
    lo, hi, rows, total = (table.column(n).combine_chunks().to_numpy() for n in names)
    key = np.array(table.column("k0").to_pylist())
    for each in (gap, wider):
        found = sessions_over(key, lo, hi, each)
        for k in "ab":
            own = [
                (s, e, int(rows[f:p].sum()), int(total[f:p].sum()))
                for f, p, s, e in zip(found.first, found.stop, found.start, found.end, strict=True)
                if key[f] == k
            ]
            assert own == sessions([t for name, t in given if name == k], each)
    windows = {n: session(timedelta(0, 0, each)) for n, each in enumerate((gap, wider))}
    stage = Cutty(("k0",), windows, {}, PARTIALS, False, of_runs=True)
    shuffled = pa.Table.from_batches(runs).take(data.draw(st.permutations(range(len(key)))))
    with patch.object(partitions, "PORTION", 5):
        rows_of = [row for b in stage(iter(shuffled.to_batches())) for row in b.to_pylist()]
    for n, each in enumerate((gap, wider)):
        for k in "ab":
            mine = [tuple(r.values())[2:] for r in rows_of if (r["k0"], r["node"]) == (k, n)]
            assert sorted(mine) == sessions([t for name, t in given if name == k], each)


def test_a_dense_partition_becomes_a_row_for_each_portion_and_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partitions, "RUN_PORTION", 100)
    merge = SessionRuns(("k0",), PARTIALS, AS_NAMED, 2, False)
    batches = [batch([("ab"[t % 2], t) for t in range(n, n + 50)]) for n in range(0, 400, 50)]
    runs = list(merge(iter(batches)))
    assert [run.num_rows for run in runs] == [2] * 4
    assert pa.Table.from_batches(runs).column("p0").to_pylist() == [50] * 8

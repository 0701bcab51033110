"""The stage of Spark's workers, without Spark: any cutting into batches gives the same rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import muntin as mt
from muntin.aggregates.columns import columns_of
from muntin.data_windows import partitions
from muntin.data_windows.partitions import Assigned, Cutty
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window
from muntin_testing.data_windows import meaning

WINDOWS: dict[int, DataWindow | Window] = {
    0: mt.session("5 microseconds"),
    1: mt.count_window(4, 2),
    2: mt.hopping_by("km", 6, 3),
    3: mt.Window(10, 4),
    4: mt.punctuation("go"),
}


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    random = np.random.default_rng(5)
    rows = []
    for key in (None, "a", "b", "c"):
        times = np.cumsum(random.choice([0, 1, 2, 9], 30))
        km = np.cumsum(random.choice([0, 1, 2], 30))
        for t, d in zip(times.tolist(), km.tolist(), strict=True):
            go = bool(random.random() < 0.3)
            value = int(random.integers(99))
            rows.append({"k0": key, "t": t, "km": d, "go": go, "p0": 1, "p1": value})
    return rows


def batches(records: list[dict[str, Any]], size: int) -> Iterator[pa.RecordBatch]:
    table = pa.Table.from_pylist(records)
    table = table.rename_columns(["k0", "t", "u0", "u1", "p0", "p1"])
    return iter(table.to_batches(max_chunksize=size))


def expected(records: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    found = []
    for key in (None, "a", "b", "c"):
        own = [r for r in records if r["k0"] == key]
        for number, window in WINDOWS.items():
            for start, end, run in meaning(window, own):
                values = [own[i]["p1"] for i in run]
                found.append((key, number, start, end, len(run), max(values)))
    return sorted(found, key=repr)


@pytest.mark.parametrize(("size", "portion"), [(1000, 200_000), (7, 20), (1, 1), (50, 60)])
def test_portions_of_whole_keys_give_every_window_once(
    records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, size: int, portion: int
) -> None:
    monkeypatch.setattr(partitions, "PORTION", portion)
    columns = columns_of([mt.count(), mt.max("v")], lambda _: "int")
    stage = Cutty(("k0",), WINDOWS, {"km": "u0", "go": "u1"}, columns.partials, wraps=False)
    rows = [row for batch in stage(batches(records, size)) for row in batch.to_pylist()]
    assert sorted((tuple(row.values()) for row in rows), key=repr) == expected(records)


def test_records_are_handed_on_once_for_every_window(
    records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "COPIES", 13)
    stage = Assigned(("k0",), WINDOWS, {"km": "u0", "go": "u1"}, ("p1",))
    groups: dict[tuple[Any, ...], list[int]] = {}
    for batch in stage(batches(records, 40)):
        for row in batch.to_pylist():
            *window, run, value = row.values()
            groups.setdefault((*window, run), []).append(value)
    found = [(*key[:4], len(values), max(values)) for key, values in groups.items()]
    assert sorted(found, key=repr) == expected(records)


def test_an_empty_partition_gives_nothing() -> None:
    stage = Cutty((), WINDOWS, {}, (), wraps=False)
    assert list(stage(iter([]))) == []


def test_sessions_over_slices_are_those_over_records(records: list[dict[str, Any]]) -> None:
    gap = 5
    slices: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in records:
        slices.setdefault((record["k0"], record["t"] // gap), []).append(record)
    rows = [
        {
            "k0": key,
            "lo": min(r["t"] for r in own),
            "hi": max(r["t"] for r in own),
            "p0": len(own),
            "p1": max(r["p1"] for r in own),
        }
        for (key, _), own in slices.items()
    ]
    columns = columns_of([mt.count(), mt.max("v")], lambda _: "int")
    windows = {0: mt.session(f"{gap} microseconds"), 7: mt.session("8 microseconds")}
    stage = Cutty(("k0",), windows, {}, columns.partials, wraps=False, of_runs=True)
    found = [
        tuple(row.values())
        for batch in stage(iter(pa.Table.from_pylist(rows).to_batches(max_chunksize=9)))
        for row in batch.to_pylist()
    ]
    wanted = []
    for key in (None, "a", "b", "c"):
        own = [r for r in records if r["k0"] == key]
        for number, window in windows.items():
            for start, end, run in meaning(window, own):
                wanted.append((key, number, start, end, len(run), max(own[i]["p1"] for i in run)))
    assert sorted(found, key=repr) == sorted(wanted, key=repr)

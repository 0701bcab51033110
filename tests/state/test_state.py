"""What a bucket's state refuses, from when new windows are complete, and that any column keeps."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, nan
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from muntin.aggregates.columns import PartialColumn
from muntin.errors import StateError
from muntin.kernels.tree import Branch
from muntin.model.windows import Window
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import panes
from muntin.state.bucket import Bucket
from muntin.state.pieces import by_group
from muntin.state.spec import Spec
from muntin.state.store import MemoryStore
from muntin_testing.buckets import spec_of, stepped
from muntin_testing.values import same

WINDOWS = [Window(10, 10, id="ten"), Window(30, 10, id="thirty")]


def started() -> MemoryStore:
    store = MemoryStore()
    stepped(spec_of(WINDOWS), store, [(5, "a", 1, 1), (47, "b", 2, 2)], 0)
    stepped(spec_of(WINDOWS), store, [], 40)
    return store


def refused(spec: Spec, store: MemoryStore, match: str) -> None:
    with pytest.raises(StateError, match=match):
        Bucket(spec, 0, store)


class Counted(MemoryStore):
    """A store that notes which entries are read."""

    def __init__(self, entries: MemoryStore) -> None:
        super().__init__(entries)
        self.reads: list[str] = []

    def read(self, name: str) -> bytes | None:
        self.reads.append(name)
        return super().read(name)


def test_a_step_reads_no_entry_twice() -> None:
    store = Counted(started())
    stepped(spec_of(WINDOWS), store, [(48, "b", 2, 2), (70, "c", 1, 1)], 60)
    assert len(store.reads) == len(set(store.reads)) > 2


def test_an_unknown_format_is_refused() -> None:
    store = started()
    store["header"] = json.dumps(json.loads(store["header"]) | {"format": 3}).encode()
    refused(spec_of(WINDOWS), store, "format 3, and this version of Muntin knows only 1 and 2")
    store["header"] = b"\x80\x04 something else"
    refused(spec_of(WINDOWS), store, "was not written by Muntin")


def test_another_number_of_buckets_is_refused() -> None:
    spec = replace(spec_of(WINDOWS), buckets=8)
    refused(spec, started(), "spread over 1 buckets, and the query asks for 8.*give buckets=1")


def test_other_keys_or_aggregates_are_refused() -> None:
    spec = spec_of(WINDOWS)
    refused(replace(spec, named=("device",)), started(), "holds the keys key, .* needs device")
    refused(replace(spec, described=()), started(), "the partial aggregates all, .* needs none")


def test_a_restart_keeps_the_technique_unless_it_is_asked_for_another() -> None:
    """Told nothing, a later version may prefer another technique: the state keeps its own."""
    store = MemoryStore()
    stepped(spec_of(WINDOWS, technique="two-stacks"), store, [(5, "a", 1, 1)], 0)
    by_itself = Bucket(spec_of(WINDOWS, technique="b-int"), 0, store)
    assert by_itself.state.header.technique == "two-stacks"
    stepped(spec_of(WINDOWS, technique="panes", asked=True), store, [(6, "a", 1, 1)], 0)
    kept = Bucket(spec_of(WINDOWS, technique="b-int"), 0, store)
    assert kept.state.header.technique == "panes", "what was asked for is kept from then on"


def test_a_state_without_a_technique_takes_that_of_the_query() -> None:
    store = started()
    read = json.loads(store["header"])
    del read["technique"]
    store["header"] = json.dumps(read).encode()
    bucket = Bucket(spec_of(WINDOWS, technique="panes"), 0, store)
    assert bucket.state.header.technique == "panes"


def test_other_types_are_refused() -> None:
    spec, store = spec_of(WINDOWS), started()
    table = pa.table({"node": [0], "start": [40], "k0": [1], **{f"p{i}": [1] for i in range(5)}})
    with pytest.raises(StateError, match=r"columns string, int64.* now have int64, int64"):
        Bucket(spec, 0, store).step([table], 40)


def test_a_new_window_on_kept_slices_is_complete_from_the_oldest_of_them() -> None:
    store = started()
    windows = [*WINDOWS, Window(20, 20, id="twenty")]
    _, step = stepped(spec_of(windows), store, [], 40)
    # Slices from 20 on are kept, of which [20, 40) has ended.
    assert step.complete_from == {"twenty": 40}
    found, step = stepped(spec_of(windows), store, [], 60)
    assert found["twenty", "b", 40] == (2, 1, "2", 2, 2)
    assert step.complete_from == {"twenty": 40}


def test_a_new_window_across_kept_slices_is_complete_from_their_end() -> None:
    store = started()
    windows = [WINDOWS[1], Window(7, 7, id="seven")]
    _, step = stepped(spec_of(windows), store, [(51, "a", 1, 3)], 40)
    assert step.complete_from == {"seven": 56}  # the newest slice, [40, 50), ends within [49, 56)
    found, _ = stepped(spec_of(windows), store, [(57, "a", 4, 4)], 100)
    assert {at for at in found if at[0] == "seven"} == {("seven", "a", 56)}
    assert found["thirty", "a", 30] == (5, 2, "4", 1, 3)


def test_a_new_window_is_complete_from_the_same_instant_in_all_buckets() -> None:
    stores = [MemoryStore(), MemoryStore(), MemoryStore()]
    for store, rows in zip(stores, ([(47, "b", 2, 2)], [(99, "c", 3, 3)], []), strict=True):
        stepped(spec_of(WINDOWS), store, rows, 0, newest=90)
    spec = spec_of([WINDOWS[1], Window(7, 7, id="seven")])
    for store in stores:
        found, step = stepped(spec, store, [(101, "a", 1, 4), (106, "a", 1, 5)], 120, newest=100)
        assert step.complete_from == {
            "seven": 105
        }  # the newest slice, [90, 100), ends in [98, 105)
        assert {at for at in found if at[0] == "seven"} == {("seven", "a", 105)}


def test_windows_may_not_be_put_together_on_slices_that_none_of_them_had() -> None:
    store = MemoryStore()
    windows = [Window(10, 10, id="ten"), Window(7, 7, id="seven")]
    stepped(spec_of(windows, "unshared-pairs"), store, [(5, "a", 1, 1)], 0)
    refused(spec_of(windows, "shared-pairs"), store, "windows 'ten', 'seven' are now computed")


COLUMNS: dict[str, tuple[str, pa.DataType, list[Any], Any]] = {
    "integers": ("sum", pa.int64(), [2**61, None, 5], 2**61 + 5),
    "floats": ("sum", pa.float64(), [1.5, None, inf], inf),
    "decimals": ("sum", pa.decimal128(20, 2), [Decimal("1.25"), None, Decimal("-9.00")], -7.75),
    "not a number": ("max", pa.float64(), [1.0, nan, None], nan),
    "smallest": ("min", pa.float64(), [nan, 4.0, None], 4.0),
    "text": ("max", pa.string(), ["b", "ä", None], "ä"),
    "bytes": ("min", pa.binary(), [b"b", None, b"\0"], b"\0"),
    "dates": ("min", pa.date32(), [date(2020, 1, 2), date(1969, 1, 1), None], date(1969, 1, 1)),
    "timestamps": (
        "max",
        pa.timestamp("us", "UTC"),
        [None, datetime(1969, 1, 1, tzinfo=UTC), None],
        datetime(1969, 1, 1, tzinfo=UTC),
    ),
    "small": ("max", pa.int32(), [None, -3, -4], -3),
    "booleans": ("bool_and", pa.bool_(), [True, None, False], False),
    "bits": ("bit_xor", pa.int64(), [5, 1, None], 4),
    "nulls": ("sum", pa.int64(), [None, None, None], None),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_partials_of_any_type_are_kept_and_merged(name: str) -> None:
    merger, kind, values, expected = COLUMNS[name]
    window = Window(20, 10)
    base = Base(0, panes(window), (Branch(1, window, asked=True),))
    spec = Spec((base,), ("k0",), (PartialColumn("p0", "", "", merger),))
    store = MemoryStore()
    for start, value in zip((0, 10, 10), values, strict=True):
        columns = [[0], [start], [Decimal("1.5")]]
        kinds = [pa.int32(), pa.int64(), pa.decimal128(9, 1)]
        arrays = [pa.array(c, k) for c, k in zip(columns, kinds, strict=True)]
        table = pa.table([*arrays, pa.array([value], kind)], names=["node", "start", "k0", "p0"])
        Bucket(spec, 0, store).step([table], 0)
    [table] = Bucket(spec, 0, store).step([], 20).results
    rows = {row["start"]: row for row in table.to_pylist()}
    assert table.schema.field("p0").type == kind
    assert same((rows[0]["p0"],), (expected,), 1e-12)
    assert rows[0]["k0"] == Decimal("1.5")


def test_groups_are_ordered_beyond_16_bits() -> None:
    group = np.random.default_rng(1).integers(0, 300_000, 5_000)
    assert by_group(group).tolist() == np.argsort(group, kind="stable").tolist()


def test_variance_is_merged_by_its_moments() -> None:
    kind = pa.struct([("n", pa.float64()), ("mean", pa.float64()), ("m2", pa.float64())])
    window = Window(20, 10)
    base = Base(0, panes(window), (Branch(1, window, asked=True),))
    spec = Spec((base,), (), (PartialColumn("p0", "", "", "moments"),))
    store = MemoryStore()
    for start, value in ((0, 1e9), (10, 1e9 + 1), (10, 1e9 + 2)):
        moments = pa.array([{"n": 1.0, "mean": value, "m2": 0.0}], kind)
        table = pa.table({"node": [0], "start": [start], "p0": moments})
        Bucket(spec, 0, store).step([table], 0)
    [table] = Bucket(spec, 0, store).step([], 20).results
    [moments] = [row["p0"] for row in table.to_pylist() if row["start"] == 0]
    assert moments == {"n": 3.0, "mean": 1e9 + 1, "m2": 2.0}

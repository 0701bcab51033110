"""Every kind of window, alone and many at a time, against its definition."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.data_windows import (
    Aggregator,
    Discretizer,
    LastRecords,
    PriceDriven,
    PriceSwitched,
    evaluate,
)
from muntin.data_windows.array_windows import runs_of
from muntin.data_windows.elements import Batch
from muntin.data_windows.protocol import NOTHING, WindowFunction
from muntin.data_windows.window_functions import function_of
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window
from muntin_testing.data_windows import KINDS, Records, data_windows, meaning, records_of_a_key
from muntin_testing.monoids import Concat, joined
from muntin_testing.reached import Reached, fewer

AGGREGATES = [
    mt.count(),
    mt.sum("v"),
    mt.max("v"),
    mt.count_distinct("v"),
    joined("in_order")("v"),
]


def expected(window: DataWindow | Window, records: Records) -> list[tuple[Any, ...]]:
    found = []
    for start, end, run in meaning(window, records):
        values = [records[i]["v"] for i in run]
        text = "".join(map(str, values))
        found.append((start, end, len(run), sum(values), max(values), len({*values}), text))
    return sorted(found)


@pytest.mark.parametrize("kind", KINDS)
def test_windows_of_all_kinds_together_are_what_they_mean(kind: str) -> None:
    reached = Reached()

    @fewer
    @given(KINDS[kind], st.lists(data_windows(), max_size=3), records_of_a_key(), st.booleans())
    def each(
        first: DataWindow | Window, more: list[DataWindow | Window], records: Records, lazy: bool
    ) -> None:
        named = [replace(window, id=f"w{i}") for i, window in enumerate([first, *more])]
        store = "lazy" if lazy else "eager"
        rows = list(evaluate(records, "t", named, AGGREGATES, store=store))
        for window in named:
            found = [tuple(row.values())[1:] for row in rows if row["window_id"] == window.id]
            assert sorted(found) == expected(window, records)
            reached[type(window).__name__] += len(found) > 1
        reached["several"] += len(named) > 1

    each()
    reached.at_least(4, kind, "several")


def batch_of(keys: list[Records]) -> Batch:
    flat = [record for records in keys for record in records]
    group = np.repeat(np.arange(len(keys)), [len(records) for records in keys])
    table = pa.Table.from_pylist(flat)

    def column(name: str) -> pa.Array:
        found = table.column(name).combine_chunks()
        kind = pa.bool_() if name in ("go", "stop") else pa.int64()
        return found.cast(kind) if pa.types.is_null(found.type) else found

    return Batch.of_records(group, table.column("t").to_numpy(), column)


def as_users_own(window: DataWindow | Window) -> DataWindow:
    """The same as a user's function: it is shown only the records that it waits for."""
    return mt.user_window(
        lambda: function_of(window),
        id="own",
        columns=["km", "price", "go", "stop"],
        incomplete=isinstance(window, DataWindow) and window.incomplete,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_bulk_runs_are_what_the_windows_mean(kind: str) -> None:
    reached = Reached()

    @fewer
    @given(KINDS[kind], st.lists(records_of_a_key(12), min_size=2, max_size=3))
    def each(window: DataWindow | Window, keys: list[Records]) -> None:
        base, wanted = 0, []
        for records in keys:
            held = meaning(window, records)
            wanted += [(s, e, base + r[0], base + r[-1] + 1) for s, e, r in held]
            base += len(records)
        for form in (window, as_users_own(window)):
            runs = runs_of(form, batch_of(keys))
            columns = (getattr(runs, f).tolist() for f in ("start", "end", "first", "stop"))
            assert sorted(zip(*columns, strict=True)) == sorted(wanted)
        reached["windows of several keys"] += len(wanted) > 2

    each()
    reached.at_least(5, "windows of several keys")


@pytest.mark.parametrize("kind", KINDS)
def test_a_function_goes_on_from_its_stored_state(kind: str) -> None:
    reached = Reached()

    @fewer
    @given(KINDS[kind], records_of_a_key())
    def each(window: DataWindow | Window, records: Records) -> None:
        plain, stored = function_of(window), function_of(window)
        assert isinstance(plain, WindowFunction)
        assert isinstance(stored, WindowFunction)
        for record in records:
            fresh = function_of(window)
            assert isinstance(fresh, WindowFunction)
            fresh.restore(json.loads(json.dumps(stored.state())))
            stored = fresh
            said = plain.mark(record["t"], record)
            assert stored.mark(record["t"], record) == said
            assert stored.timeout() == plain.timeout()
            while (due := plain.timeout()) is not None and due <= record["t"]:
                assert stored.timed_out() == plain.timed_out()
            reached["marks"] += said is not NOTHING

    each()
    reached.at_least(10, "marks")


def test_time_and_distance_share_one_set_of_slices() -> None:
    """Records by a step of time, three quarters of a step of distance; every tenth stands still."""
    windows: list[DataWindow | Window] = [
        mt.Window(10, 6),
        mt.hopping_by("km", 10, 5, incomplete=True),
    ]
    records = [{"t": t, "km": t * 3 // 4 - t // 10, "v": 0} for t in range(60)]
    functions = [function_of(w) for w in windows]
    discretizer = Discretizer([f for f in functions if isinstance(f, WindowFunction)])
    aggregator = Aggregator(Concat(), "lazy")
    cuts, found = [], []
    for t, record in enumerate(records):
        ended, begun = discretizer.record(t, record)
        texts = aggregator.end(e.number for e in ended)
        found += [(e.function, e.start, e.end, text) for e, text in zip(ended, texts, strict=True)]
        aggregator.begin(b.number for b in begun)
        cuts += [t] if begun else []
        aggregator.fold(f"<{t}>")
        assert aggregator.partials <= aggregator.active
    meant = [
        (function, start, end, run)
        for function, window in enumerate(windows)
        for start, end, run in meaning(window, records)
    ]
    ends = [(*span, "".join(f"<{i}>" for i in run)) for *span, run in meant if run[-1] < 59]
    assert sorted(found) == sorted(ends)
    assert Counter(function for function, *_ in found) == {0: 10, 1: 7}
    assert cuts == sorted({run[0] for *_, run in meant})  # only where a window of either begins


def test_every_landmark_begins_a_window_and_until_may_end_it_at_the_next() -> None:
    """As the paper has them (section 3): from a landmark record to a punctuation or a length."""
    go, stop = {1, 3, 8}, {6}
    rows = [{"t": t, "go": t in go, "stop": t in stop, "any": t in go | stop} for t in range(11)]
    windows = [
        mt.landmark("go", "stop", id="overlapping"),
        mt.landmark("go", "any", id="one at a time"),
        mt.landmark("go", length="4us", id="four"),
        mt.landmark("go", incomplete=False, id="never"),
    ]
    found: dict[str, list[tuple[int, int, int]]] = {window.id: [] for window in windows}
    for row in evaluate(rows, "t", windows, [mt.count()]):
        found[row["window_id"]].append((row["start"], row["end"], row["count"]))
    assert {id: sorted(each) for id, each in found.items()} == {
        "overlapping": [(1, 6, 5), (3, 6, 3), (8, 11, 3)],
        "one at a time": [(1, 3, 2), (3, 6, 3), (8, 11, 3)],
        "four": [(1, 5, 4), (3, 7, 4), (8, 11, 3)],
        "never": [],
    }
    column = {name: pa.array([row[name] for row in rows]) for name in rows[0]}
    batch = Batch.of_records(np.zeros(11, dtype=int), np.arange(11), column.__getitem__)
    for window in windows:
        runs = runs_of(window, batch)
        assert sorted(zip(runs.first.tolist(), runs.stop.tolist(), strict=True)) == [
            (start, start + count) for start, _, count in sorted(found[window.id])
        ]


def test_every_five_seconds_the_last_ten_records() -> None:
    records = [{"t": t, "v": t} for t in range(0, 40, 2)]
    window = mt.user_window(lambda: LastRecords(10, 5), id="last")
    rows = list(evaluate(records, "t", [window], [mt.count(), mt.min("v"), mt.max("v")]))
    wanted = []
    for due in range(5, 39, 5):
        seen = [r["v"] for r in records if r["t"] < due][-10:]
        wanted.append((len(seen), seen[0], seen[-1]))
    assert [tuple(row.values())[3:] for row in rows] == wanted


MINUTE = 60_000_000


def trades(prices: list[float]) -> Records:
    return [
        {"t": m * MINUTE, "price": p, "volume": m + 1, "worth": p * (m + 1)}
        for m, p in enumerate(prices)
    ]


def reports(function: Any, records: Records) -> list[tuple[int, int, int, float]]:
    vwap = mt.ratio(mt.sum("worth"), mt.sum("volume")).alias("vwap")
    window = mt.user_window(function, id="report")
    rows = evaluate(records, "t", [window], [mt.count(), vwap])
    return [(r["start"] // MINUTE, r["end"] // MINUTE, r["count"], r["vwap"]) for r in rows]


def test_figure_1_a_report_every_two_minutes_after_the_fall() -> None:
    """At minute 25 the price falls to 9: reports at 27, 29, … of the last 5 minutes, not at 30."""
    records = trades([12.0] * 25 + [9.0] * 16)
    found = reports(PriceDriven, records)
    dear = [(m - 10, m) for m in range(5, 26, 5)]
    cheap = [(m - 5, m) for m in range(27, 41, 2)]
    assert [span[:2] for span in found] == dear + cheap
    for start, end, many, price in found:
        held = [r for r in records if start <= r["t"] // MINUTE < end]
        assert many == len(held)
        assert price == pytest.approx(
            sum(r["worth"] for r in held) / sum(r["volume"] for r in held)
        )


def test_a_fall_brings_a_report_nearer_and_never_puts_one_off() -> None:
    """A fall at 29 leaves the report of 30 where it is; a rise at 33 that of 34, of 8 minutes."""
    found = reports(PriceDriven, trades([12.0] * 29 + [9.0] * 4 + [12.0] * 12))
    ends = [end for _, end, *_ in found]
    assert ends == [5, 10, 15, 20, 25, 30, 32, 34, 39, 44]
    assert [span[:2] for span in found[5:]] == [(25, 30), (27, 32), (27, 34), (29, 39), (34, 44)]
    quiet = trades([12.0] * 3)
    quiet += [{**r, "t": r["t"] + 100 * MINUTE} for r in quiet]
    assert [span[:2] for span in reports(PriceDriven, quiet)] == [(-5, 5), (0, 10)]


def test_windows_that_switch_with_the_price_end_where_it_crosses() -> None:
    found = reports(PriceSwitched, trades([12.0] * 25 + [9.0] * 15))
    dear = [(0, 9), (5, 14), (10, 19), (15, 24), (20, 24)]
    cheap = [(m, min(m + 4, 39)) for m in range(25, 40, 2)]
    assert [span[:2] for span in found] == dear + cheap
    assert [span[3] for span in found] == pytest.approx([12.0] * 5 + [9.0] * 8)

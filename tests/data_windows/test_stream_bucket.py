"""A bucket of a stream, stepped from the bytes of its store, beside what its windows mean."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.data_windows import LastRecords, PriceDriven, PriceSwitched, evaluate
from muntin.data_windows.protocol import Columns, Numbers, Policy, Record, WindowFunction
from muntin.data_windows.stream_bucket import StreamBucket
from muntin.data_windows.window_functions import PositionFunction, SessionFunction
from muntin.errors import StateError, UserWindowError
from muntin.model.data_windows import CountWindow, DataWindow, Session, Snapshot, UserWindow
from muntin.model.windows import Window
from muntin.state import keys
from muntin.state.bucket import Bucket
from muntin.state.spec import Spec
from muntin.state.store import MemoryStore, from_bytes
from muntin_testing.data_windows import KINDS, Records, data_windows, meaning
from muntin_testing.reached import Reached, fewer
from muntin_testing.record_streams import (
    FIRST,
    TRAIL,
    Stream,
    admitted,
    arriving,
    row_of,
    sorted_rows,
    spec_of,
    table,
)

pytestmark = pytest.mark.slow

PROMPT = (Session, Window, Snapshot, CountWindow)
"""Windows whose end tells in which step they come out."""


def finished(window: DataWindow | Window) -> DataWindow | Window:
    """What a stream gives of a window: nothing is finished only by the end of the data."""
    if isinstance(window, Session | Snapshot | Window):
        return window
    changed: Any = {"incomplete": False}
    return replace(window, **changed)


def expected(windows: list[DataWindow | Window], keys: dict[Any, Records]) -> list[tuple[Any, ...]]:
    return [
        row_of(key, node, start, end, [records[i] for i in run])
        for node, window in enumerate(windows)
        for key, records in keys.items()
        for start, end, run in meaning(finished(window), records)
    ]


def test_any_split_and_any_restart_give_the_rows_of_a_batch() -> None:
    """A session's end is Spark's to judge where a watermark falls on it: odd ones never do."""
    reached = Reached()

    @given(st.data(), st.lists(data_windows(), min_size=1, max_size=4))
    def each(data: st.DataObject, windows: list[DataWindow | Window]) -> None:
        sessions = any(isinstance(window, Session) for window in windows)
        batches = data.draw(arriving(odd=sessions))
        stream, found, last = Stream(spec_of(windows)), [], 0
        for rows, watermark in batches:
            new = stream.step(rows, watermark)
            for row in new:
                if isinstance(windows[row[1]], PROMPT):
                    assert last < row[3] <= watermark
            reached["rows before the end"] += bool(new) and watermark < 10**6
            found += new
            last = watermark
        keys = admitted(batches)
        assert sorted_rows(found) == sorted_rows(expected(windows, keys))
        assert stream.dropped == sum(len(r) for r, _ in batches) - sum(map(len, keys.values()))
        reached["dropped"] += bool(stream.dropped)
        reached["several batches"] += sum(bool(rows) for rows, _ in batches) > 2
        reached.update({type(windows[row[1]]).__name__ for row in found})

    each()
    reached.at_least(5, "rows before the end", "dropped", "several batches")
    reached.at_least(2, *KINDS)


def test_update_mode_gives_open_windows_as_far_as_they_have_come() -> None:
    """Beside the rows of append mode: what a batch would give if the data ended here."""
    reached = Reached()

    @fewer
    @given(st.data(), st.lists(data_windows(), min_size=1, max_size=3))
    def each(data: st.DataObject, windows: list[DataWindow | Window]) -> None:
        batches = data.draw(arriving(odd=any(isinstance(w, Session) for w in windows)))
        streams = [Stream(spec_of(windows, update=update)) for update in (False, True)]
        closed: Counter[str] = Counter()
        keys, last = admitted(batches), 0
        for rows, watermark in batches:
            append, update = (Counter(map(repr, s.step(rows, watermark))) for s in streams)
            assert append <= update
            closed += append
            taken = {k: [r for r in each if r["t"] < watermark] for k, each in keys.items()}
            grown = {k: each for k, each in taken.items() if any(r["t"] >= last for r in each)}
            so_far = Counter(map(repr, unfinished(windows, grown)))
            assert update - append == so_far - closed
            reached["early"] += (update - append).total() > 0
            last = max(last, watermark)
        reached["in all"] += closed.total() > 0

    each()
    reached.at_least(5, "early", "in all")


def unfinished(
    windows: list[DataWindow | Window], keys: dict[Any, Records]
) -> list[tuple[Any, ...]]:
    """All windows over these records, finished or not."""
    more: Any = {"incomplete": True}
    ends = [replace(w, **more) if isinstance(w, DataWindow) else w for w in windows]
    return [
        row_of(key, node, start, end, [records[i] for i in run])
        for node, window in enumerate(ends)
        for key, records in keys.items()
        for start, end, run in meaning(window, records)
    ]


class Rises(WindowFunction):
    """A window for each rise of the price, to the second next one; in batches too: it resumes."""

    columns = ("price",)
    resumes = True

    def __init__(self) -> None:
        self.before, self.open = 0, 0

    def mark(self, time: int, record: Record) -> tuple[int, int]:
        rise, self.before = record["price"] > self.before, record["price"]
        ends = int(rise and self.open > 1)
        self.open += int(rise) - ends
        return ends, int(rise)

    def marks(self, times: Numbers, columns: Columns) -> tuple[Numbers, Numbers]:
        both = [self.mark(0, {"price": price}) for price in columns["price"].tolist()]
        # Lists do as well as arrays.
        return [ends for ends, _ in both], [begins for _, begins in both]  # type: ignore[return-value]

    def bounds(self, first: int, last: int) -> tuple[int, int]:
        return first - 1, last + 5


class WholeKeys(Rises):
    """In batches only for whole keys: a stream asks it record by record."""

    resumes = False

    def marks(self, times: Numbers, columns: Columns) -> tuple[Numbers, Numbers]:
        return Rises().marks(times, columns)


class Triggers(Policy):
    """A deterministic policy: every third record begins a window and ends the one before."""

    deterministic = True

    def __init__(self) -> None:
        self.seen = 0

    def trigger(self, time: int, record: Record) -> int:
        return int(self.seen > 0 and self.seen % 3 == 0)

    def evict(self, time: int, record: Record) -> int:
        self.seen += 1
        return int(self.seen % 3 == 1)


FUNCTIONS = [
    mt.user_window(lambda: SessionFunction(9, 40), id="session"),
    mt.user_window(lambda: PositionFunction(40, 15, 3), id="declared bounds"),
    mt.user_window(lambda: PriceSwitched(3, (40, 20), (20, 8)), id="price", columns=["price"]),
    mt.user_window(Rises),
    mt.user_window(WholeKeys),
    mt.user_window(Triggers),
]


def test_a_stream_from_history_goes_on_as_one_over_both_sides() -> None:
    """As one whose watermark stood at the instant where the history ends."""
    reached = Reached()

    @given(st.data(), st.lists(data_windows(), min_size=1, max_size=4), st.integers(1, 3))
    def each(data: st.DataObject, windows: list[DataWindow | Window], calls: int) -> None:
        sessions = any(isinstance(window, Session) for window in windows)
        batches = data.draw(arriving(odd=sessions))
        until = data.draw(st.integers(FIRST, max(r["t"] for b, _ in batches for r in b) + 9)) | 1
        past = [row for rows, _ in batches for row in rows if row["t"] < until]
        both, ours = Stream(spec_of(windows)), Stream(spec_of(windows, until=until))
        both.step(past, 0)
        before = both.step([], until)
        for part in range(calls):
            ours.begin(past[part::calls])
        assert all(row[3] <= until for row in before)
        later = [([r for r in rows if r["t"] >= until], w) for rows, w in batches]
        for rows, watermark in later:
            expected = both.step(rows, watermark)
            assert sorted_rows(ours.step(rows, watermark)) == sorted_rows(expected)
            reached["across"] += any(row[2] < until < row[3] for row in expected)
        reached["ended before"] += bool(before)
        reached["no history"] += not past

    each()
    reached.at_least(5, "across", "ended before", "no history")


def judged(windows: list[UserWindow], keys: dict[Any, Records]) -> list[tuple[Any, ...]]:
    """Record by record in process, whole keys at a time."""
    nodes = {window.id: node for node, window in enumerate(windows)}
    found = []
    for key, records in keys.items():
        numbered = {r["n"]: r for r in records}
        rows = evaluate(records, "t", windows, [TRAIL("n")])
        for id, start, end, trail in (tuple(row.values()) for row in rows):
            run = [numbered[int(n)] for n in trail.split()]
            found.append(row_of(key, nodes[id], start, end, run))
    return found


def test_functions_go_on_from_what_they_remember() -> None:
    reached = Reached()

    @given(st.data(), st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=3, unique=True))
    def each(data: st.DataObject, windows: list[UserWindow]) -> None:
        batches = [
            ([{**r, "price": r["price"] or 4} for r in rows], watermark)
            for rows, watermark in data.draw(arriving(odd=False))
        ]
        stream, found = Stream(spec_of([*windows, mt.count_window(3, 2)])), []
        for rows, watermark in batches:
            found += [row for row in stream.step(rows, watermark) if row[1] < len(windows)]
        assert sorted_rows(found) == sorted_rows(judged(windows, admitted(batches)))
        reached.update({windows[row[1]].id for row in found})

    each()
    reached.at_least(4, *(window.id for window in FUNCTIONS))


EVERY = 30
UNTIL = 3_000
"""How far time goes on: a policy that reports for ever would not end."""


def last_records(n: int, records: Records) -> list[tuple[int, int, list[int]]]:
    """Every so often the last n records, from the first record on: by the definition."""
    if not records:
        return []
    times, first = [r["t"] for r in records], records[0]["t"]
    found = []
    for due in range(first - first % EVERY + EVERY, UNTIL + 1, EVERY):
        run = [i for i, t in enumerate(times) if t < due][-n:]
        found.append((times[run[0]], times[run[-1]] + 1, run))
    return found


def test_policies_keep_records_in_state_and_report_as_time_passes() -> None:
    """Beside a count window, whose slices are cut at other records."""
    reached = Reached()
    sizes = (1, 3, 8)
    windows: list[Any] = [
        mt.user_window(lambda n=n: LastRecords(n, EVERY), id=f"last {n}")  # type: ignore[misc]
        for n in sizes
    ]

    @fewer
    @given(arriving(odd=False))
    def each(batches: list[tuple[Records, int]]) -> None:
        batches = [(rows, min(watermark, UNTIL)) for rows, watermark in batches]
        stream = Stream(spec_of([*windows, mt.count_window(5, 2)]))
        found = [row for rows, watermark in batches for row in stream.step(rows, watermark)]
        wanted = [
            row_of(key, node, start, end, [records[i] for i in run])
            for node, n in enumerate(sizes)
            for key, records in admitted(batches).items()
            for start, end, run in last_records(n, records)
        ]
        assert sorted_rows([row for row in found if row[1] < len(sizes)]) == sorted_rows(wanted)
        counted = expected([mt.count_window(5, 2)], admitted(batches))
        assert len([row for row in found if row[1] == len(sizes)]) == len(counted)
        most = from_bytes(stream.store["slices"]).num_rows
        assert most <= (max(sizes) + 1) * len(admitted(batches))
        reached["several batches"] += sum(bool(rows) for rows, _ in batches) > 2
        reached["dropped"] += bool(stream.dropped)

    each()
    reached.at_least(2, "several batches", "dropped")


def test_reports_that_follow_a_price_go_on_after_a_restart() -> None:
    window = mt.user_window(lambda: PriceDriven(3, (40, 20), (20, 8)), id="p", columns=["price"])
    reached = Reached()

    @fewer
    @given(arriving(odd=False))
    def each(batches: list[tuple[Records, int]]) -> None:
        batches = [
            ([{**r, "price": r["price"] or 4} for r in rows], min(watermark, UNTIL))
            for rows, watermark in batches
        ]
        stream = Stream(spec_of([window, mt.session("9 microseconds")]))
        found = [r for rows, w in batches for r in stream.step(rows, w) if r[1] == 0]
        keys = admitted(batches)
        ends = {key: [*rows, {**rows[-1], "t": UNTIL, "n": 10**9}] for key, rows in keys.items()}
        assert sorted_rows(found) == sorted_rows(judged([window], ends))
        reached["reports"] += len(found)

    each()
    reached.at_least(100, "reports")


def test_a_policy_that_keeps_too_much_is_named_with_its_bound() -> None:
    window = mt.user_window(lambda: LastRecords(50, EVERY), id="last 50", limit=7)
    stream = Stream(spec_of([window]))
    stream.step([record(1000 + i) for i in range(9)], 0)
    with pytest.raises(UserWindowError, match=r"'last 50' keeps 8 records, above the limit of 7"):
        stream.step([], 2000)


def test_functions_give_early_results_too() -> None:
    reached = Reached()

    @fewer
    @given(st.data(), st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=2, unique=True))
    def each(data: st.DataObject, windows: list[UserWindow]) -> None:
        batches = [
            ([{**r, "price": r["price"] or 4} for r in rows], watermark)
            for rows, watermark in data.draw(arriving(odd=False))
        ]
        streams = [Stream(spec_of(windows, update=update)) for update in (False, True)]
        closed: Counter[str] = Counter()
        keys, last = admitted(batches), 0
        for rows, watermark in batches:
            append, update = (Counter(map(repr, s.step(rows, watermark))) for s in streams)
            closed += append
            taken = {k: [r for r in each if r["t"] < watermark] for k, each in keys.items()}
            grown = {k: each for k, each in taken.items() if any(r["t"] >= last for r in each)}
            ends = [replace(window, incomplete=True) for window in windows]
            assert update - append == Counter(map(repr, judged(ends, grown))) - closed
            reached["early"] += (update - append).total() > 0
            last = max(last, watermark)

    each()
    reached.at_least(5, "early")


def record(t: int, key: str = "a", **more: Any) -> dict[str, Any]:
    plain = {"k": key, "t": t, "km": t, "price": 1, "go": False, "stop": False, "v": t, "n": t}
    return plain | more


def spans(rows: list[tuple[Any, ...]]) -> list[tuple[int, int, int]]:
    return [(start, end, count) for _, _, start, end, count, *_ in rows]


def test_a_record_just_a_gap_later_joins_its_session_if_it_has_come() -> None:
    """The end of a session is a watermark: Spark emits it then, unless it went on."""
    stream = Stream(spec_of([mt.session("10 microseconds")]))
    assert stream.step([record(100), record(110, "b"), record(100, "b")], 0) == []
    assert spans(stream.step([], 110)) == [(100, 110, 1)]
    assert stream.step([record(110)], 111) == []
    assert spans(stream.step([], 10**6)) == [(110, 120, 1), (100, 120, 2)]


def test_lateness_is_judged_by_the_batch_before_or_by_its_own() -> None:
    for late_now, dropped in ((False, 0), (True, 1)):
        stream = Stream(spec_of([mt.session("10 microseconds")], late_now=late_now))
        stream.step([record(100)], 0)
        stream.step([record(90)], 95)
        assert stream.dropped == dropped
        stream.step([record(94), record(95)], 95)
        assert stream.dropped == dropped + 1


def test_state_is_one_slice_for_a_long_session_and_nothing_when_it_ended() -> None:
    """Beside it a count window, which remembers how many records there were, and no record."""
    stream = Stream(spec_of([mt.session("10 microseconds"), mt.count_window(7)]))
    for start in range(0, 7_000, 700):
        stream.step([record(1000 + start + i) for i in range(700)], start)
    stream.step([], 7_999)
    assert from_bytes(stream.store["slices"]).num_rows == 2
    assert from_bytes(stream.store["open"]).num_rows == 2
    [row] = [r for r in stream.step([], 9_000) if r[1] == 0]
    assert row[2:5] == (1000, 8009, 7000)
    assert from_bytes(stream.store["slices"]).num_rows == 0
    assert not [name for name in stream.store if name.startswith("waiting")]
    before = dict(stream.store)
    assert stream.step([], 9_500) == []
    changed = {name for name, entry in stream.store.items() if before[name] != entry}
    assert changed == {"header"}


def test_keys_leave_when_nothing_of_them_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "SMALL", 3)
    stream, found = Stream(spec_of([mt.session("10 microseconds"), mt.count_window(2)])), []
    for i in range(12):
        pair = [record(1000 + 50 * i + j, f"k{i}", n=2 * i + j) for j in range(2)]
        stays = [record(1000 + 50 * i, "stays", n=100 + i)] if i % 4 == 0 else []
        found += stream.step([*pair, *stays], 960 + 50 * i)
        assert from_bytes(stream.store["keys"]).num_rows <= 6
    found += stream.step([], 10**6)
    sessions = [(key, count) for key, node, _, _, count, *_ in found if node == 0]
    assert sorted(sessions) == sorted([(f"k{i}", 2) for i in range(12)] + [("stays", 1)] * 3)
    counted = [(key, first) for key, node, _, _, _, _, first, *_ in found if node == 1]
    assert sorted(counted) == sorted([(f"k{i}", 2 * i) for i in range(12)] + [("stays", 100)])


def test_a_state_of_other_windows_functions_or_formats_is_refused() -> None:
    mine = mt.user_window(lambda: SessionFunction(9), id="mine")
    windows = [mt.session("10 microseconds"), mine]
    spec = spec_of(windows)
    stream = Stream(spec)
    stream.step([record(100)], 0)
    longer = [windows[0], mt.user_window(lambda: SessionFunction(8), id="mine")]
    for other, said in (
        (
            spec_of([mt.session("11 microseconds"), windows[1]]),
            "was written for the windows session 10",
        ),
        (spec_of(longer), "'gap': 9.*and the query has.*'gap': 8"),
        (spec_of(windows, named=("other",)), "for the keys key, and the query has other"),
        (spec_of(windows, ordered=("n",)), "for the order_by none, and the query has n"),
        (spec_of(windows, buckets=2), "over 1 buckets, and the query asks for 2"),
    ):
        with pytest.raises(StateError, match=said):
            StreamBucket(other, 0, stream.store)
    StreamBucket(spec_of([windows[0], replace(mine, limit=5)]), 0, stream.store)
    with pytest.raises(StateError, match=r"columns string, .*: cast them"):
        StreamBucket(spec, 0, stream.store).step([table([record(1)]).drop_columns("p3")], 0)
    with pytest.raises(StateError, match="was written for windows that the data decides"):
        Bucket(Spec((), (), ()), 0, stream.store)
    plain = json.loads(stream.store["header"]) | {"format": 1}
    stream.store["header"] = json.dumps(plain).encode()
    with pytest.raises(StateError, match="has format 1, and this query needs 'cutty 1'"):
        StreamBucket(spec, 0, stream.store)
    with pytest.raises(StateError, match="was not written by Muntin"):
        StreamBucket(spec, 0, MemoryStore(header=b"\x00pickle"))


class Sets(WindowFunction):
    def __init__(self) -> None:
        self.seen: Any = {1: 2}

    def mark(self, time: int, record: Record) -> tuple[int, int]:
        self.seen = {time}
        return 0, 1


class LateToFail(SessionFunction):
    def __init__(self) -> None:
        super().__init__(5)

    def timed_out(self) -> NoReturn:
        raise ZeroDivisionError("no time")


def test_what_json_cannot_hold_and_what_raises_is_named() -> None:
    spec = spec_of([mt.user_window(Sets)])
    with pytest.raises(UserWindowError, match=r"'Sets' remembers .*a dictionary key"):
        StreamBucket(spec, 0, MemoryStore())
    sets = mt.user_window(type("Sets", (Sets,), {"__init__": lambda self: None}))
    stream = Stream(spec_of([sets]))
    stream.step([record(100)], 0)
    with pytest.raises(UserWindowError, match=r"'Sets' remembers .*\{100\} is a set.*state\(\)"):
        stream.step([], 102)
    stream = Stream(spec_of([mt.user_window(LateToFail)]))
    stream.step([record(100)], 0)
    with pytest.raises(UserWindowError, match=r"'LateToFail' raised ZeroDivisionError.*time 500"):
        stream.step([], 500)
    stream = Stream(spec_of([mt.hopping_by("km", 5)]))
    stream.step([record(100, km=7), record(200, km=3)], 150)
    with pytest.raises(UserWindowError, match="km falls from 7 to 3 at time 200"):
        stream.step([], 250)

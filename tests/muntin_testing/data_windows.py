"""What each data window means, by its definition and nothing else; and random ones to try.

`meaning` lists, for the records of one key in order, the windows as (start, end, records), where
records are positions. It looks at all records at once and shares nothing with the functions.
"""

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

import muntin as mt
from muntin.model.data_windows import (
    CountWindow,
    DataWindow,
    Landmark,
    MeasureWindow,
    Punctuation,
    Session,
    Snapshot,
    Threshold,
)
from muntin.model.windows import Window

Records = list[dict[str, Any]]
Meaning = list[tuple[int, int, list[int]]]


@st.composite
def records_of_a_key(draw: st.DrawFn, most: int = 40) -> Records:
    """Records in order of time, with ties, nulls and a mileage that never falls."""
    time, km, records = draw(st.integers(-50, 50)), 0, []
    for _ in range(draw(st.integers(1, most) | st.integers(most // 2, most))):
        time += draw(st.sampled_from([0, 0, 1, 2, 5, 6, 7, 20]))
        km += draw(st.sampled_from([0, 1, 3, 12]))
        records.append(
            {
                "t": time,
                "v": draw(st.integers(-9, 9)),
                "km": draw(st.sampled_from([km, km, km, None])),
                "price": draw(st.sampled_from([None, 1, 2, 5, 9])),
                "go": draw(st.sampled_from([True, False, None])),
                "stop": draw(st.sampled_from([True, False, False, None])),
            }
        )
    return records


small, incomplete = st.integers(1, 12), st.booleans()
short, long = (st.integers(1, most).map(lambda n: timedelta(0, 0, n)) for most in (12, 30))
ordered = st.tuples(small, small).map(lambda pair: (max(pair), min(pair)))
KINDS: dict[str, st.SearchStrategy[DataWindow | Window]] = {
    "Window": st.builds(lambda p: mt.Window(p[0], p[1]), ordered),
    "Session": st.builds(mt.session, short, st.one_of(st.none(), long)),
    "CountWindow": st.builds(
        lambda p, i: mt.count_window(p[0], p[1], incomplete=i), ordered, incomplete
    ),
    "MeasureWindow": st.one_of(
        st.builds(lambda p, i: mt.hopping_by("km", p[0], p[1], incomplete=i), ordered, incomplete),
        st.builds(lambda p: mt.hopping_by("km", p[0] / 4, p[1] / 4), ordered),
    ),
    "Punctuation": st.builds(lambda i: mt.punctuation("go", incomplete=i), incomplete),
    "Snapshot": st.just(mt.snapshot()),
    "Landmark": st.builds(
        lambda until, length, i: mt.landmark("go", until, length, incomplete=i),
        st.sampled_from([None, "stop"]),
        st.one_of(st.none(), short),
        incomplete,
    ),
    "Threshold": st.builds(
        lambda by, i: mt.threshold("price", by, incomplete=i), st.integers(1, 6), incomplete
    ),
}
"""Windows of every kind, by the name of their class."""


def data_windows() -> st.SearchStrategy[DataWindow | Window]:
    """A window of any kind, each as often as any other."""
    return st.sampled_from(sorted(KINDS)).flatmap(lambda kind: KINDS[kind])


def meaning(window: DataWindow | Window, records: Records) -> Meaning:
    """The windows over these records, in order."""
    times = [r["t"] for r in records]
    match window:
        case Window():
            return _intervals(times, window.range, window.slide, window.offset)
        case Session():
            return _sessions(window, times)
        case CountWindow():
            runs = [list(range(i, i + window.range)) for i in range(0, len(times), window.slide)]
            whole = [[i for i in run if i < len(times)] for run in runs]
            kept = [w for w, run in zip(whole, runs, strict=True) if w == run or window.incomplete]
            return [_plain(run, times) for run in kept]
        case MeasureWindow():
            return _measured(window, records, times)
        case Punctuation():
            marks = [i for i, r in enumerate(records) if r["go"]]
            return _between(marks, times, window.incomplete)
        case Snapshot():
            return [
                (t, t + 1, [i for i, s in enumerate(times) if s == t]) for t in sorted({*times})
            ]
        case Landmark():
            return _landmarks(window, records, times)
        case Threshold():
            return _between(_moved(window, records), times, window.incomplete)
    raise AssertionError(window)


def _plain(run: list[int], times: list[int]) -> tuple[int, int, list[int]]:
    return times[run[0]], times[run[-1]] + 1, run


def _between(marks: list[int], times: list[int], incomplete: bool) -> Meaning:
    ends = [*marks[1:], *([len(times)] if incomplete else [])]
    return [_plain(list(range(a, b)), times) for a, b in zip(marks, ends, strict=False)]


def _intervals(times: list[int], length: int, slide: int, offset: int) -> Meaning:
    found = []
    for m in range((min(times) - length) // slide - 2, max(times) // slide + 2):
        start = m * slide + offset
        inside = [i for i, t in enumerate(times) if start <= t < start + length]
        if inside:
            found.append((start, start + length, inside))
    return found


def _sessions(window: Session, times: list[int]) -> Meaning:
    runs: list[list[int]] = []
    reach = window.maximum or 10**9
    for i, t in enumerate(times):
        pause = not runs or t - times[i - 1] > window.gap
        full = (
            bool(runs) and window.maximum is not None and t - times[runs[-1][0]] >= window.maximum
        )
        if pause or full:
            runs.append([])
        runs[-1].append(i)
    reach = window.maximum or 10**9
    return [(times[r[0]], min(times[r[-1]] + window.gap, times[r[0]] + reach), r) for r in runs]


def _measured(window: MeasureWindow, records: Records, times: list[int]) -> Meaning:
    known: list[Any] = []
    for r in records:
        known.append(r["km"] if r["km"] is not None else known[-1] if known else None)
    reached = [k for k in known if k is not None]
    found = []
    for m in range(-200, int(max(reached, default=0) / window.slide) + 2):
        low, high = m * window.slide, m * window.slide + window.range
        run = [i for i, k in enumerate(known) if k is not None and low <= k < high]
        if run and (window.incomplete or reached[-1] >= high):
            found.append(_plain(run, times))
    return found


def _landmarks(window: Landmark, records: Records, times: list[int]) -> Meaning:
    found = []
    for i, record in enumerate(records):
        if not record["go"]:
            continue
        stops = [
            j
            for j in range(i + 1, len(records))
            if (window.until and records[j]["stop"])
            or (window.length and times[j] >= times[i] + window.length)
        ]
        if stops or window.length or window.incomplete:
            found.append(_plain(list(range(i, (stops or [len(times)])[0])), times))
    return found


def _moved(window: Threshold, records: Records) -> list[int]:
    marks: list[int] = []
    anchor = None
    for i, r in enumerate(records):
        price = r["price"]
        if not marks or (
            price is not None and anchor is not None and abs(price - anchor) >= window.by
        ):
            marks.append(i)
            anchor = price
        elif anchor is None:
            anchor = price
    return marks

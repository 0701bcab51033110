"""Every number that a public function takes, given numbers that cannot be: a sentence, or rows.

Options are found by introspection over public signatures: one without a line in `CALLS` fails here,
so that a new one cannot be forgotten. What is accepted is also run, on a table of three rows.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import muntin as mt
from muntin.api.engine import engine_of
from muntin.cost.statistics import LARGEST, SMALLEST
from muntin.engines.spark.streaming import Streaming
from muntin.incremental import TECHNIQUES
from muntin.model.durations import LONGEST
from muntin_testing.public_api import public_calls
from muntin_testing.watchdog import watchdog

NUMBERS = {
    **{str(n): n for n in (0, -1, 1, 0.5, nan, inf, -inf, 1e308, 5e-324, None, True)},
    **{"huge": 10**400, "unprintable": -(10**5000), "text": "text", "digits": "7", "list": [1]},
    **{"nan of NumPy": np.float64("nan"), "NaT": np.timedelta64("NaT"), "complex": 1j},
}
EVENTS = pd.DataFrame(
    {
        "ts": pd.to_datetime(["2024-01-01 00:00:00", "2024-01-01 00:00:01", "1969-12-31 23:00:00"]),
        "v": [1, 2, 3],
        "go": [True, False, True],
    }
)
HOUR = mt.tumbling("1 hour")
QUERY = mt.query("ts", [HOUR, mt.hopping("3 hours", "1 hour")], [mt.sum("v")], keys="go")
PLAN = mt.optimize(QUERY)
PLANS = mt.optimize(queries={"one": QUERY})
TEXT = "SELECT sum(v) AS s FROM Input TIMESTAMP BY ts GROUP BY TumblingWindow(hour, 1)"


def windowed(make: Callable[..., Any], **given: Any) -> Callable[..., Any]:
    """The window, planned and run beside an hour."""

    def run(**options: Any) -> Any:
        windows = [make(**(given | options)), mt.tumbling("1 hour", id="beside")]
        found = mt.query("ts", windows, [mt.sum("v")])
        mt.optimize(found, engine="stream").explain()
        return mt.aggregate(EVENTS, "ts", windows, [mt.sum("v")])

    return run


def trailed(make: Callable[..., Any] = mt.trailing, **options: Any) -> Any:
    """The trailing window, run; one of an hour unless another is given."""
    own = make is mt.trailing and not {"duration", "rows"} & options.keys()
    given = {"duration": "1 hour"} if own else {}
    return mt.as_of(EVENTS, "ts", [make(**(given | options))], [mt.sum("v")])


def aggregated(make: Callable[..., Any], **given: Any) -> Callable[..., Any]:
    def run(**options: Any) -> Any:
        made = make(**(given | options))
        return mt.optimize(mt.query("ts", [HOUR], [made])).to_sql("spark")

    return run


def planned(**options: Any) -> str:
    return mt.optimize(QUERY, statistics=mt.Statistics(**options)).explain()


def of_custom(**options: Any) -> Any:
    parts: Any = {"lift": lambda v: v, "combine": max, "lower": lambda v: v, "identity": 0}
    return mt.custom("most", **parts, **options)("v")


def stream_of(options: dict[str, Any]) -> Streaming:
    """What a stream would be told."""
    names = ("watermark", "buckets", "future", "allowed_lateness", "fill_for")
    told = {name: options[name] for name in names if name in options}
    if "fill_for" in told:
        told["empty"] = "fill"
    return Streaming(**told)


def aggregate(**options: Any) -> Any:
    found = mt.aggregate(EVENTS, "ts", [HOUR], [mt.sum("v")], **options)
    stream_of(options)
    return found


def explained(**options: Any) -> Any:
    plan = mt.explain(EVENTS, "ts", [HOUR], [mt.sum("v")], **options)
    stream_of(options)
    return plan.explain()


def served(**options: Any) -> Any:
    found = mt.as_of(EVENTS, "ts", ["1 hour"], [mt.sum("v")], **options)
    stream_of(options)
    return found


def stream_only(**options: Any) -> Any:
    return Streaming(**options)


def technique(cls: type) -> Callable[..., Any]:
    def run(ranges: Any) -> Any:
        with suppress(mt.MuntinError):
            cls(mt.sum("v"), ranges=[3]).query(ranges)
        with suppress(mt.MuntinError):
            cls(mt.sum("v"), ranges=ranges)
        made = cls(mt.sum("v"), ranges=[ranges])
        made.insert(1)
        return made.query(ranges)

    return run


CALLS: dict[str, Callable[..., Any]] = {
    "mt.Control": lambda **o: mt.Control(Path("unmade"), **o),
    "mt.Statistics": planned,
    "mt.Window": windowed(mt.Window, range=10**9, slide=10**8, offset=0),
    "mt.aggregate": aggregate,
    "mt.as_of": served,
    "mt.approx_count_distinct": aggregated(mt.approx_count_distinct, value="v"),
    "mt.approx_percentile": aggregated(mt.approx_percentile, value="v"),
    "mt.count_window": windowed(mt.count_window, range=5),
    "mt.custom": of_custom,
    "mt.distinct": stream_only,
    "mt.explain": explained,
    "mt.hopping": windowed(mt.hopping, range="5 hours", slide="5 hours"),
    "mt.hopping_by": windowed(mt.hopping_by, measure="v", range=5),
    "mt.join": stream_only,
    "mt.landmark": windowed(mt.landmark, predicate="go"),
    "mt.optimize": lambda **o: mt.optimize(QUERY, **o).explain(),
    "mt.percentile": aggregated(mt.percentile, value="v"),
    "mt.session": windowed(mt.session, gap="5 hours"),
    "mt.sql": lambda **o: mt.sql(TEXT, Input=EVENTS, **o),
    "mt.statistics": lambda **o: mt.statistics(EVENTS, QUERY, **o),
    "mt.threshold": windowed(mt.threshold, value="v"),
    "mt.trailing": trailed,
    "mt.lifetime": lambda **o: trailed(mt.lifetime, **o),
    "mt.tumbling": windowed(mt.tumbling, range="5 hours"),
    "mt.user_window": lambda **o: mt.user_window(dict, **o),
    "plan.apply": lambda **o: (PLAN.apply(EVENTS, **o), Streaming(**o)),
    "plan.bind": lambda **o: (PLAN.bind(engine_of(EVENTS), EVENTS, **o), Streaming(**o)),
    "plans.apply": lambda **o: (PLANS.apply(EVENTS, **o), Streaming(**o)),
    "plan.replan": lambda **o: repr(PLAN.replan(**o)),
    **{f"mt.incremental.{t.__name__}": technique(t) for t in TECHNIQUES.values()},
}
MADE_BY_US = {"mt.Plan"}
"""Values that a user is given and does not make."""


def numeric() -> list[tuple[str, str]]:
    """Every option that takes a number or a duration, by its call."""
    found = [
        (call.typed, name)
        for call in public_calls()
        for name, option in call.options.items()
        if re.search(r"\b(int|float|Duration)\b", str(option.annotation))
        and call.typed not in MADE_BY_US
    ]
    return list(dict.fromkeys(found))  # overloads have the same options


def test_every_number_of_the_public_functions_is_known_here() -> None:
    assert len(numeric()) > 40
    assert {typed for typed, _ in numeric()} == set(CALLS)


@pytest.mark.parametrize(("typed", "name"), numeric())
def test_a_number_that_cannot_be_gets_a_sentence(typed: str, name: str) -> None:
    refused = 0
    for label, number in NUMBERS.items():
        with watchdog(60, f"{typed}({name}={label})"):
            try:
                CALLS[typed](**{name: number})
            except mt.MuntinError as error:
                refused += 1
                sentence = str(error)
            except Exception as error:
                pytest.fail(f"{typed}({name}={label}) traces: {error!r}"[:500])
            else:
                continue
        assert len(sentence) < 400, f"{typed}({name}={label})"
    assert refused >= 5, "what is tried must be wrong"


@pytest.mark.parametrize("rate", [SMALLEST, LARGEST])
@pytest.mark.parametrize("rows", [SMALLEST, LARGEST])
@pytest.mark.parametrize("keys", [1, LARGEST])
@pytest.mark.parametrize("engine", ["spark", "stream", "sql", "duckdb"])
def test_statistics_at_their_limits_are_planned_with(
    rate: float, rows: float, keys: float, engine: Any
) -> None:
    known = mt.Statistics(rows, keys, rate)
    for cost in ("seconds", "rate", "paper", "weave"):
        with watchdog(60, f"optimize by {cost} for {known}"):
            plan = mt.optimize(QUERY, cost=cost, engine=engine, statistics=known)
            assert plan.cost < inf
            assert "nan" not in plan.explain()


@pytest.mark.parametrize(
    "windows",
    [
        [mt.Window(LONGEST, LONGEST), HOUR],
        [mt.Window(LONGEST, LONGEST, LONGEST - 1), HOUR],
        [mt.Window(LONGEST, LONGEST - 1), HOUR],
        [mt.Window(1, 1), mt.Window(LONGEST, LONGEST)],
        [mt.Window(LONGEST // 1000, LONGEST // 100_000), mt.tumbling("7 days")],
    ],
    ids=lambda windows: windows[0].id,
)
def test_windows_at_their_limits_run(windows: list[mt.Window]) -> None:
    with watchdog(60, windows[0].id):
        found = mt.aggregate(EVENTS, "ts", windows, [mt.sum("v").alias("s")])
    for window in windows:
        own = found[found.window_id == window.id]
        assert set(own.s) <= {1, 2, 3, 4, 5, 6}
        instances = {s for t in EVENTS.ts.astype("int64") // 1000 for s in window.instances_of(t)}
        assert len(own) == len(instances)

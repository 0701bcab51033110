"""Every way to compute trailing windows in process, and how a question is asked of Muntin."""

from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

import muntin as mt
from conformance.cases import SCHEMA
from conformance.comparison import TOLERANCE, plain
from conformance.trailing import Question
from muntin.aggregates import aggregate_named
from muntin_testing.reached import Reached
from muntin_testing.values import same

Result = list[dict[str, Any]]
Runner = Callable[[Question], Result]
EVENTS = pa.schema([field.with_name("at") if field.name == "ts" else field for field in SCHEMA])


def arguments(question: Question) -> dict[str, Any]:
    """The arguments of mt.as_of, but for the tables."""
    windows = []
    for i, window in enumerate(question.windows):
        if window.duration is None and window.rows is None:
            windows.append(mt.lifetime(window.delay, id=f"w{i}"))
        else:
            windows.append(mt.trailing(window.duration, window.delay, f"w{i}", rows=window.rows))
    aggregates = []
    for i, (call, only) in enumerate(question.calls):
        made = aggregate_named(call.function, *call.arguments).alias(f"a{i}")
        aggregates.append(made.filter(only[0]) if only else made)
    ordered = any(window.rows is not None for window in question.windows)
    return {
        "time": "ts",
        "keys": list(question.keys),
        "windows": windows,
        "aggregates": aggregates,
        "where": question.where[0] if question.where else None,
        "closed": question.closed,
        "order_by": ["o"] if ordered else [],
        "events_time": "at" if question.events is not None else None,
        "grain": question.grain,
    }


def tables(question: Question) -> list[Any]:
    """The rows, and the other events if there are any."""
    rows = pa.Table.from_pylist(list(question.rows), SCHEMA)
    if question.events is None:
        return [rows, None]
    return [rows, pa.Table.from_pylist(list(question.events), EVENTS)]


def by_arrow(question: Question) -> Result:
    """An Arrow table in, an Arrow table out."""
    rows, events = tables(question)
    return list(mt.as_of(rows, events=events, **arguments(question)).to_pylist())


def by_pandas(question: Question) -> Result:
    """A pandas DataFrame in, a pandas DataFrame out."""
    whole = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}
    rows, events = [
        None if table is None else table.to_pandas(types_mapper=whole.get)
        for table in tables(question)
    ]
    found: Any = mt.as_of(rows, events=events, **arguments(question))
    return list(found.to_dict("records"))


def by_relation(question: Question) -> Result:
    """A DuckDB relation in, a relation out."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        rows, events = [t if t is None else connection.from_arrow(t) for t in tables(question)]
        found: Any = mt.as_of(rows, events=events, **arguments(question))
        return list(found.to_arrow_table().to_pylist())


IN_PROCESS: dict[str, Runner] = {
    "arrow": by_arrow,
    "pandas": by_pandas,
    "relation": by_relation,
}


def differences(question: Question, found: Result) -> list[str]:
    """What differs from brute force: rows that changed, and features that are not the same."""
    wanted = question.features()
    if len(found) != len(wanted):
        return [f"{len(found)} rows, {len(wanted)} given"]
    wrong = []
    for row, own, features in zip(question.rows, found, wanted, strict=True):
        if any(plain(own[name]) != row[name] for name in row if name != "ts"):
            wrong.append(f"{row} became {own}")
        for name, value in features.items():
            ours = plain(own[name]) if not isinstance(own[name], list) else own[name]
            if not same(ours, value, TOLERANCE):
                wrong.append(f"{row} {name}: {ours!r}, the oracle's {value!r}")
    return wrong


def note(question: Question, reached: Reached) -> None:
    """Count what a question is about."""
    times = [row["ts"] for row in question.rows]
    known = [time for time in times if time is not None]
    features = [value for row in question.features() for value in row.values()]
    reached[question.closed] += 1
    reached["other events"] += question.events is not None
    reached["no events"] += question.events == ()
    reached["ties"] += len(set(known)) < len(known)
    reached["null times"] += None in times
    reached["before 1970"] += any(time < 0 for time in known)
    reached["rows"] += any(window.rows is not None for window in question.windows)
    reached["lifetime"] += any(w.rows is None and w.duration is None for w in question.windows)
    reached["delay"] += any(window.delay is not None for window in question.windows)
    reached["grain"] += question.grain is not None
    reached["where"] += question.where is not None
    reached["filter"] += any(only is not None for _, only in question.calls)
    reached["features"] += sum(value not in (None, 0, []) for value in features)


KINDS = (
    *("left", "right", "both", "none", "other events", "no events", "ties", "null times"),
    *("before 1970", "rows", "lifetime", "delay", "grain", "where", "filter", "features"),
)

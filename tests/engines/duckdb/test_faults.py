"""Whatever is wrong with a query or a table in process gets a sentence: nothing of DuckDB leaks."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import muntin as mt
from muntin.engines.duckdb import connect

WINDOWS = [mt.tumbling("1 hour"), mt.hopping("1 hour", "20 minutes")]
TABLE = pa.table(
    {
        "ts": pa.array([n * 1_000_000 for n in range(9)], pa.timestamp("us")),
        "key": ["a", "b", None] * 3,
        "v": list(range(9)),
        "w": [n % 3 for n in range(9)],
        "big": [2**62] * 9,
        "word": ["abc"] * 9,
        "list": [[1, 2]] * 9,
        "huge": [Decimal("9" * 36 + ".99")] * 9,
    }
)


def asked(*aggregates: mt.Aggregate, **changes: Any) -> mt.Query:
    parts: dict[str, Any] = {"time": "ts", "keys": "key", "windows": WINDOWS}
    parts["aggregates"] = aggregates or [mt.count()]
    return mt.query(**(parts | changes))


BOUND: dict[str, tuple[mt.Query, str]] = {
    "time missing": (asked(time="tz"), r"^time 'tz' is not a column: known: ts"),
    "time a text": (asked(time="word"), r"^time column 'word' is VARCHAR, not a timestamp"),
    "key missing": (asked(keys="kee"), r"^key 'kee' is not a column: did you mean 'key'\?"),
    "where a typo": (
        asked(where="wird > 1"),
        r"^where 'wird > 1' cannot be evaluated: .*'wird' is not a column: did you mean 'word'\?",
    ),
    "where a number": (asked(where="v"), r"^where 'v' cannot be evaluated: it is BIGINT.*BOOLEAN"),
    "where an aggregate": (asked(where="max(v) > 1"), r"^where 'max.* cannot hold an aggregate"),
    "where of types": (asked(where="word > 3"), r"^where 'word > 3' cannot be evaluated: "),
    "where cut short": (asked(where="v >"), r"^where 'v >' cannot be read as one SQL condition"),
    "input missing": (asked(mt.sum("nope")), r"^input 'nope' cannot be computed: "),
    "input an aggregate": (asked(mt.sum("max(v)")), r"^input 'max\(v\)' .*cannot hold an aggreg"),
    "input of windows": (
        asked(mt.sum("row_number() OVER (ORDER BY v)")),
        r"^input 'row_number\(\).* cannot be computed",
    ),
    "input of many rows": (asked(mt.sum("explode(list)")), r"^input 'explode.* cannot be computed"),
    "input of no function": (
        asked(mt.sum("nosuch(v)")),
        r"^input 'nosuch\(v\)' cannot be computed",
    ),
    "input of types": (asked(mt.max("list + 1")), r"^input 'list \+ 1' cannot be computed"),
    "filter missing": (asked(mt.count().filter("nope > 1")), r"^filter 'nope > 1' cannot be comp"),
    "filter a number": (asked(mt.count().filter("v")), r"^filter 'v' cannot be .*BOOLEAN"),
    "filter a pair": (asked(mt.count().filter("v").filter("w")), r"^filter .* cannot be computed"),
    "a sum of text": (asked(mt.sum("word")), r"^sum\(word\) cannot be computed"),
    "a sum of lists": (asked(mt.count(), mt.sum("list")), r"^sum\(list\) cannot be computed"),
    "truth of a number": (asked(mt.bool_and("v")), r"^bool_and\(v\) cannot be .*takes booleans"),
    "bits of a float": (asked(mt.bit_and("v / 2")), r"^bit_and\(v / 2\) cannot be computed"),
    "a median": (asked(mt.median("v")), r"^median\(v\) has no partials"),
    "a window's typo": (
        asked(windows=[mt.punctuation("nope")]),
        r"^window input 'nope' cannot be computed",
    ),
    "a window of a number": (asked(windows=[mt.punctuation("v")]), r"'v' must be a condition"),
    "a measure in words": (asked(windows=[mt.hopping_by("word", 3)]), r"must be a number"),
    "order missing": (
        asked(windows=[mt.session("1 hour")], order_by="nope"),
        r"^order_by 'nope' is not a column",
    ),
}
"""What DuckDB refuses when the query is read, also where a relation would be computed later."""

RUN: dict[str, tuple[mt.Query, str]] = {
    "a sum too large": (asked(mt.count(), mt.sum("big")), r"^sum\(big\) .*does not fit its type"),
    "a session's sum": (
        asked(mt.sum("big"), windows=[mt.session("1 hour")]),
        r"^sum\(big\) cannot be computed: a value does not fit its type",
    ),
    "an input too large": (asked(mt.max("big * 4")), r"^max\(big \* 4\) cannot .*Overflow"),
    "a decimal too large": (asked(mt.avg("huge * 99")), r"^avg\(huge \* 99\) cannot be computed"),
    "divided by zero": (asked(mt.max("v / w")), r"^max\(v / w\) .*division by zero: .*try_divide"),
    "zero within": (asked(mt.max("2 / w / (v + 1)")), r"^max\(2 / w .*division by zero: .*try_"),
    "zero below": (asked(mt.max("8 / (v / w)")), r"^max\(8 / .*division by zero: .*try_divide"),
    "a float by zero": (asked(mt.max("v / 2 / w")), r"^max\(v / 2 / w\) .*division by zero"),
    "a remainder by zero": (asked(mt.max("v % w")), r"^max\(v % w\) .*division by zero"),
    "whole by zero": (asked(mt.max("v div w")), r"^max\(v div w\) .*division by zero"),
    "where by zero": (asked(where="v / w > 1"), r"^where 'v / w > 1' cannot .*division by zero"),
    "filter by zero": (
        asked(mt.count().filter("v / w > 1").alias("n")),
        r"^n cannot be computed: .*division by zero",
    ),
    "a bad cast": (asked(mt.sum("CAST(word AS INT)")), r"^sum\(CAST.* cannot .*'abc'"),
    "a bad cast in where": (
        asked(where="CAST(word AS INT) = 1"),
        r"^where 'CAST.* cannot be evaluated: .*'abc'",
    ),
    "a bad cast in a window": (
        asked(windows=[mt.punctuation("CAST(word AS INT) = 1")]),
        r"cannot be computed: .*'abc'",
    ),
}
"""What fails over values, when rows are computed."""


def in_duckdb(table: pa.Table) -> Any:
    return connect().from_arrow(table)


KINDS: dict[str, Callable[[pa.Table], Any]] = {
    "arrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "relation": in_duckdb,
}


def unanswered(data: Any, cases: dict[str, tuple[mt.Query, str]]) -> list[str]:
    """The cases that do not get their sentence, from any public call, in words."""
    wrong = []
    for number, (name, (query, pattern)) in enumerate(cases.items()):
        plan = mt.optimize(query, "auto" if query.data_windows else "direct", engine="sql")
        calls: dict[str, Callable[[], Any]] = {"apply": lambda plan=plan: plan.apply(data)}  # type: ignore[misc]
        if not query.data_windows and number % 4 == 0:
            calls["verify"] = lambda plan=plan: mt.verify(data, plan)  # type: ignore[misc]
        for call, run in calls.items():
            try:
                run()
                wrong.append(f"{name}, {call}: no error")
            except mt.MuntinError as error:
                sentence = str(error)
                told = call == "verify" and "cannot be computed" in sentence
                if "\n" in sentence or not (told or re.search(pattern, sentence)):
                    wrong.append(f"{name}, {call}: {error}")
            except Exception as error:
                wrong.append(f"{name}, {call}: {type(error).__name__}: {str(error)[:200]}")
    return wrong


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_read_gets_its_sentence(kind: str) -> None:
    assert unanswered(KINDS[kind](TABLE), BOUND) == []


@pytest.mark.parametrize("kind", ["arrow", "pandas"])
def test_what_fails_over_values_gets_its_sentence(kind: str) -> None:
    assert unanswered(KINDS[kind](TABLE), RUN) == []


def test_several_queries_name_what_fails() -> None:
    queries = {"a": asked(mt.sum("big")), "b": asked(mt.count(), where="v > 1")}
    for deliver in ("one", "dict"):
        with pytest.raises(mt.MuntinError, match=r"^sum\(big\) cannot be computed"):
            mt.aggregate(TABLE, queries=queries, deliver=deliver)
    with pytest.raises(mt.MuntinError, match="cannot be computed"):
        mt.statistics(TABLE, asked(mt.count(), where="v / w > 1"))


def test_a_relation_of_a_closed_connection_says_so() -> None:
    connection = duckdb.connect()
    relation = connection.from_arrow(TABLE)
    connection.close()
    with pytest.raises(mt.MuntinError, match=r"the table cannot be read: .*closed"):
        mt.aggregate(relation, "ts", WINDOWS, [mt.count()])


def test_division_is_as_in_spark_where_it_succeeds() -> None:
    query = asked(
        mt.sum("v / nullif(w, 0)").alias("a"),
        mt.sum("try_divide(v, w)").alias("b"),
        mt.count("CAST(NULL AS INT) / w").alias("c"),
        mt.sum("v / 2").alias("d"),
        windows=WINDOWS[:1],
        keys=(),
    )
    [row] = mt.optimize(query).apply(TABLE).to_pylist()
    assert [row[name] for name in "abcd"] == [1 + 1 + 4 + 2.5 + 7 + 4, 19.5, 0, 18.0]


@pytest.mark.parametrize("twin", ["v", "V"])
@pytest.mark.parametrize("kind", KINDS)
def test_two_columns_of_one_name_are_refused_where_they_are_read(kind: str, twin: str) -> None:
    data: Any = TABLE.append_column(twin, TABLE["w"])
    if kind == "pandas":
        frame = TABLE.to_pandas()
        data = pd.concat([frame, frame["w"].rename(twin)], axis=1)
    elif kind == "relation":
        data = in_duckdb(TABLE).project(f"*, w AS {twin}")
    for query in (
        asked(mt.sum("v")),
        asked(mt.max("w").filter("V > 1")),
        asked(where="v > 1"),
        asked(keys="v"),
        asked(windows=[mt.punctuation("v > 1")]),
    ):
        with pytest.raises(mt.MuntinError, match=r"is ambiguous: the table has \['v', '[vV]'\]"):
            mt.optimize(query).apply(data)
    other = mt.optimize(asked(mt.sum("w"), where="big > 1"), "direct").apply(data)
    result = other.to_arrow_table() if kind == "relation" else other
    assert len(result) == len(mt.optimize(asked(mt.sum("w")), "direct").apply(TABLE))


def test_columns_of_no_use_may_be_of_any_kind() -> None:
    frame = TABLE.to_pandas().assign(
        mixed=[1, "a", None] * 3, when=pd.period_range("2024", periods=9)
    )
    assert len(mt.aggregate(frame, "ts", WINDOWS, [mt.sum("v")], "key"))
    with pytest.raises(mt.MuntinError, match=r"column 'mixed' \(object\) cannot be read: .*astype"):
        mt.aggregate(frame, "ts", WINDOWS, [mt.max("mixed")])


def test_nanoseconds_are_kept_or_refused() -> None:
    odd = pd.to_datetime([1, 1_001], unit="ns", utc=True)
    frame = pd.DataFrame({"ts": odd, "late": odd, "length": pd.to_timedelta([1, 2], unit="ns")})
    found = mt.aggregate(frame, "ts", [mt.tumbling("1 hour")], [mt.max("late"), mt.min("ts")])
    assert found["max(late)"][0].value == 1_001
    assert found["min(ts)"][0].value == 1
    with pytest.raises(mt.MuntinError, match=r"column 'length' is duration\[ns\], which cannot be"):
        mt.aggregate(frame, "ts", [mt.tumbling("1 hour")], [mt.max("length")])


def test_a_mean_of_long_decimals_is_exact() -> None:
    value = Decimal("12345678901234567890123456.789012")
    table = pa.table(
        {
            "ts": TABLE["ts"].slice(0, 3),
            "d": [value, value, Decimal("-6172839450617283945061728.394506")],
        }
    )
    query = mt.query("ts", WINDOWS[:1], [mt.avg("d")])
    [row] = mt.optimize(query).apply(table).to_pylist()
    assert row["avg(d)"] == Decimal("6172839450617283945061728.394506")

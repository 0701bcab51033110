"""SQL that users write as text stays in its place, wherever it is put, in text and in process."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muntin as mt
from muntin.aggregates.algebra import both_hold
from muntin.aggregates.expression_text import incomplete, without_comments
from muntin.dialects.expressions import parse_expression
from muntin.engines.duckdb import connect
from muntin_testing.expressions import ALIASED, ESCAPES, MEANS_V_ABOVE_1, WORDS

HOUR = [mt.tumbling("1 hour")]
TABLE = pa.table(
    {
        "ts": pa.array([n * 1_000_000 for n in range(10)], pa.timestamp("us")),
        "v": list(range(10)),
        "word": ["a"] * 10,
    }
)
ABOVE_1 = 8
Asked = Callable[[str], mt.Query]

CONDITIONS: dict[str, Asked] = {
    "where": lambda text: mt.query("ts", HOUR, [mt.count().alias("n")], where=text),
    "filter": lambda text: mt.query("ts", HOUR, [mt.count().filter(text).alias("n")]),
    "part of a ratio": lambda text: mt.query(
        "ts", HOUR, [mt.ratio(mt.count().filter(text), mt.count("1").filter("v = 0")).alias("n")]
    ),
    "argument": lambda text: mt.query("ts", HOUR, [mt.count_if(text).alias("n")]),
    "filtered argument": lambda text: mt.query(
        "ts", HOUR, [mt.count_if(text).filter("v >= 0").alias("n")]
    ),
}
"""Where a condition may stand, so that the result counts the rows for which it holds."""

FILTERED_TWICE: Asked = lambda text: mt.query(  # noqa: E731
    "ts", HOUR, [mt.count().filter("v < 99").filter(text).alias("n")]
)
WINDOWS: dict[str, Callable[[str], Any]] = {
    "punctuation": mt.punctuation,
    "landmark": mt.landmark,
    "until": lambda text: mt.landmark("v = 0", until=text),
    "measure": lambda text: mt.hopping_by(text, 5),
    "threshold": lambda text: mt.threshold(text, by=3),
    "column": lambda text: mt.user_window(lambda: None, columns=[text]),
}
NAMES: dict[str, Asked] = {
    "key": lambda text: mt.query("ts", HOUR, [mt.count()], text),
    "time": lambda text: mt.query(text, HOUR, [mt.count()]),
    "order_by": lambda text: mt.query("ts", [mt.session("1 hour")], [mt.count()], order_by=text),
}


@cache
def relation() -> Any:
    return connect().from_arrow(TABLE)


def rows(query: mt.Query) -> list[dict[str, Any]]:
    plan = mt.optimize(query, "auto" if query.data_windows else "direct", engine="sql")
    found: list[dict[str, Any]] = plan.apply(relation()).to_arrow_table().to_pylist()
    return found


@pytest.mark.parametrize("place", CONDITIONS)
def test_no_text_leaves_its_place(place: str) -> None:
    for text in (*ESCAPES, *ALIASED):
        with pytest.raises(mt.MuntinError):
            pytest.fail(f"{text!r} gave {rows(CONDITIONS[place](text))}")
        if incomplete(text) and place in ("where", "filter"):
            with pytest.raises(mt.MuntinError, match="is not one complete SQL expression"):
                CONDITIONS[place](text)


def test_no_text_leaves_its_place_beside_another() -> None:
    refused = [text for text in ESCAPES if incomplete(text)]
    assert len(refused) > 15
    for text in refused:
        with pytest.raises(mt.MuntinError, match="is not one complete SQL expression"):
            FILTERED_TWICE(text)


@pytest.mark.parametrize("place", WINDOWS)
def test_no_text_of_a_window_leaves_its_place(place: str) -> None:
    for text in ESCAPES:
        with pytest.raises(mt.MuntinError):
            rows(mt.query("ts", [WINDOWS[place](text)], [mt.count()]))


@pytest.mark.parametrize("place", NAMES)
def test_names_are_names(place: str) -> None:
    for text in (*ESCAPES, "v + 1", "v > 0"):
        with pytest.raises(mt.MuntinError, match="is not a column"):
            rows(NAMES[place](text))


def test_brackets_and_quotes_in_strings_and_comments_are_harmless() -> None:
    texts = [text for text in MEANS_V_ABOVE_1 if "->" not in text]  # which DuckDB writes otherwise
    assert len(texts) > 20
    for text in texts:
        assert [row["n"] for row in rows(CONDITIONS["where"](text))] == [ABOVE_1], text
    for asked in (*(CONDITIONS[place] for place in CONDITIONS if place != "where"), FILTERED_TWICE):
        aggregates = [asked(text).aggregates[0].alias(f"{i}") for i, text in enumerate(texts)]
        [row] = rows(mt.query("ts", HOUR, aggregates))
        assert [row[f"{i}"] for i, _ in enumerate(texts)] == [ABOVE_1] * len(texts)


def test_a_text_as_written_in_a_job() -> None:
    with pytest.raises(mt.MuntinError, match=r"filter 'a\) or \(b' is not one complete"):
        mt.aggregates.parse_aggregate("count(*) filter (where a) or (b) as n")


reached: Counter[str] = Counter()


@settings(max_examples=400)
@given(st.lists(st.sampled_from(WORDS), max_size=8).map("".join), st.sampled_from(WORDS))
def _joined(text: str, other: str) -> None:
    if incomplete(text) is not None:
        reached["incomplete"] += 1
        return
    reached["complete"] += 1
    assert incomplete(without_comments(text)) is None
    assert incomplete(f"({text}\n)") is None
    both = both_hold(text, "v > 0")
    assert both is not None
    assert incomplete(both) is None
    alone = parse_expression(text)
    if alone is not None:
        reached["parsed"] += 1
        tree = parse_expression(both)
        assert tree is not None
        assert tree.this.this == alone
        assert tree.expression.this == parse_expression("v > 0")


def test_complete_texts_stay_apart_when_they_are_joined() -> None:
    reached.clear()
    _joined()
    assert min(reached[kind] for kind in ("incomplete", "complete", "parsed")) >= 20, reached


def test_texts_of_any_length_are_looked_at_once() -> None:
    for text in ("(" * 500 + "v" + ")" * 500, "'" + "''" * 3_000 + "'", "/*" * 50_000):
        with pytest.raises(mt.MuntinError) as refused:
            rows(mt.query("ts", HOUR, [mt.count()], where=text))
        assert len(str(refused.value)) < 300

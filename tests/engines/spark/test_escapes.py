"""SQL that users write as text stays in its place on Spark, and what is valid there is taken."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates.expression_text import incomplete
from muntin.engines.spark.faults import silence_log
from muntin_testing.expressions import ESCAPES, MEANS_V_ABOVE_1, WORDS

pytestmark = pytest.mark.slow

HOUR = [mt.tumbling("1 hour")]
ROWS = 10
ABOVE_1 = 8
SPARK_ONLY = (
    "transform(array(v), x -> x)[0] > 1",
    "exists(array(v), x -> x > 1)",
    "v::int::bigint > 1",
    "map('v', v)['v'] > 1",
    "named_struct('v', v).v > 1",
    "try_divide(v, 1) > 1 AND '1'::decimal(10,2) = 1",
    "v > 1 AND word RLIKE '^[(a]+$'",
)


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    start = datetime(2024, 1, 1)
    rows = [(start + timedelta(seconds=n), n, "a", n == 0) for n in range(ROWS)]
    return spark.createDataFrame(rows, "ts timestamp, v bigint, word string, b boolean")


PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "where": lambda text: {"where": text},
    "filter": lambda text: {"aggregates": [mt.count().filter(text)]},
    "argument": lambda text: {"aggregates": [mt.max(text)]},
    "filtered argument": lambda text: {"aggregates": [mt.max(text).filter("v >= 0")]},
    "an argument that is not shared": lambda text: {"aggregates": [mt.median(text).filter("b")]},
    "punctuation": lambda text: {"windows": [mt.punctuation(text)]},
    "measure": lambda text: {"windows": [mt.hopping_by(text, 5)]},
}


def test_no_text_leaves_its_place(table: DataFrame) -> None:
    accepted = []
    for text in (*ESCAPES, "b) OR (true"):
        for place, parts in PLACES.items():
            asked: dict[str, Any] = {"time": "ts", "windows": HOUR, "aggregates": [mt.count()]}
            try:
                mt.aggregate(table, **(asked | parts(text)))
                accepted.append((place, text))
            except mt.MuntinError:
                pass
    assert accepted == []


def test_valid_texts_are_taken(table: DataFrame) -> None:
    texts = [*MEANS_V_ABOVE_1, *SPARK_ONLY]
    aggregates = [mt.count().filter(text).alias(f"f{i}") for i, text in enumerate(texts)]
    aggregates += [mt.count_if(text).alias(f"a{i}") for i, text in enumerate(texts)]
    aggregates += [
        mt.count_if(text).filter("v < 99").filter(text).alias(f"b{i}")
        for i, text in enumerate(texts[:4])
    ]
    found = mt.aggregate(table, "ts", HOUR, aggregates, strategy="direct", operator="expand")
    assert set(found.collect()[0][2:]) == {ABOVE_1}
    for text in texts[::4]:
        assert mt.aggregate(table, "ts", HOUR, [mt.count()], where=text).columns


def reads(table: DataFrame, text: str) -> bool:
    """Whether Spark reads it as an expression, of whatever columns."""
    try:
        with silence_log():
            table.select(F.expr(text)).schema  # noqa: B018
    except ParseException:
        return False
    except AnalysisException:
        pass
    return True


def test_spark_and_the_check_agree(table: DataFrame) -> None:
    """What Spark reads as one expression is complete, whatever random words it is made of."""
    random, reached = Random(7), Counter[str]()
    for text in ("".join(random.choices(WORDS, k=random.randint(1, 6))) for _ in range(600)):
        if not reads(table, text):
            reached["refused"] += 1
            continue
        reached["read"] += 1
        reached["read with brackets, quotes or comments"] += any(c in text for c in "(['\"`-/")
        assert incomplete(text) is None, text
    assert min(reached.values()) > 20, reached

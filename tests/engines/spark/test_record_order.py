"""Aggregates that do not commute, on Spark: records in the order of time and `order_by`.

The judge is plain Python over explicit intervals. Rows come shuffled, in several partitions, many
of them at the same instant, so that an order that is not brought about shows.
"""

from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.errors import ColumnError
from muntin_testing.data_windows import meaning
from muntin_testing.monoids import joined

SECOND = 1_000_000
PERIODIC = [
    mt.tumbling("10 seconds"),
    mt.hopping("30 seconds", "10 seconds"),
    mt.hopping("25 seconds", "10 seconds", offset="5 seconds"),
    mt.tumbling("2 minutes"),
]
BY_DATA = [
    mt.session("5 seconds"),
    mt.count_window(4, 3, id="count"),
    mt.hopping("30 seconds", "20 seconds"),
]

spell = joined("spell", check_laws=["a", "b", ""])
at_once = joined("at_once", fold=lambda words: "".join(words.to_pylist()))
two = joined("two", lift=lambda r: f"{r['_0']}{r['_1']} ", arity=2)
in_maps = joined("in_maps", lift=lambda pairs: dict(pairs)["word"])
latest = mt.custom(
    "latest",
    lift=lambda word: (word,),
    combine=lambda older, newer: newer or older,
    lower=lambda newest: newest[0] if newest else None,
    identity=(),
    idempotent=True,
    result="string",
)
AGGREGATES = [
    spell("word").alias("spelt"),
    spell("word").filter("n % 3 <> 0").alias("some"),
    at_once("word").alias("at once"),
    two("word", "n").alias("two"),
    two("word", "n").filter("n % 3 <> 0").alias("some of two"),
    in_maps("map('word', word)").filter("word IS NOT NULL").alias("in maps"),
    latest("word").alias("latest"),
    mt.count().alias("rows"),
]
Row = dict[str, Any]


def rows() -> list[Row]:
    """Rows in order: about every third instant has several, and n, which is unique, falls."""
    random = Random(5)
    found, time = [], -40
    for n in reversed(range(150)):
        time += random.choice([0, 0, 1, 1, 2, 9])
        word = None if n % 11 == 3 else random.choice("abcdefgh")
        found.append({"k": random.choice(["x", "y", None]), "t": time, "n": n, "word": word})
    return sorted(found, key=lambda r: (r["t"], r["n"]))


def table(spark: SparkSession, given: list[Row]) -> DataFrame:
    shuffled = Random(1).sample(given, len(given))
    fields = "k string, t long, n long, word string"
    df = spark.createDataFrame([tuple(r.values()) for r in shuffled], fields)
    return df.withColumn("ts", F.expr("timestamp_seconds(t)")).repartition(5)


def judged(inside: list[Row]) -> dict[str, Any]:
    """What the aggregates are of records in order."""
    words = [r["word"] for r in inside if r["word"] is not None]
    some = [r for r in inside if r["n"] % 3]
    return {
        "spelt": "".join(words),
        "some": "".join(r["word"] or "" for r in some),
        "at once": "".join(words),
        "two": "".join(f"{r['word']}{r['n']} " for r in inside),
        "some of two": "".join(f"{r['word']}{r['n']} " for r in some),
        "in maps": "".join(words),
        "latest": words[-1] if words else None,
        "rows": len(inside),
    }


def expected(window: Any, given: list[Row]) -> dict[tuple[Any, ...], dict[str, Any]]:
    found = {}
    for key in ("x", "y", None):
        own = [{**r, "t": r["t"] * SECOND} for r in given if r["k"] == key]
        for start, end, run in meaning(window, own):
            found[window.id, key, start, end] = judged([own[i] for i in run])
    return found


def collected(result: DataFrame, names: list[str]) -> dict[tuple[Any, ...], dict[str, Any]]:
    bounds = [F.expr(f"unix_micros(window.{side})").alias(side) for side in ("start", "end")]
    found = result.select("window_id", "k", *bounds, *(f"`{name}`" for name in names)).collect()
    by_place = {tuple(row[:4]): dict(zip(names, row[4:], strict=True)) for row in found}
    assert len(by_place) == len(found), "a window came twice"
    return by_place


@pytest.mark.parametrize(
    ("windows", "strategy"),
    [(PERIODIC, "direct"), (PERIODIC, "shared-pairs"), (PERIODIC, "wcg-fw"), (BY_DATA, "auto")],
    ids=["direct", "shared-pairs", "wcg-fw", "data windows"],
)
def test_records_are_combined_in_the_order_of_time_and_order_by(
    frugal: SparkSession, windows: list[Any], strategy: str
) -> None:
    given = rows()
    frugal.conf.set("spark.sql.shuffle.partitions", "3")  # `frugal` puts it back
    result = mt.aggregate(  # type: ignore[call-overload]
        table(frugal, given),
        "ts",
        windows,
        AGGREGATES,
        "k",
        order_by="n",
        strategy=strategy,
    )
    wanted: dict[tuple[Any, ...], dict[str, Any]] = {}
    for window in windows:
        wanted |= expected(window, given)
    assert collected(result, [a.name for a in AGGREGATES]) == wanted
    by_n = sorted(given, key=lambda r: -r["n"])
    assert any(expected(w, by_n) != expected(w, given) for w in windows), "ties never mattered"


def test_without_order_by_the_result_does_not_depend_on_arrival(frugal: SparkSession) -> None:
    """Where times are equal the values decide; among equal words that shows nowhere."""
    given = rows()
    by_value = sorted(given, key=lambda r: (r["t"], r["word"] or ""))
    for window in (PERIODIC[1], mt.session("5 seconds")):
        wanted = {at: found["spelt"] for at, found in expected(window, by_value).items()}
        result = mt.aggregate(table(frugal, given), "ts", window, AGGREGATES[:1], "k")  # type: ignore[call-overload]
        found = collected(result, ["spelt"])
        assert {at: row["spelt"] for at, row in found.items()} == wanted


def test_what_cannot_be_sorted_by_is_refused(frugal: SparkSession) -> None:
    df = table(frugal, rows()).withColumn("m", F.expr("map(1, word)"))
    for windows in (PERIODIC, BY_DATA):
        with pytest.raises(ColumnError, match=r"order_by 'm' is map<int,string>, .* no order"):
            mt.aggregate(df, "ts", windows, [spell("word")], "k", order_by=["n", "m"])  # type: ignore[arg-type]

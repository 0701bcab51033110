"""SQL out: readable text, quoted names, and nothing that an id or a name could break."""

from dataclasses import replace
from random import Random

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import muntin as mt
from muntin.cost import RateCost
from muntin.dialects.spark_text import SparkWriter
from muntin.errors import QueryError, StrategyError
from muntin.model.windows import Window
from muntin.plan.slicing import SLICINGS
from muntin.planner.strategies import STRATEGIES, Problem
from muntin_testing.running import in_process, sql_text
from muntin_testing.two_engines import planned
from muntin_testing.windows import window_sets

PAPER = mt.query(
    "EntryTime",
    [mt.tumbling(f"{n} minutes", id=f"{n} min") for n in (10, 20, 30, 40)],
    [mt.min("temperature").alias("MinTemp")],
    keys="DeviceID",
)
TEXT = """\
WITH records AS (
  SELECT `DeviceID` AS k0, unix_micros(`EntryTime`) AS t, `temperature` AS v0
  FROM `Input`
  WHERE `EntryTime` IS NOT NULL
),
-- 10 min: records, each in one instance of 10 minutes
w1_10_min AS (
  SELECT k0, t - pmod(t, 600000000) AS start, min(v0) AS p0
  FROM records
  GROUP BY ALL
),
-- 20 min: 2 pieces of 10 min
w2_20_min AS (
  SELECT k0, start - pmod(start, 1200000000) AS start, min(p0) AS p0
  FROM w1_10_min
  GROUP BY ALL
),
-- 30 min: 3 pieces of 10 min
w3_30_min AS (
  SELECT k0, start - pmod(start, 1800000000) AS start, min(p0) AS p0
  FROM w1_10_min
  GROUP BY ALL
),
-- 40 min: 2 pieces of 20 min
w4_40_min AS (
  SELECT k0, start - pmod(start, 2400000000) AS start, min(p0) AS p0
  FROM w2_20_min
  GROUP BY ALL
),
results AS (
  SELECT '10 min' AS window_id, start + 600000000 AS until, k0, start, p0 FROM w1_10_min
  UNION ALL
  SELECT '20 min' AS window_id, start + 1200000000 AS until, k0, start, p0 FROM w2_20_min
  UNION ALL
  SELECT '30 min' AS window_id, start + 1800000000 AS until, k0, start, p0 FROM w3_30_min
  UNION ALL
  SELECT '40 min' AS window_id, start + 2400000000 AS until, k0, start, p0 FROM w4_40_min
)
SELECT
  window_id,
  named_struct('start', timestamp_micros(start), 'end', timestamp_micros(until)) AS `window`,
  k0 AS `DeviceID`,
  p0 AS `MinTemp`
FROM results"""


def test_the_papers_query_rewritten() -> None:
    """Figure 2, as SQL."""
    assert sql_text(planned(PAPER, "wcg"), PAPER, "spark", "Input") == TEXT


def test_factor_windows_stay_hidden() -> None:
    query = mt.query("t", [mt.tumbling(n) for n in ("20 minutes", "30 minutes")], [mt.sum("v")])
    plan = planned(query, "wcg-fw")
    hidden = [node.id for node in plan.nodes if node.hidden]
    text = sql_text(plan, query, "duckdb", "events")
    assert len(hidden) == 1
    assert f"-- {hidden[0]} (factor window, not in the result): records" in text
    assert text.count("AS window_id") == 2
    assert f"'{hidden[0]}' AS window_id" not in text


WINDOWS = [mt.Window(2, 2), mt.Window(6, 2), mt.Window(10, 4, 1)]
NASTY = [
    "it's",
    'a"b',
    "a`b",
    "x; DROP TABLE t",
    "line\nbreak",
    "-- comment",
    "/* comment */",
    "back\\slash\\",
    "${spark.app.name}",
    "{0} {start}",
    "ä 10 ½",
    "a.b",
    "Select",
]


@pytest.mark.parametrize("name", NASTY)
def test_names_cannot_break_the_text(name: str) -> None:
    """As an id, a key, a time, an argument, an alias and a table at once, run on DuckDB."""
    value, when, key = f"v{name}", f"t{name}", f"k{name}"
    windows = [mt.Window(w.range, w.slide, w.offset, f"{i}{name}") for i, w in enumerate(WINDOWS)]
    query = mt.query(when, windows, [mt.sum(value).alias(f"a{name}"), mt.count()], keys=key)
    data = pa.table(
        {when: pa.array([0, 1, 5], pa.timestamp("us")), key: ["x"] * 3, value: [1, 2, 3]}
    )
    rows = in_process(planned(query, "wcg"), query, data).to_pylist()
    plain = mt.query("t", WINDOWS, [mt.sum("v"), mt.count()], keys="k")
    same = in_process(planned(plain, "wcg"), plain, data.rename_columns(["t", "k", "v"]))
    assert {row["window_id"] for row in rows} == {w.id for w in windows}
    found = sorted((r["window"]["start"], r["window"]["end"], r[f"a{name}"]) for r in rows)
    assert found == sorted(
        (r["window"]["start"], r["window"]["end"], r["sum(v)"]) for r in same.to_pylist()
    )
    connection = duckdb.connect()
    connection.register(f"table {name}", data)
    typed = {when: "timestamp_ntz", key: "string", value: "bigint"}
    text = sql_text(planned(query, "wcg"), query, "duckdb", f"table {name}", typed)
    assert len(connection.sql(text).fetchall()) == len(rows)


def test_nasty_names_on_spark(spark: SparkSession) -> None:
    """Names only need to be analysed; ids are texts, and come back as they were given."""
    ids = spark.sql("SELECT " + ", ".join(map(SparkWriter().literal, NASTY))).first()
    assert ids is not None
    assert list(ids) == NASTY
    names = [name for name in NASTY if "$" not in name]
    windows = [mt.Window(2 * i + 2, 2, id=name) for i, name in enumerate(NASTY)]
    value = "odd `v`'\";--"
    query = mt.query("t", windows, [mt.sum(value).alias(name) for name in names], keys="k\\")
    times = pa.array([0, 1], pa.timestamp("us", "UTC"))
    data = spark.createDataFrame(pa.table({"t": times, "k\\": ["x"] * 2, value: [1, 2]}))
    data.createOrReplaceTempView("nasty")
    types = {"t": "timestamp", "k\\": "string", value: "bigint"}
    text = sql_text(planned(query), query, "spark", "nasty", types)
    assert spark.sql(text).columns == ["window_id", "window", "k\\", *names]
    spark.catalog.dropTempView("nasty")


def test_spark_would_replace_settings() -> None:
    query = mt.query("t", WINDOWS, [mt.sum("v").alias("${spark.app.name}")])
    with pytest.raises(QueryError, match="would replace"):
        sql_text(planned(query), query, "spark", "e")


@pytest.mark.parametrize("text", ["SELECT 1", "a THEN b", "a, b"])
def test_conditions_are_one_expression(text: str) -> None:
    query = mt.query("t", WINDOWS, [mt.count()], where=text)
    with pytest.raises(QueryError, match="cannot be read as one SQL condition"):
        sql_text(planned(query), query, "duckdb", "e")


@pytest.mark.parametrize(
    ("table", "quoted"),
    [
        ("events", '"events"'),
        ("db.events", '"db"."events"'),
        ('main."my events"', '"main"."my events"'),
        ("my events", '"my events"'),
        ("e; DROP TABLE x", '"e; DROP TABLE x"'),
        ("read_csv('x')", "\"read_csv('x')\""),
        ("e AS f", '"e AS f"'),
        ("(SELECT 1)", '"(SELECT 1)"'),
    ],
)
def test_tables(table: str, quoted: str) -> None:
    text = sql_text(planned(PAPER), PAPER, "duckdb", table)
    assert f"FROM {quoted}\n" in text


def test_arguments_are_columns_if_known_and_expressions_else() -> None:
    query = mt.query("t", WINDOWS, [mt.sum("a-b").alias("s"), mt.max("no expression").alias("m")])
    plan = planned(query)
    guessed = sql_text(plan, query, "duckdb", "e")
    assert '"a" - "b" AS v0' in guessed
    assert '"no expression" AS v1' in guessed
    known = {"t": "timestamp", "a-b": "int", "no expression": "int"}
    assert '"a-b" AS v0' in sql_text(plan, query, "duckdb", "e", known)


def test_unknown_dialects_and_bounds() -> None:
    plan = planned(PAPER)
    with pytest.raises(StrategyError, match="unknown SQL dialect 'duck': did you mean 'duckdb'"):
        sql_text(plan, PAPER, "duck", "e")
    with pytest.raises(QueryError, match="unknown bounds 'as': did you mean 'asa'"):
        replace(PAPER, bounds="as")  # type: ignore[arg-type]


@given(
    window_sets(most=4),
    st.sampled_from(sorted(STRATEGIES)),
    st.sampled_from(sorted(SLICINGS)),
    st.booleans(),
    st.randoms(),
)
def test_every_record_reaches_its_instances(
    windows: list[Window], strategy: str, slicing: str, overlap: bool, random: Random
) -> None:
    """Any windows, any strategy, instants on both sides of 1970, against the definition."""
    instants = [random.randrange(-60, 60) for _ in range(random.randrange(1, 12))]
    value = mt.max("v") if overlap else mt.sum("v")
    query = mt.query("t", windows, [value.alias("a")])
    data = pa.table(
        {"t": pa.array(instants, pa.timestamp("us")), "v": [3**i for i in range(len(instants))]}
    )
    plan = STRATEGIES[strategy](Problem(query.windows, query.idempotent, RateCost(), slicing))
    rows = in_process(plan, query, data)
    starts = pa.compute.struct_field(rows["window"], "start").cast(pa.int64()).to_pylist()
    places = zip(rows["window_id"].to_pylist(), starts, strict=True)
    found = dict(zip(places, rows["a"].to_pylist(), strict=True))
    expected: dict[tuple[str, int], int] = {}
    for window in windows:
        for number, instant in enumerate(instants):
            for start in window.instances_of(instant):
                place = (window.id, start)
                old = expected.get(place, 0)
                expected[place] = max(old, 3**number) if overlap else old + 3**number
    assert len(rows) == len(found)
    assert found == expected

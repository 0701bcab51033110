"""The rewritten query on Spark and on DuckDB, judged by Spark's own window() rows.

A strategy decides the edges, an aggregate the columns, and neither knows of the other. So on Spark,
where compiling a query of many columns takes seconds, every strategy runs with a few aggregates and
every aggregate with one strategy; DuckDB runs them all. Equal trees run once.
"""

from collections import Counter
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.aggregates import FUNCTIONS, aggregate_named
from muntin.errors import AggregateError
from muntin.model.query import Query
from muntin.plan import Node, SharingPlan, close
from muntin.planner.strategies import STRATEGIES
from muntin_testing.reached import edges_of
from muntin_testing.running import compared, in_process, sql_text
from muntin_testing.two_engines import (
    NOT_IN_SQL,
    all_aggregates,
    assert_same,
    by_instance,
    planned,
    sample_table,
    spark_types,
)
from muntin_testing.values import cases_of

pytestmark = pytest.mark.slow

WINDOWS = [
    mt.tumbling("10 minutes"),
    mt.tumbling("20 minutes", id="it's; -- `twenty`"),
    mt.hopping("40 minutes", "10 minutes"),
    mt.hopping("1 hour", "25 minutes", offset="3 minutes"),
    mt.hopping("100 minutes", "50 minutes"),
]
WHERE = "j > 1 OR j IS NULL"
FEW = mt.query("ts", WINDOWS, [mt.min("d"), mt.sum("n"), mt.avg("y"), mt.count()], "device", WHERE)
ALL = mt.query("ts", WINDOWS[:3], all_aggregates(), "device", WHERE)
VIEW = "sample of `it`"


def distinct_plans(query: Query, slicing: str = "pairs") -> dict[str, SharingPlan]:
    """Every strategy's tree, each once."""
    plans: dict[tuple[Node, ...], str] = {}
    for name in STRATEGIES:
        plans.setdefault(planned(query, name, slicing).nodes, name)
    return {name: SharingPlan(nodes, query.idempotent) for nodes, name in plans.items()}


PLANS = distinct_plans(FEW)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return sample_table()


@pytest.fixture(scope="module")
def spark_table(spark: SparkSession, table: pa.Table) -> Iterator[DataFrame]:
    # A few hundred rows: planning stage by stage and compiling would take most of the time.
    quick = {"spark.sql.adaptive.enabled": "false", "spark.sql.codegen.wholeStage": "false"}
    before = {name: spark.conf.get(name) for name in quick}
    for name, value in quick.items():
        spark.conf.set(name, value)
    name = VIEW.replace("`", "``")
    df = spark.createDataFrame(table).coalesce(1)
    df.createOrReplaceTempView(f"`{name}`")
    yield df
    spark.catalog.dropTempView(f"`{name}`")
    for name, setting in before.items():
        spark.conf.set(name, str(setting))


@pytest.fixture(scope="module")
def few(spark_table: DataFrame) -> pa.Table:
    return spark_rows(spark_table, FEW)


@pytest.fixture(scope="module")
def all_of_them(spark_table: DataFrame) -> pa.Table:
    return spark_rows(spark_table, ALL)


def spark_rows(df: DataFrame, query: Query) -> pa.Table:
    from muntin.engines.spark.own_windows import run_own_windows

    return run_own_windows(df, query).toArrow()


def check(result: pa.Table, judge: pa.Table, query: Query, what: str) -> None:
    ours, theirs = (by_instance(each.to_pylist(), query.keys) for each in (result, judge))
    assert_same(ours, theirs, what)
    assert result.schema.names == judge.schema.names
    types = [[_plain(f.type) for f in t.schema if f.name != "window"] for t in (result, judge)]
    assert types[0] == types[1]


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type without what engines call the elements of a list."""
    return pa.list_(_plain(kind.value_type)) if pa.types.is_list(kind) else kind


@pytest.mark.parametrize("strategy", PLANS)
def test_every_strategy_on_duckdb(strategy: str, table: pa.Table, few: pa.Table) -> None:
    check(in_process(PLANS[strategy], FEW, table), few, FEW, strategy)


def test_strategies_differ_on_this_query() -> None:
    """The names that the tests below run over are found, so they could be none."""
    assert len(PLANS) >= 8
    assert len(OPEN) >= 4
    edges = sum((edges_of(plan) for plan in PLANS.values()), Counter())
    assert min(edges["window ← window"], edges["slices → window"], edges["hidden window"]) > 0


OPEN = [name for name, plan in distinct_plans(FEW, "cutty").items() if close(plan) is not plan]


@pytest.mark.parametrize("strategy", OPEN)
def test_every_strategy_on_open_slices_on_duckdb(
    strategy: str, table: pa.Table, few: pa.Table
) -> None:
    check(in_process(planned(FEW, strategy, "cutty"), FEW, table), few, FEW, strategy)


@pytest.mark.parametrize(
    "names", [("wcg-fw", "tri-weave"), pytest.param(tuple(PLANS), marks=pytest.mark.long)]
)
def test_every_strategy_on_spark(
    spark: SparkSession,
    spark_table: DataFrame,
    table: pa.Table,
    few: pa.Table,
    names: tuple[str, ...],
) -> None:
    """By default two, which have every kind of edge; what strategies share, DuckDB runs above."""
    types = spark_types(table)
    texts = {name: sql_text(PLANS[name], FEW, "spark", VIEW, types) for name in names}
    first = {text: name for name, text in reversed(texts.items())}  # of those with the same text
    parts = [f"SELECT '{name}' AS strategy, * FROM ({text})" for text, name in first.items()]
    together = spark.sql("\nUNION ALL\n".join(parts)).toArrow()
    for strategy in first.values():
        own = together.filter(pa.compute.equal(together["strategy"], strategy))
        check(own.drop_columns(["strategy"]), few, FEW, strategy)


@pytest.mark.parametrize("strategy", ["direct", "wcg"])
def test_every_aggregate_on_duckdb(strategy: str, table: pa.Table, all_of_them: pa.Table) -> None:
    check(in_process(planned(ALL, strategy), ALL, table), all_of_them, ALL, strategy)


def test_every_aggregate_on_spark(
    spark: SparkSession, spark_table: DataFrame, table: pa.Table, all_of_them: pa.Table
) -> None:
    text = sql_text(planned(ALL, "wcg"), ALL, "spark", VIEW, spark_types(table))
    check(spark.sql(text).toArrow(), all_of_them, ALL, "wcg")


@pytest.mark.long
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_duckdb_judges_every_strategy_with_every_aggregate(strategy: str, table: pa.Table) -> None:
    query = mt.query("ts", WINDOWS, ALL.aggregates, "device", WHERE)
    outcome = compared(planned(query, strategy), query, table)
    assert outcome.equal, outcome


def test_text_without_types_gives_the_same_values(table: pa.Table, all_of_them: pa.Table) -> None:
    connection = duckdb.connect()
    connection.register("events", table)
    plain = [
        a for a in ALL.aggregates if not a.name.startswith("avg")
    ]  # a decimal's needs its type
    query = mt.query("ts", ALL.windows, plain, "device", WHERE)
    text = sql_text(planned(query, "wcg"), query, "duckdb", "events")
    ours = by_instance(connection.sql(text).to_arrow_table().to_pylist(), query.keys)
    theirs = by_instance(all_of_them.to_pylist(), query.keys)
    names = [a.name for a in plain]
    picked = {place: {n: values[n] for n in names} for place, values in theirs.items()}
    assert_same(ours, picked, "without types")


def test_a_ratio_divides_a_decimal_mean_on_duckdb(table: pa.Table) -> None:
    """The mean by itself has a form of its own in DuckDB, which must not stand for the ratio."""
    mean, most = mt.avg("d"), mt.max("n")
    ratios = [mt.ratio(mean, most).alias("down"), mt.ratio(most, mean).alias("up")]
    query = mt.query("ts", WINDOWS[:1], [mean, most, *ratios])
    rows = [
        row
        for row in in_process(planned(query), query, table).to_pylist()
        if row["avg(d)"] and row["max(n)"]
    ]
    assert len(rows) > 20
    for row in rows:
        expected = float(row["avg(d)"]) / row["max(n)"]
        assert row["down"] == pytest.approx(expected, rel=1e-9)
        assert row["up"] == pytest.approx(1 / expected, rel=1e-9)


def test_what_sql_cannot_express_is_refused() -> None:
    for name in sorted(NOT_IN_SQL):
        arguments = ["x"] * len(cases_of(name)[0].types)
        query = mt.query("ts", WINDOWS[:1], [aggregate_named(name, *arguments)])
        with pytest.raises(AggregateError, match=r"no partials|; use Spark$"):
            sql_text(planned(query), query, "duckdb", "events")


def test_every_function_is_either_tried_or_refused() -> None:
    tried = {a.function.name for a in ALL.aggregates}
    assert tried | NOT_IN_SQL == set(FUNCTIONS)

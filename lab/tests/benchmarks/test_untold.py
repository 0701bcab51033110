"""The command times every side on small tables, and says in how many sets `auto` is near."""

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from lab.benchmarks.untold import CASES, Outcome, measure, summary, table_of
from lab.registry import Options


@pytest.mark.long
def test_small_tables_are_timed(spark: SparkSession) -> None:
    console = Console(record=True, width=200)
    options = Options(rows=20_000, repeat=1)
    [found] = measure(spark, [CASES["ten thousand rows"]], options, console)
    assert found.own is not None
    assert min(found.untold, found.told, found.named, found.own) > 0
    assert "the first call of mt.aggregate" in console.export_text()


def test_the_summary_counts_what_is_not_near() -> None:
    found = [
        Outcome("a", "wcg, kernel", 1.0, 1.0, "wcg, kernel", 1.0, 5.0),
        Outcome("b", "wcg, kernel", 2.0, 3.0, "direct, window", 1.0, 1.0),
        Outcome("c", "wcg, kernel", 2.0, 2.0, "wcg, expand", 1.9, None),
    ]
    text = summary(found)
    assert "best choice in 2 of 3 sets" in text
    assert "told the truth: b; slower than Spark's own beyond 10%: b" in text
    assert table_of(found).row_count == 3


def test_the_sets_are_those_of_the_cost_experiment_and_two_of_taxi_trips() -> None:
    assert len(CASES) == 14
    assert all(name == case.name for name, case in CASES.items())

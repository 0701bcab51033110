"""What all tests share: UTC, hypothesis profiles, and one Spark session made on first use."""

import gc
import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from muntin_testing.postgres_server import PostgresServer

collect_ignore = ["lab/benchmarks/flink_job.py"]  # runs in Flink's own environment

# Before anything reads them: Spark's JVM and its Python workers inherit this environment.
os.environ["TZ"] = "UTC"
time.tzset()
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["MUNTIN_CONSTANTS"] = "shipped"  # not those of whoever runs the tests
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # the machine's own name need not resolve

settings.register_profile(
    "default",
    deadline=None,  # the first example pays for imports and for Spark's warm-up
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "long",
    parent=settings.get_profile("default"),
    derandomize=False,  # new examples in every run
    max_examples=1000,
    print_blob=True,
)
settings.load_profile(os.environ.get("MUNTIN_HYPOTHESIS", "default"))


def pytest_collection_finish() -> None:
    """What modules and tests hold stays to the end: no collection of garbage looks at it again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Libraries in C++ complain about what is left when Python ends."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """A local Spark session for the whole run; tests that do not ask for it never start one."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .appName("muntin-tests")
        .config("spark.driver.memory", "4g")  # takes effect because the JVM is not running yet
        # Queries of tests are short: code compiled quickly beats code compiled well, and two cores
        # have no use for several threads that collect garbage.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def _session_of_examples(request: pytest.FixtureRequest) -> None:
    """Examples in docstrings may use `spark`, as pages do; those that do not start no session."""
    example = getattr(request.node, "dtest", None)
    if example is not None and any(
        "spark." in e.source or "(spark)" in e.source for e in example.examples
    ):
        example.globs["spark"] = request.getfixturevalue("spark")


@pytest.fixture(scope="session")
def postgres() -> Iterator["PostgresServer"]:
    """A PostgreSQL server for the whole run, if the machine has one."""
    from muntin_testing.postgres_server import OLDEST, find_programs, serve

    programs = find_programs()
    if programs is None:
        pytest.skip(f"PostgreSQL {OLDEST} or newer is not installed: apt-get install postgresql")
    with serve(programs) as server:
        yield server


FRUGAL = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""Without compiled code a query of a few rows takes 0.7 s of processor time instead of 1.9 s."""


@pytest.fixture
def frugal(spark: "SparkSession") -> Iterator["SparkSession"]:
    """The session, set for many queries of few rows; the settings go back after the test."""
    before = {name: spark.conf.get(name) for name in FRUGAL}
    for name, value in FRUGAL.items():
        spark.conf.set(name, value)
    yield spark
    for name, setting in before.items():
        spark.conf.set(name, str(setting))


@pytest.fixture
def streams(frugal: "SparkSession") -> Iterator["SparkSession"]:
    """The session, set for streams of few rows, whose state is in RocksDB as users have it."""
    from muntin.engines.spark.session import ROCKSDB

    yield from _with_state(frugal, ROCKSDB)


@pytest.fixture
def on_the_heap(spark: "SparkSession") -> Iterator["SparkSession"]:
    """The session as Spark has it by default: state is in the JVM, whatever ran before."""
    package = "org.apache.spark.sql.execution.streaming.state"
    yield from _with_state(spark, f"{package}.HDFSBackedStateStoreProvider")


def _with_state(spark: "SparkSession", provider: str) -> Iterator["SparkSession"]:
    setting = "spark.sql.streaming.stateStore.providerClass"
    before = spark.conf.get(setting)
    spark.conf.set(setting, provider)
    yield spark
    spark.conf.set(setting, str(before))

"""What all tests share: UTC, hypothesis profiles, and one Spark session made on first use."""

import gc
import os
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
from hypothesis import HealthCheck, settings

import muntin
import muntin_testing

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
    """Import all there is, then freeze it: no collection of garbage looks at it again.

    Hypothesis draws from the constants of what is imported, which would hang on the tests before.
    """
    for package in (muntin, muntin_testing):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
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
        .config("spark.sql.streaming.checkpointFileManagerClass", _quick_checkpoints())
        # Without compiled code a query of a few rows takes 0.7 s of processor time, not 1.9 s.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def _quick_checkpoints() -> str:
    """The manager of checkpoint files that starts fewer processes than Spark's default.

    On a local disk Hadoop runs chmod and stat for every file that it writes: a fifth of what a
    small micro-batch costs. The files are the same. Processes that tests kill keep the default.
    """
    import pyspark

    [sql] = (Path(pyspark.__file__).parent / "jars").glob("spark-sql_*.jar")
    with ZipFile(sql) as jar:  # its package differs from one Spark to another
        ends = "/FileSystemBasedCheckpointFileManager.class"
        [found] = [name for name in jar.namelist() if name.endswith(ends)]
    return found.removesuffix(".class").replace("/", ".")


@pytest.fixture(autouse=True)
def _session_of_examples(request: pytest.FixtureRequest) -> None:
    """Examples in docstrings may use `spark`, as pages do; those that do not start no session."""
    example = getattr(request.node, "dtest", None)
    if example is not None and any(
        "spark." in e.source or "(spark)" in e.source for e in example.examples
    ):
        example.globs["spark"] = request.getfixturevalue("compiled")  # a year of flights, perhaps


@pytest.fixture(scope="session")
def postgres() -> Iterator["PostgresServer"]:
    """A PostgreSQL server for the whole run, if the machine has one."""
    from muntin_testing.postgres_server import OLDEST, find_programs, serve

    programs = find_programs()
    if programs is None:
        pytest.skip(f"PostgreSQL {OLDEST} or newer is not installed: apt-get install postgresql")
    with serve(programs) as server:
        yield server


FRUGAL = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "1"}
COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}


@pytest.fixture
def frugal(spark: "SparkSession") -> Iterator["SparkSession"]:
    """The session, set for many queries of few rows; the settings go back after the test."""
    yield from _with_settings(spark, FRUGAL)


@pytest.fixture
def compiled(spark: "SparkSession") -> Iterator["SparkSession"]:
    """The session, with code compiled for each query as users have it."""
    yield from _with_settings(spark, COMPILED)


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
    yield from _with_settings(spark, {"spark.sql.streaming.stateStore.providerClass": provider})


def _with_settings(spark: "SparkSession", settings: dict[str, str]) -> Iterator["SparkSession"]:
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield spark
    for name, setting in before.items():
        spark.conf.set(name, str(setting))

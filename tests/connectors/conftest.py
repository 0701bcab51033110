"""What tests with real connectors share: the jars, a broker, and a session that has the jars."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from muntin_testing.connectors import CONF, RELEASE, VARIABLE, jars_of
from muntin_testing.kafka_broker import serve_kafka


@pytest.fixture(scope="session")
def jars() -> Path:
    """The folder of `tools/connectors/fetch`."""
    if VARIABLE not in os.environ:
        pytest.skip("make test-connectors runs this")
    return Path(os.environ[VARIABLE])


@pytest.fixture(scope="session")
def kafka(jars: Path) -> Iterator[str]:
    """host:port of a broker for the whole run."""
    with serve_kafka(jars / "broker") as servers:
        yield servers


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of Iceberg's tables."""
    return tmp_path_factory.mktemp("lake")


@pytest.fixture(scope="session")
def spark(jars: Path, lake: Path) -> Iterator[SparkSession]:
    """A session that writes topics, and reads whatever the jobs have written."""
    builder = SparkSession.builder.master("local[2]").appName("muntin-connectors")
    kinds = ["kafka", "delta", "iceberg"] if RELEASE == "4.1" else ["kafka"]
    conf = CONF | jars_of(jars, *kinds, lake=lake)
    for name, value in conf.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()

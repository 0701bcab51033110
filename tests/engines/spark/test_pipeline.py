"""examples/pipeline: its definitions load, and Spark Declarative Pipelines runs them.

Spark has pipelines from 4.1 on; where it has not, both tests are left out.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin_testing.oracle import assert_same_rows, rows_of_window

PROJECT = Path(__file__).parents[3] / "examples/pipeline"
DEFINITIONS = PROJECT / "transformations"

pytestmark = pytest.mark.skipif(
    find_spec("pyspark.pipelines") is None,
    reason=f"Spark {pyspark.__version__} has no declarative pipelines: they came with 4.1",
)


def defined() -> tuple[dict[str, Callable[[], DataFrame]], mt.Plan]:
    """The functions of the project's flows by name, and its plan."""
    from pyspark.pipelines.graph_element_registry import (
        GraphElementRegistry,
        graph_element_registration_context,
    )

    registry = create_autospec(GraphElementRegistry, instance=True)
    names: dict[str, Any] = {}
    with graph_element_registration_context(registry):
        for file in sorted(DEFINITIONS.glob("*.py")):
            exec(compile(file.read_text(encoding="utf-8"), file, "exec"), names)
    flows = [call.args[0] for call in registry.register_flow.call_args_list]
    return {flow.name: flow.func for flow in flows}, names["PLAN"]


def test_its_definitions_load_and_fit_together(frugal: SparkSession) -> None:
    flows, plan = defined()
    assert sorted(flows) == ["delays", "flights"]
    flights = flows["flights"]()
    flights.createOrReplaceTempView("flights")
    try:
        found, judge = flows["delays"](), rows_of_window(flights, plan.query)
        assert found.schema.simpleString() == judge.schema.simpleString()
    finally:
        frugal.catalog.dropTempView("flights")


@pytest.mark.long
def test_spark_runs_it(spark: SparkSession, tmp_path: Path) -> None:
    spec = (PROJECT / "spark-pipeline.yml").read_text(encoding="utf-8")
    assert "file:///tmp/muntin-pipeline" in spec
    spec = spec.replace("file:///tmp/muntin-pipeline", (tmp_path / "storage").as_uri())
    (tmp_path / "spark-pipeline.yml").write_text(spec, encoding="utf-8")
    (tmp_path / "transformations").symlink_to(DEFINITIONS)
    loopback = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_TESTING": "1"}  # and a port that is free
    done = subprocess.run(
        [
            str(Path(pyspark.__file__).parent / "bin/spark-pipelines"),
            *("--conf", "spark.connect.grpc.binding.address=127.0.0.1"),
            *("--conf", "spark.ui.enabled=false"),
            "run",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **loopback, "PYSPARK_PYTHON": sys.executable},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    flights, delays = (
        spark.read.parquet(str(tmp_path / "spark-warehouse" / name))
        for name in ("flights", "delays")
    )
    query = defined()[1].query
    assert assert_same_rows(delays, rows_of_window(flights, query), query) > 10_000

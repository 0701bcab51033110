"""Settings by which a session has connectors: local jars, and what each of them asks for."""

from pathlib import Path

import pyspark

from muntin.engines.spark.session import ROCKSDB

VARIABLE = "MUNTIN_CONNECTORS"
"""Where `make test-connectors` has put what it fetched."""

CONF = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
"""For few rows: quick to start, little to compile."""

DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
ICEBERG = {
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
}


RELEASE = ".".join(pyspark.__version__.split(".")[:2])
"""The Spark of this run: `make test-connectors` runs the pinned one, and 4.1."""


def jars_of(fetched: Path, *kinds: str, lake: Path) -> dict[str, str]:
    """The settings of some connectors; `lake` is the folder of Iceberg's tables."""
    folders = [fetched / f"{kind}-{RELEASE}" for kind in kinds]
    files = [str(file) for folder in folders for file in sorted(folder.glob("*.jar"))]
    found = {"spark.jars": ",".join(files)}
    if "delta" in kinds:
        found |= DELTA
    if "iceberg" in kinds:
        found |= ICEBERG | {"spark.sql.catalog.lake.warehouse": str(lake)}
    return found

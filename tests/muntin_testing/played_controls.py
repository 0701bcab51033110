"""A stream whose files and commands arrive when a test says so, and which restarts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

import muntin as mt
from muntin_testing.control_query import SCHEMA, batches
from muntin_testing.streams import streamed, written

Build = Callable[[DataFrame, mt.Control], DataFrame]


class Played:
    """A stream whose files and commands arrive when the test says so; it restarts at `None`."""

    def __init__(self, spark: SparkSession, folder: Path, build: Build, count: int = 6) -> None:
        self.spark, self.folder, self.build = spark, folder, build
        self.aside = sorted(written(spark, batches(count), SCHEMA, folder / "aside").iterdir())
        self.files = folder / "files"
        self.files.mkdir()
        self.control, self.found = mt.Control(folder / "control"), list[Row]()

    def play(self, *turns: Callable[[], object] | None) -> None:
        """A file a turn, after what the turn does; the rest at the end."""
        query = self._start()
        for turn in [*turns, *([lambda: None] * (len(self.aside) - len(turns)))]:
            if turn is None:
                query.stop()
                query = self._start()
            else:
                turn()
            file = self.aside.pop(0)
            file.rename(self.files / file.name)
            query.processAllAvailable()
        query.stop()

    def _start(self) -> Any:
        rows = self.build(streamed(self.spark, self.files, SCHEMA), self.control)
        return (
            rows.writeStream.foreachBatch(lambda batch, _: self.found.extend(batch.collect()))
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .start()
        )

    def rows(self) -> list[Row]:
        """All rows of the files, the last of which only ends the stream."""
        return self.spark.read.schema(SCHEMA).parquet(str(self.files)).where("k <> 'end'").collect()

    def listed(self) -> dict[str, Any]:
        return {row.id: row for row in self.control.list()}

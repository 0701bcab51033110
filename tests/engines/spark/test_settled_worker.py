"""Workers of Spark set aside what they have imported; a driver does not."""

import gc
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession

from muntin.engines.spark.settled_worker import Settling, settle_worker


def test_a_worker_sets_aside_what_it_imported_once(spark: SparkSession) -> None:
    def settle_twice(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        list(batches)
        settle_worker()
        first = gc.get_freeze_count()
        kept = [[i] for i in range(1_000)]
        settle_worker()
        yield pa.RecordBatch.from_pydict({"first": [first], "again": [gc.get_freeze_count()]})
        assert kept

    once = spark.range(1).repartition(1).mapInArrow(settle_twice, "first bigint, again bigint")
    [row] = once.collect()
    assert row.first > 10_000
    assert abs(row.again - row.first) < 1_000


def test_a_worker_is_settled_behind_its_last_batch(spark: SparkSession) -> None:
    def count_frozen(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"frozen": [gc.get_freeze_count()]})

    def count_again(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [row for batch in Settling(count_frozen)(batches) for row in batch.to_pylist()]
        counts = {"before": [found[0]["frozen"]], "after": [gc.get_freeze_count()]}
        yield pa.RecordBatch.from_pydict(counts)

    [row] = (
        spark.range(1).repartition(1).mapInArrow(count_again, "before bigint, after bigint")
    ).collect()
    assert row.after > 10_000
    assert row.before <= row.after


def test_outside_of_a_task_nothing_is_set_aside() -> None:
    before = gc.get_freeze_count()
    settle_worker()
    assert gc.get_freeze_count() == before

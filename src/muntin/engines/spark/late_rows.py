"""Results and late rows of one micro-batch, told apart: each is written to its own place.

Both come out of one stateful step, and a DataFrame that is read twice would run it twice. So the
micro-batch is kept while it is written. Late rows get two columns more, the stream and the number
of the micro-batch, which tell them from those of other batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin.engines.spark.key_marks import KEY, LATE, REVISED, find_marked
from muntin.engines.spark.names import column
from muntin.errors import SinkError
from muntin.upserts.batch import Batch

STREAM, BATCH = "stream_id", "batch_id"


@contextmanager
def split_late(rows: DataFrame) -> Iterator[tuple[DataFrame, DataFrame]]:
    """The results of a micro-batch, and its late rows with what they missed."""
    missed, revision = find_marked(rows, LATE), find_marked(rows, REVISED)
    assert missed is not None, "checked by who asks"
    kept = rows.persist()
    try:
        results = kept.where(column(missed).isNull()).drop(missed)
        late = kept.where(column(missed).isNotNull())
        yield results, late if revision is None else late.drop(revision)
    finally:
        kept.unpersist()


def number_late(late: DataFrame, batch: Batch) -> DataFrame:
    """Late rows with the stream and the micro-batch that they came in, which are of their key."""
    mark = {KEY: True}
    return late.select(
        F.lit(batch.query).alias(STREAM, metadata=mark),
        F.lit(batch.number).cast("bigint").alias(BATCH, metadata=mark),
        *(column(name) for name in late.columns),
    )


def check_late(rows: DataFrame, late_to: str | None) -> bool:
    """Whether late rows are to be written aside; refused where only one side knows of them."""
    has_late = find_marked(rows, LATE) is not None
    if has_late and late_to is None:
        raise SinkError(
            "the result also has rows that came too late (late_rows='keep'), and nothing says "
            "where they go: give the sink late_to=, or leave out late_rows"
        )
    return has_late


def refuse_nowhere(late_to: str) -> SinkError:
    """What to do where late rows would have to come and the stream drops them."""
    return SinkError(
        f"late_to {late_to!r} is given, and the stream drops what is too late: give "
        "late_rows='keep' to mt.aggregate, or leave out late_to"
    )

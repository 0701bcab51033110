"""Late rows on Spark: as they travel, and told apart from results in a micro-batch.

A row that may be too late is sent along as JSON, where rows themselves are to be kept.

Both come out of one stateful step, and a DataFrame that is read twice would run it twice. So the
micro-batch is kept while it is written. Late rows get two columns more, the stream and the number
of the micro-batch, which tell them from those of other batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.engines.spark.faults import translate_refusals
from muntin.engines.spark.key_marks import KEY, LATE, LISTED, REVISED, find_marked
from muntin.engines.spark.names import column
from muntin.errors import SinkError
from muntin.upserts.batch import Batch

STREAM, BATCH = "stream_id", "batch_id"
_AS_JSON = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""So that no microsecond and no null is lost."""


def row_as_json(df: DataFrame) -> Column:
    """A whole row as JSON; refused where a column has no such form."""
    text = F.to_json(F.struct(*map(column, df.columns)), _AS_JSON)
    with translate_refusals("late_rows='records' keeps rows as JSON, which"):
        df.select(text).schema  # noqa: B018  (Connect analyses only now)
    return text


@contextmanager
def split_late(rows: DataFrame) -> Iterator[tuple[DataFrame, DataFrame]]:
    """The results of a micro-batch, and its late rows with what they missed."""
    missed, revision, listed = (find_marked(rows, mark) for mark in (LATE, REVISED, LISTED))
    assert missed is not None, "checked by who asks"
    kept = rows.persist()
    try:
        results = kept.where(column(missed).isNull()).drop(missed, *([listed] if listed else []))
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

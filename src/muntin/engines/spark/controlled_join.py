"""A join of two streams whose windows come and go: the rows of both sides in buckets of our own.

    left rows  ─┐
                ├─ packed by bucket ─ transformWithState, with commands ─ unpacked ─ condition
    right rows ─┘

Spark's own join gives a pair once, when its second row comes, and cannot give it again to a window
that is registered later. Here the state keeps the rows of both sides one by one, and the pairs of
an instance are found when the watermark has passed its end (muntin.data_windows.pair_bucket).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from muntin.aggregates.columns import columns_of
from muntin.data_windows.controlled_pairs import ControlledPairs
from muntin.data_windows.controlled_records import ControlledRecords
from muntin.data_windows.pair_bucket import PairSpec
from muntin.data_windows.record_buffer import TIME
from muntin.engines.engine import CONTROL_ON_BATCH
from muntin.engines.spark.arrow_stage import map_in_arrow
from muntin.engines.spark.bind import Bound
from muntin.engines.spark.command_steps import (
    PACKED,
    CommandProcessor,
    announce,
    step_with_commands,
)
from muntin.engines.spark.faults import translate_refusals
from muntin.engines.spark.finishing import window_column
from muntin.engines.spark.join_sides import JoinSide
from muntin.engines.spark.labels import labels
from muntin.engines.spark.operators import bucketed
from muntin.engines.spark.operators.bucketed import (
    add_bucket,
    bucket_count,
    judges_now,
    metric_name,
)
from muntin.engines.spark.operators.records import BLOCKS, block_length, gather
from muntin.engines.spark.packing import Packing
from muntin.engines.spark.row_partials import arrow_refusal, not_in_arrow, one_zero
from muntin.engines.spark.streaming import Streaming
from muntin.engines.spark.table import Table
from muntin.errors import ControlError, StrategyError, shown
from muntin.model.durations import duration_text
from muntin.model.window_text import text_of
from muntin.nesting.questions import WindowJoin
from muntin.state.control import Control, Label, Stream, Terms
from muntin.state.kept_labels import Start

CONTROLLED_STEPS = (
    "windows come and go by a control: those below are the ones of the start\n"
    "buckets keep the rows of both sides, and pairs come out when their window has ended"
)


def check_controlled(sides: Sequence[JoinSide], asked: WindowJoin, streaming: Streaming) -> None:
    """Refuse what cannot run, and begin nothing."""
    assert streaming.control is not None, "its windows come from a control"
    _check(sides, asked, streaming.control)
    _check_state(sides, asked, streaming, _both(sides, asked), _keys(asked))


def join_controlled(
    sides: Sequence[JoinSide],
    asked: WindowJoin,
    condition: list[Column],
    streaming: Streaming,
) -> DataFrame:
    """The pairs of the windows of the moment, in the long layout."""
    control = streaming.control
    assert control is not None, "its windows come from a control"
    check_controlled(sides, asked, streaming)
    joined, keys = _both(sides, asked), _keys(asked)
    spec = _spec(sides, asked, keys, streaming.buckets)
    windows = tuple(window.left for window in asked.windows)
    terms = Terms(())
    start = Start(
        tuple(f"{w.id} = {text_of(w)}" for w in windows),
        tuple(Label(w.id, w) for w in windows),
        terms,
    )
    path = announce(control, Stream(windows, terms, asked.on))
    processor = CommandProcessor(
        partial(ControlledPairs, ControlledRecords(spec, start)), path, None
    )
    own = labels(spec.buckets)
    keyed = add_bucket(joined, keys, own)
    packed = map_in_arrow(keyed, Packing(gather, own, with_newest=True, time=TIME), PACKED)
    schema = _schema(joined, keys)
    pairs = step_with_commands(packed, control, own, processor, schema, "Append", metric_name())
    for each in condition:
        pairs = pairs.where(each)
    names = [F.col(key).alias(name) for key, name in zip(keys, asked.on, strict=True)]
    window = window_column("start", "end", sides[0].kind, "window")
    return pairs.select("window_id", window, *names, "left", "right")


def _keys(asked: WindowJoin) -> tuple[str, ...]:
    return tuple(f"k{i}" for i, _ in enumerate(asked.on))


def _check(sides: Sequence[JoinSide], asked: WindowJoin, control: Control) -> None:
    """Refuse what has no windows that come and go."""
    if not all(side.given.isStreaming for side in sides):
        raise StrategyError(CONTROL_ON_BATCH)
    if asked.layout != "long":
        raise StrategyError(
            f"layout={shown(asked.layout)} cannot go with a control: its rows list the windows "
            "that hold a pair, and with a control these change; use layout='long'"
        )
    pair = next((window.id for window in asked.windows if not window.same), None)
    if pair is not None:
        raise StrategyError(
            f"window {shown(pair)} cannot go with a control: windows that come and go are the same "
            "for both sides; give one window, and narrow a side by where="
        )
    if control.grain != 1:
        raise ControlError(
            f"grain {duration_text(control.grain)} is for aggregates, whose rows are "
            "pre-aggregated to it: leave it out, as a join keeps rows one by one"
        )


def _both(sides: Sequence[JoinSide], asked: WindowJoin) -> DataFrame:
    """Rows of both sides in one table; null equals nothing, so rows without a key meet none."""
    parts = []
    for side, prefix in zip(sides, "lr", strict=True):
        other, name = ("right", "left") if prefix == "l" else ("left", "right")
        kinds = sides["rl".index(prefix)].rows.schema[other].dataType
        fields = [side.rows.schema[f"{prefix}{i}"] for i, _ in enumerate(asked.on)]
        part = side.rows.select(
            *(F.expr(one_zero(f)).alias(f"k{i}") for i, f in enumerate(fields)),
            F.col(f"{prefix}t").alias(TIME),
            F.col(name),
            F.lit(None).cast(kinds).alias(other),
        )
        known = [f"k{i}" for i, _ in enumerate(asked.on)]
        parts.append(part.dropna("any", subset=[TIME]).where(_all_known(known)))
    with translate_refusals("the two sides do not have the same keys"):
        joined = parts[0].unionByName(parts[1])
        joined.schema  # noqa: B018  (Connect analyses only now)
    return joined


def _all_known(names: Sequence[str]) -> Column:
    return F.expr(" AND ".join(f"{name} IS NOT NULL" for name in names))


def _check_state(
    sides: Sequence[JoinSide],
    asked: WindowJoin,
    streaming: Streaming,
    joined: DataFrame,
    keys: tuple[str, ...],
) -> None:
    """Refuse streams that cannot have columnar state, and rows that Python cannot be handed."""
    table = Table(joined, columns_of([], lambda _: ""), sides[0].kind, keys, (), (), ())
    foreign = arrow_refusal(joined.schema)
    reason = (
        bucketed.refusal(Bound(sides[0].given, asked.left, streaming))
        or not_in_arrow(table)
        or (f"{foreign} cannot be handed to Python" if foreign else None)
    )
    if reason is not None:
        raise StrategyError(f"a join with a control cannot run on these streams: {reason}")


def _spec(
    sides: Sequence[JoinSide], asked: WindowJoin, keys: tuple[str, ...], buckets: int | None
) -> PairSpec:
    spark = sides[0].given.sparkSession
    queries = (asked.left, asked.right)
    delays = [block_length(s.given, query) for s, query in zip(sides, queries, strict=True)]
    return PairSpec(
        keys,
        max(*delays, max(asked.reach) // BLOCKS),
        bucket_count(keys, buckets, spark),
        (
            ("keys", asked.on),
            ("times", tuple(query.time for query in queries)),
            ("columns of the left", tuple(sides[0].columns)),
            ("columns of the right", tuple(sides[1].columns)),
        ),
        judges_now(spark),
    )


def _schema(joined: DataFrame, keys: tuple[str, ...]) -> StructType:
    """What the buckets give."""
    given = joined.schema
    return StructType(
        [
            StructField("window_id", StringType()),
            StructField("start", LongType()),
            StructField("end", LongType()),
            *(given[name] for name in (*keys, "left", "right")),
        ]
    )

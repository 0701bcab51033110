"""Trailing windows on a stream: rows wait in the state until the watermark has passed them.

    lifted rows ─ packed by bucket ─ transformWithState ─ unpacked ─ results
                  mapInArrow         a step a bucket      mapInArrow  JVM

The state of a bucket of keys has the rows that wait, with all their columns, and the events that
later rows may reach (muntin.data_windows.trailing_bucket). Spark sees plain numbers for times, so
that it drops no row by itself: buckets judge lateness and count what they drop.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pyspark.sql import Column, DataFrame, GroupedData
from pyspark.sql import functions as F

from muntin.aggregates.columns import distinct_inputs, inputs_of
from muntin.data_windows.controlled_records import ControlledRecords
from muntin.data_windows.controlled_trailing import ControlledTrailing
from muntin.data_windows.record_buffer import TIME
from muntin.data_windows.stream_state import CONTROLLED
from muntin.data_windows.trailing_bucket import TrailingBucket, TrailingSpec
from muntin.engines.spark.arrow_stage import map_in_arrow
from muntin.engines.spark.command_steps import (
    PACKED,
    CommandProcessor,
    announce,
    asked_result,
    check_no_grain,
    step_with_commands,
)
from muntin.engines.spark.history import (
    check_history,
    empty_cells,
    pack_history,
    take_before,
)
from muntin.engines.spark.labels import labels
from muntin.engines.spark.names import column, quoted
from muntin.engines.spark.operators.bucketed import (
    add_bucket,
    bucket_count,
    describe_partials,
    judges_now,
    metric_name,
)
from muntin.engines.spark.operators.frames import Records
from muntin.engines.spark.operators.records import (
    RecordProcessor,
    block_length,
    gather,
    step_records,
)
from muntin.engines.spark.packing import BUCKET, Packing
from muntin.engines.spark.row_partials import lift_rows, not_in_arrow
from muntin.engines.spark.stream_source import EVENT_TIME, time_field
from muntin.errors import MuntinError
from muntin.model.history import HistoryTable
from muntin.physical.operators.frames import describe_frame
from muntin.state.control import Control, Label, Stream, Terms
from muntin.state.control.decision import TRAILING
from muntin.state.kept_labels import Start


def run(
    records: Records,
    arrival: bool,
    buckets: int | None,
    history: HistoryTable | None = None,
    control: Control | None = None,
) -> DataFrame:
    """The rows of a stream, whose watermark is set, with the features of the kernel.

    With a `control` there is one row for each row and window of the moment.
    """
    spec = _spec(records, arrival, buckets, None if history is None else history.instant)
    own = labels(spec.buckets)
    keyed = add_bucket(records.lifted, spec.keys, own)
    initial = None if history is None else _initial_events(records, history, own)
    if control is not None:
        return _run_controlled(records, spec, keyed, initial, control)
    processor = RecordProcessor(partial(TrailingBucket, spec))
    found = step_records(keyed, processor, own, records.schema, initial)
    return found.select(*_given(records), *records.results())


def _given(records: Records) -> list[Column]:
    """The columns of the rows, as they were given."""
    field = time_field(records.rows, records.asked.rows)
    return [
        F.col(f"r.c{i}").alias(name, metadata=EVENT_TIME if field and name == field.name else {})
        for i, name in enumerate(records.rows.columns)
    ]


def _run_controlled(
    records: Records,
    spec: TrailingSpec,
    keyed: DataFrame,
    initial: GroupedData | None,
    control: Control,
) -> DataFrame:
    check_no_grain(control)
    asked = records.asked
    names = tuple(map(asked.feature, asked.aggregates))
    known = {frame.id: frame for frame in asked.frames}
    terms = Terms(names, 1, TRAILING, known)
    words = tuple(f"{f.id} = {describe_frame(f, asked.closed)}" for f in asked.frames)
    started = tuple(Label(frame.id, frame, text=frame.id) for frame in asked.frames)
    path = announce(control, Stream(asked.frames, terms, asked.keys))
    unfixed = [(what, (CONTROLLED,) if what == "windows" else own) for what, own in spec.asked]
    spec = replace(spec, asked=tuple(unfixed))
    stream = ControlledRecords(spec, Start(words, started, terms))
    processor = CommandProcessor(partial(ControlledTrailing, stream), path, spec.until)
    own = labels(spec.buckets)
    packed = map_in_arrow(keyed, Packing(gather, own, with_newest=True, time=TIME), PACKED)
    one = replace(records, asked=replace(asked, frames=asked.frames[:1]))
    schema = one.schema.add("asked", "string").add("window_id", "string")
    found = step_with_commands(
        packed, control, own, processor, schema, "Append", metric_name(), initial
    )
    computed = found.select("window_id", *_given(records), *one.results(), "asked")
    wide = {asked.feature(a): quoted(asked.column(a, asked.frames[0])) for a in asked.aggregates}
    features = [asked_result(names.index(n), sql).alias(n) for n, sql in wide.items()]
    return computed.select("window_id", *map(column, records.rows.columns), *features)


def _initial_events(records: Records, history: HistoryTable, own: tuple[int, ...]) -> GroupedData:
    """The events of the history by bucket, which the state begins with; none of them is a row."""
    if history.table is None:
        return empty_cells(records.rows, ()).groupBy(BUCKET)
    check_history(history)
    assert isinstance(history.table, DataFrame), "it was checked"
    reach = records.asked.reach
    since = None if reach is None else history.instant - reach
    try:
        table = replace(records, events=history.table, known=None).table
    except MuntinError as error:
        raise type(error)(f"history: {error}") from None
    inputs = distinct_inputs(records.division.own)
    asked = records.asked.events
    events = take_before(history, table, records.table, asked, inputs, since)
    like = records.lifted
    row = F.lit(None).cast(like.schema["r"].dataType).alias("r")
    lifted = lift_rows(events).select("*", row).select(*like.columns)
    return pack_history(add_bucket(lifted, table.keys, own), own).groupBy(BUCKET)


def refusal(records: Records) -> str | None:
    """Why Python cannot tell these keys apart, or put events of one instant in order; or None."""
    return not_in_arrow(records.table, records.ties)


def _spec(records: Records, arrival: bool, buckets: int | None, until: int | None) -> TrailingSpec:
    spark, table = records.rows.sparkSession, records.table
    return TrailingSpec(
        table.keys,
        records.program,
        records.ties,
        block_length(records.rows, records.asked.rows),
        bucket_count(table.keys, buckets, spark),
        _words(records),
        judges_now(spark),
        arrival,
        until,
    )


def _words(records: Records) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What is asked, as far as the state depends on it: labels may change at a restart."""
    asked, query = records.asked, records.asked.events
    values = [
        f"{how.how} {how.share} of "
        + ", ".join(
            f"[{i.argument} if {i.predicate}]" if i.predicate else f"[{i.argument}]"
            for i in inputs_of(aggregate)
        )
        for aggregate, how in zip(records.division.from_values, records.program.values, strict=True)
    ]
    return (
        ("windows", tuple(describe_frame(frame, asked.closed) for frame in asked.frames)),
        ("aggregates", (*describe_partials(records.table.columns), *values)),
        ("time", (asked.time,)),
        ("events", (f"another stream, by {query.time}",) if asked.apart else ("the rows",)),
        ("keys", query.keys),
        ("where", (query.where,) if query.where else ()),
        ("order_by", query.order_by),
        ("columns", tuple(records.rows.columns)),
    )

"""The bucketed operator with a control: windows come and go while the stream runs.

Rows are pre-aggregated to the grain, packed by bucket, and meet the commands in one stateful
operator (`command_steps`); the buckets put them into the slices of the moment.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from muntin.engines.spark.bind import Bound
from muntin.engines.spark.command_steps import (
    CommandProcessor,
    announce,
    asked_result,
    step_with_commands,
)
from muntin.engines.spark.finishing import window_column
from muntin.engines.spark.labels import labels
from muntin.engines.spark.operators import bucketed
from muntin.engines.spark.operators.bucketed import (
    initial_slices,
    metric_name,
    pack_by_bucket,
    spec_of,
)
from muntin.engines.spark.stream_source import StreamSource
from muntin.errors import ControlError
from muntin.physical import FROM_SOURCE, PhysicalPlan
from muntin.physical.operators.controlled import CONTROLLED
from muntin.physical.operators.expand import Level, SlicesTarget
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import Cut, Slices
from muntin.state.control import Command, Control, Stream, Terms, new_key
from muntin.state.control import refusal as refused
from muntin.state.control.command import check_window
from muntin.state.controlled import Controlled, ControlledBucket


def refusal(bound: Bound) -> str | None:
    """Why the stream cannot have columnar state, or has no control; or None."""
    if bound.streaming is not None and bound.streaming.control is None:
        return "its windows come from a control: give control=mt.Control(path)"
    return bucketed.refusal(bound)


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """The rows of all windows of the moment."""
    assert bound.streaming is not None, "it runs on streams"
    assert bound.streaming.control is not None, "its windows come from a control"
    source, control = bound.source(physical), bound.streaming.control
    spec = replace(spec_of(source, bound, CONTROLLED), bases=())
    windows = source.query.windows
    stream = Controlled(spec, windows, _terms(source, control))
    path = announce(control, Stream(windows, stream.terms, source.query.keys))
    grid = Base(0, Slices((Cut(control.grain, 0),)), ())
    packed = pack_by_bucket(source, spec, (grid,))
    initial = initial_slices(bound, spec, windows, Level({}, {FROM_SOURCE: (_target(grid),)}))
    processor = CommandProcessor(partial(ControlledBucket, stream), path, spec.until)
    results = step_with_commands(
        packed,
        control,
        labels(spec.buckets),
        processor,
        labelled_schema(source),
        "Update" if spec.update else "Append",
        metric_name(),
        initial,
    )
    return finish_labelled(results, source)


def _target(grid: Base) -> SlicesTarget:
    return SlicesTarget(grid.node, grid.slices)


def _terms(source: StreamSource, control: Control) -> Terms:
    """What the stream can do for windows, those of its start among them."""
    terms = Terms(tuple(r.name for r in source.table.columns.results), control.grain)
    for kept, window in enumerate(source.query.windows):
        check_window(window)
        reason = refused(Command(new_key(), "register", window.id, window), (), terms, kept)
        if reason:
            raise ControlError(reason)
    return terms


def labelled_schema(source: StreamSource) -> StructType:
    """The columns of labelled results."""
    keys = [f for f in source.schema if f.name in source.table.keys]
    own = {"window_id": "string", "start": "long", "end": "long", "asked": "string"}
    schema = StructType(keys)
    for name, kind in own.items():
        schema = schema.add(name, kind)
    return StructType([*schema, *source.table.fields])


def finish_labelled(rows: DataFrame, source: StreamSource) -> DataFrame:
    """The results under the user's names; null where a window does not ask for an aggregate."""
    keys = zip(source.table.keys, source.query.keys, strict=True)
    finals = enumerate(source.table.columns.results)
    return rows.select(
        "window_id",
        window_column("start", "end", source.table.time_type, "window"),
        *(F.col(k).alias(name) for k, name in keys),
        *(asked_result(i, r.final).alias(r.name) for i, r in finals),
    )

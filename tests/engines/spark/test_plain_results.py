"""Frames of Arrow's own columns: null, NaN and large integers leave as they entered."""

from math import isnan

import pyarrow as pa
from pyspark.sql.types import (
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructType,
)

from muntin.engines.spark.plain_results import FRAME, plain_frames, plain_schema
from muntin.state.bucket import Step

RESULTS = (
    StructType()
    .add("k0", StringType())
    .add("node", IntegerType())
    .add("p0", LongType())
    .add("p1", DoubleType())
)


def result(count: int = 1) -> pa.Table:
    columns = {
        "node": pa.array([3] * count, pa.int32()),
        "k0": [None] * count,
        "p0": pa.array([2**62 + 1] * count),
        "p1": [float("nan")] * count,
    }
    return pa.table(columns)


def columns_of(step: Step, since: list[int | None]) -> list[dict[str, list[object]]]:
    """Each frame as PySpark takes its columns: by the protocol of Arrow's own arrays."""
    schemas = plain_schema(RESULTS)
    assert schemas is not None
    found = []
    for frame in plain_frames(step, since, schemas[1]):
        assert all(hasattr(frame[name].array, "__arrow_array__") for name in frame)
        arrays = {str(name): pa.Array.from_pandas(frame[name]) for name in frame}
        assert all(isinstance(each, pa.Array) for each in arrays.values()), "in one piece"
        found.append({name: each.to_pylist() for name, each in arrays.items()})
    return found


def test_values_leave_as_they_entered() -> None:
    nothing = pa.table({"node": pa.array([3], pa.int32()), "k0": ["a"], "p0": [None], "p1": [None]})
    step = Step(iter([result(), nothing]), late=2, dropped=1, complete_from={"hour": 7})
    [columns] = columns_of(step, [None, 7])
    assert columns["node"] == [None, 3, 3], "what the step says of itself has no node"
    assert columns["k0"] == [None, None, "a"]
    assert columns["p0"] == [None, 2**62 + 1, None]
    first, second, third = columns["p1"]
    assert first is None
    assert isinstance(second, float)
    assert isnan(second)
    assert third is None
    assert (columns["late"], columns["dropped"]) == ([2, None, None], [1, None, None])
    assert columns["complete_from"] == ["[null, 7]", None, None]


def test_many_results_leave_in_several_frames() -> None:
    step = Step(iter([result(FRAME), result(5)]))
    sizes = [len(columns["node"]) for columns in columns_of(step, [])]
    assert sizes == [FRAME + 1, 5]


def test_types_that_a_frame_would_change_are_packed() -> None:
    assert plain_schema(StructType().add("p0", DecimalType(10, 2))) is None

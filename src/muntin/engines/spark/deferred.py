"""A stateful processor that imports Muntin when its first rows come, not when a query is planned.

Before the first batch Spark starts a Python process on the driver, only to learn which state
variables a processor has. Importing Muntin there would delay every start by a second. So the class
that Spark gets is made inside a function: it is sent by value, with the real processor as bytes.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

if TYPE_CHECKING:
    import pandas as pd

    from muntin.engines.spark.processor import BucketProcessor


NAME = StructType([StructField("name", StringType())])
ENTRY = StructType([StructField("entry", BinaryType())])
"""The map of a bucket's state: its key and its value. (As texts, each task would have Spark parse
them.)"""


def defer(processor: BucketProcessor) -> StatefulProcessor:
    """The same processor, made anew in every task that has rows or timers for it."""
    packed = pickle.dumps(processor)

    class Deferred(StatefulProcessor):
        """Names the state; all else is left to the processor in `packed`."""

        def init(self, handle: StatefulProcessorHandle) -> None:
            entries = handle.getMapState("entries", NAME, ENTRY)
            self._state = handle, entries
            self._own: Any = None

        def _processor(self) -> Any:
            if self._own is None:
                self._own = pickle.loads(packed)
                self._own.begin(*self._state)
            return self._own

        def handleInputRows(  # noqa: N802  (Spark's name)
            self, key: Any, rows: Iterator[Any], timerValues: TimerValues
        ) -> Iterator[pd.DataFrame]:
            frames: Iterator[pd.DataFrame] = self._processor().handleInputRows(
                key, rows, timerValues
            )
            return frames

        def handleInitialState(  # noqa: N802
            self, key: Any, initialState: Any, timerValues: TimerValues
        ) -> None:
            self._processor().handleInitialState(key, initialState, timerValues)

        def handleExpiredTimer(  # noqa: N802
            self, key: Any, timerValues: TimerValues, expiredTimerInfo: Any
        ) -> Iterator[pd.DataFrame]:
            frames: Iterator[pd.DataFrame] = self._processor().handleExpiredTimer(
                key, timerValues, expiredTimerInfo
            )
            return frames

        def close(self) -> None:
            if self._own is not None:
                self._own.close()

    return Deferred()

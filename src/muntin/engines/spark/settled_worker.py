"""A Python worker that is settled: what it has imported is no longer searched for garbage.

Spark's workers collect garbage after every task, and look at each object of pandas, Arrow and all
else that was imported: some 90,000 of them, 20 ms or more of the processor, where a step of a
stream takes 10. So at the end of a task everything that lives is set aside for good (`gc.freeze`),
once, and again only when more modules have come.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext

_known_modules = 0


def settle_worker() -> None:
    """Set aside what lives, unless that was done since the last import; in a task of Spark only."""
    global _known_modules
    if TaskContext.get() is not None and len(sys.modules) > _known_modules:
        gc.collect()
        gc.freeze()
        _known_modules = len(sys.modules)


@dataclass(frozen=True, slots=True)
class Settling:
    """A function for mapInArrow, at whose end the worker is settled."""

    body: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What the function makes of one partition."""
        yield from self.body(batches)
        settle_worker()

"""A Python worker that is settled: what it has imported is no longer searched for garbage.

Spark's workers collect garbage after every task, and look at each object of pandas, Arrow and all
else that was imported: some 90,000 of them, 20 ms or more of the processor, where a step of a
stream takes 10. So at the end of a task everything that lives is set aside for good (`gc.freeze`),
once, and again only when more modules have come.
"""

from __future__ import annotations

import gc
import sys

from pyspark import TaskContext

_known_modules = 0


def settle_worker() -> None:
    """Set aside what lives, unless that was done since the last import; in a task of Spark only."""
    global _known_modules
    if TaskContext.get() is not None and len(sys.modules) > _known_modules:
        gc.collect()
        gc.freeze()
        _known_modules = len(sys.modules)

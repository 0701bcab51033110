"""All operators, in the order in which they are tried; simpler ones win ties.

An operator is a file here and a file of the same name in `engines/spark/operators`; those that run
in process are a file of `engines/duckdb`.
"""

from __future__ import annotations

from muntin.physical.operators.arrays import ARRAYS
from muntin.physical.operators.base import Operator
from muntin.physical.operators.bucketed import BUCKETED
from muntin.physical.operators.controlled import CONTROLLED
from muntin.physical.operators.cutty import CUTTY
from muntin.physical.operators.distinct import DISTINCT
from muntin.physical.operators.expand import EXPAND
from muntin.physical.operators.frames import FRAMES
from muntin.physical.operators.join import JOIN
from muntin.physical.operators.kernel import KERNEL
from muntin.physical.operators.native import NATIVE
from muntin.physical.operators.records import RECORDS
from muntin.physical.operators.rows import ROWS
from muntin.physical.operators.runs import RUNS
from muntin.physical.operators.sessions import SESSIONS
from muntin.physical.operators.sql import SQL
from muntin.physical.operators.window import WINDOW

BATCH: tuple[Operator, ...] = (
    *(WINDOW, EXPAND, KERNEL, ROWS),
    *(SESSIONS, RUNS, CUTTY),
    *(DISTINCT, JOIN, FRAMES),
)
"""On a batch DataFrame of Spark."""
STREAM: tuple[Operator, ...] = (NATIVE, BUCKETED, CONTROLLED, RECORDS, DISTINCT, JOIN, FRAMES)
"""On a stream of Spark."""
TEXT: tuple[Operator, ...] = (SQL, CUTTY)
"""As SQL text, for any engine."""
IN_PROCESS: tuple[Operator, ...] = (SQL, ARRAYS, CUTTY)
"""On tables in process, by DuckDB and NumPy."""

OPERATORS: dict[str, tuple[Operator, ...]] = {
    "spark": BATCH,
    "stream": STREAM,
    "sql": TEXT,
    "duckdb": IN_PROCESS,
}
"""By the name of the engine."""

__all__ = ["BATCH", "IN_PROCESS", "OPERATORS", "STREAM", "TEXT", "Operator"]

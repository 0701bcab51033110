"""Spark's refusals as sentences: one line of what it says, under the name of what does not fit.

Spark Connect analyses a DataFrame only when its schema is read: read it inside the block. PySpark
logs the stack trace of every refusal, even of those that are caught, so the log is silenced there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.logger import PySparkLogger

from muntin.errors import ColumnError

Part = TypeVar("Part")
Result = TypeVar("Result")

REFUSALS = (AnalysisException, ParseException)

_LOGS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_PLACE = re.compile(r"\s*SQLSTATE: \w+.*$")
_FOR_EACH_ROW = (
    "it is computed for each row, so it cannot hold an aggregate itself, a window function or what "
    "makes several rows of one"
)
_IN_OTHER_WORDS = {
    "INVALID_WHERE_CONDITION": _FOR_EACH_ROW,
    "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT": _FOR_EACH_ROW,
    "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE": _FOR_EACH_ROW,
}


@contextmanager
def silence_log() -> Iterator[None]:
    """Nothing that Spark refuses inside the block is logged: an error of ours says it."""
    logs = [PySparkLogger.getLogger(name) for name in _LOGS]
    before = [log.disabled for log in logs]
    for log in logs:
        log.disabled = True
    try:
        yield
    finally:
        for log, disabled in zip(logs, before, strict=True):
            log.disabled = disabled


@contextmanager
def translate_refusals(what: str) -> Iterator[None]:
    """A refusal inside the block is an error of ours that begins with `what`."""
    try:
        with silence_log():
            yield
    except REFUSALS as error:
        raise ColumnError(f"{what}: {first_line(error)}") from None


def try_parts(
    attempt: Callable[[Sequence[Part]], Result],
    parts: Sequence[Part],
    name: Callable[[Part], str],
) -> Result:
    """Try all parts together; if Spark refuses, one by one, so that the error names the part."""
    try:
        with silence_log():
            return attempt(parts)
    except REFUSALS:
        for part in parts:
            with translate_refusals(f"{name(part)} cannot be computed"):
                attempt([part])
        raise


def of_spark(error: Exception) -> bool:
    """Whether Spark raised it; what PySpark has no class for arrives as Java's own."""
    return isinstance(error, PySparkException) or hasattr(error, "java_exception")


def first_line(error: Exception) -> str:
    """What Spark says, without its plan dump and without where in our SQL it stands."""
    java = getattr(error, "java_exception", None)
    if java is not None:
        text = str(java.getMessage() or java.toString())
        return _PLACE.sub("", text.strip().splitlines()[0])
    condition = error.getCondition() if isinstance(error, REFUSALS) else None
    if condition in _IN_OTHER_WORDS:
        return _IN_OTHER_WORDS[condition]
    return _PLACE.sub("", str(error).strip().splitlines()[0])

"""Whether a table gives the same rows whenever it is read: what is read twice must.

Spark says what it would run only in the text of a plan, which it prints. Scans, projections and
filters give the same rows again; a limit, a sample or a shuffle may not, and neither does what
draws numbers. What is not known here is taken to change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO

from pyspark.sql import DataFrame

_STEADY = {
    *("FileScan", "BatchScan", "LocalTableScan", "Range", "InMemoryTableScan"),
    *("ColumnarToRow", "Project", "Filter", "Union"),
}
"""Operators that give the same rows again."""
_OPERATOR = re.compile(r"^[\s:|+-]*(?:\*\(\d+\) |\* )?(\w+)", re.MULTILINE)
_DRAWS = re.compile(r"\b(?:rand|randn|random|uniform|randstr|uuid|shuffle|UDF|pythonUDF\d*)\b")


def is_repeatable(df: DataFrame) -> bool:
    """Whether every reading of the table is known to give the same rows."""
    with redirect_stdout(StringIO()) as printed:
        df.explain("simple")
    _, _, plan = printed.getvalue().partition("== Physical Plan ==\n")
    lines = "\n".join(_outside_caches(plan.splitlines()))
    operators = _OPERATOR.findall(lines.strip("\n"))
    return bool(operators) and set(operators) <= _STEADY and not _DRAWS.search(lines)


def _outside_caches(lines: list[str]) -> Iterator[str]:
    """The lines of a plan but for how cached tables were computed once."""
    cached: int | None = None
    for line in lines:
        depth = len(line) - len(line.lstrip(" :|+-"))
        if cached is None or depth <= cached:
            cached = depth if "InMemoryTableScan" in line else None
            yield line

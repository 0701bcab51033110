"""The columns of a result as a sink sees them: the bounds of the window are two of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from muntin.errors import SinkError, shortened

WINDOW, START, END = "window", "window_start", "window_end"
"""The struct of the long layout, and the two columns that it becomes."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its type in Spark's words, its path in the result, whether it is of the key."""

    name: str
    kind: str
    path: tuple[str, ...]
    marked: bool = False


def flatten(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns with `window_start` and `window_end` in place of the struct `window`.

    The window is of the key where any other column is known to be.

    >>> window = Column("window", "struct<start:timestamp,end:timestamp>", ("window",))
    >>> id = Column("window_id", "string", ("window_id",), marked=True)
    >>> [(c.name, c.kind, c.marked) for c in flatten([id, window])][1:]
    [('window_start', 'timestamp', True), ('window_end', 'timestamp', True)]
    """
    given = list(columns)
    marked = any(column.marked for column in given)
    flat: list[Column] = []
    for column in given:
        bounds = window_bounds(column.kind) if column.name == WINDOW else None
        if bounds is None:
            flat.append(column)
        else:
            start, end = bounds
            flat.append(Column(START, start, (WINDOW, "start"), marked))
            flat.append(Column(END, end, (WINDOW, "end"), marked))
    _refuse_twins(flat)
    return tuple(flat)


def window_bounds(kind: str) -> tuple[str, str] | None:
    """The types of start and end, if this is the type of a window.

    >>> window_bounds("struct<start:date,end:date>"), window_bounds("struct<a:int>")
    (('date', 'date'), None)
    """
    inner = kind.removeprefix("struct<start:").removesuffix(">")
    start, comma, end = inner.partition(",end:")
    is_window = len(inner) < len(kind) and comma and not set("<>,:") & set(start + end)
    return (start, end) if is_window else None


def _refuse_twins(columns: Sequence[Column]) -> None:
    names = [column.name for column in columns]
    for name in names:
        if names.count(name) > 1:
            raise SinkError(
                f"the result has two columns named {shortened(name)!r}, and a table can have one: "
                "rename one of them"
            )

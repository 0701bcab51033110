"""Rows of a result on the terminal: a table that fits, windows as start – end."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame
    from rich.console import Console


def printer(console: Console, most: int) -> Callable[[DataFrame, str], None]:
    """Prints the first rows of a DataFrame under a title."""

    def show(rows: DataFrame, title: str) -> None:
        kept = rows.persist()
        kept.count()  # a micro-batch must be computed whole, or its state is not committed
        found = kept.limit(most + 1).collect()
        kept.unpersist()
        if not found:
            return
        table = Table(title=title, title_justify="left")
        for name in rows.columns:
            table.add_column(name, no_wrap=name in ("window_id", "window"), overflow="fold")
        for row in found[:most]:
            table.add_row(*(cell(value) for value in row))
        console.print(table)
        if len(found) > most:
            console.print(f"… and more: the first {most} are shown (sink.rows)", highlight=False)

    return show


def cell(value: Any) -> str:
    """A value as text.

    >>> cell(0.1 + 0.2), cell(None), cell("EWR")
    ('0.3', 'null', 'EWR')
    """
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:.10g}"
    if getattr(value, "__fields__", None) == ["start", "end"]:
        return interval(*value)
    return str(value)


def interval(start: datetime, end: datetime) -> str:
    """Start and end, the day only once if it is the same.

    >>> interval(datetime(2013, 1, 1, 10), datetime(2013, 1, 1, 11))
    '2013-01-01 10:00 – 11:00'
    >>> interval(datetime(2013, 1, 1, 23), datetime(2013, 1, 2, 0, 0, 30))
    '2013-01-01 23:00 – 2013-01-02 00:00:30'
    """
    last = _clock(end) if start.date() == end.date() else f"{end.date()} {_clock(end)}"
    return f"{start.date()} {_clock(start)} – {last}"


def _clock(instant: datetime) -> str:
    if instant.microsecond:
        return f"{instant:%H:%M:%S.%f}"
    return f"{instant:%H:%M:%S}" if instant.second else f"{instant:%H:%M}"

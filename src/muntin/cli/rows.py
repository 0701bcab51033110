"""Rows of a result on the terminal: a table that fits, windows as start – end."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from muntin.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame
    from rich.console import Console


def show_rows(rows: DataFrame, title: str, console: Console, most: int) -> None:
    """Print the first rows of a DataFrame under a title."""
    kept = rows.persist()
    kept.count()  # a micro-batch must be computed whole, or its state is not committed
    found = kept.limit(most + 1).collect()
    kept.unpersist()
    if found:
        console.print(table_of(rows.columns, found[:most], title))
    if len(found) > most:
        console.print(f"… and more: the first {most} are shown (sink.rows)", highlight=False)


def table_of(names: Sequence[str], rows: Sequence[Sequence[object]], title: str) -> Table:
    """Rows as a table, in which brackets are no markup and nothing moves the cursor."""
    table = Table(title=Text(printable(title)), title_justify="left")
    for name in names:
        wide = name in ("window_id", "window")
        table.add_column(Text(printable(name)), no_wrap=wide, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell(value))) for value in row))
    return table


def cell(value: object) -> str:
    """A value as text.

    >>> cell(0.1 + 0.2), cell(None), cell("EWR")
    ('0.3', 'null', 'EWR')
    """
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, tuple) and getattr(value, "__fields__", None) == ["start", "end"]:
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

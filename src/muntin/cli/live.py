"""The live view of a stream: what it reads, emits, keeps and drops, and how far behind it is.

On a terminal a table that renews itself, otherwise a line for each micro-batch. Ctrl-C lets the
running micro-batch go and stops the query, so that a restart goes on from its checkpoint.
"""

from __future__ import annotations

from datetime import timedelta
from time import sleep
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from muntin.errors import MuntinError, printable, shortened

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.streaming.query import StreamingQuery

    from muntin.engines.spark.progress import Progress

MOST_LINES = 12
"""Windows shown one by one."""


class StreamError(MuntinError, RuntimeError):
    """A stream that ended with an error of Spark's."""


def watch(query: StreamingQuery, title: str, console: Console) -> None:
    """Show the query's progress until it ends."""
    try:
        if console.is_terminal:
            with Live(console=console, refresh_per_second=4, transient=False) as live:
                _follow(query, lambda p: live.update(view(p, title)))
        else:
            _follow(query, lambda p: console.print(line(p), soft_wrap=True, highlight=False))
    except KeyboardInterrupt:
        console.print("stopping …")
        query.stop()
    failure = query.exception()
    if failure is not None:
        raise StreamError(f"{title} stopped: {_reason(failure)}")
    console.print(f"{printable(title)}: stopped", markup=False, highlight=False)


def _follow(query: StreamingQuery, show: Callable[[Progress], None]) -> None:
    from muntin.engines.spark.progress import progress

    seen = -1
    while True:
        active = query.isActive
        now = progress(query)
        if now is not None and now.batch != seen:
            seen = now.batch
            show(now)
        if not active:
            return
        sleep(0.25)


def line(now: Progress) -> str:
    """One micro-batch as a line."""
    return ", ".join(f"{name} {value}" for name, value in figures(now).items())


def view(now: Progress, title: str) -> Table:
    """One micro-batch as a table."""
    table = Table(title=Text(printable(title)), title_justify="left", show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(justify="right")
    for name, value in figures(now).items():
        table.add_row(name, value)
    if now.results:
        table.add_section()
    for id, rate in list(now.results.items())[:MOST_LINES]:
        table.add_row(Text(f"  {shortened(id)}"), f"{rate:,.0f} results/s")
    if len(now.results) > MOST_LINES:
        table.add_row("  …", f"and {len(now.results) - MOST_LINES} windows more")
    return table


def figures(now: Progress) -> dict[str, str]:
    """The numbers of a micro-batch, in words."""
    rates = f"{now.input_rate:,.0f}/s in, {now.work_rate:,.0f}/s worked"
    mark = f"{now.watermark:%Y-%m-%d %H:%M:%S}" if now.watermark else "none yet"
    behind = None if now.lag is None else timedelta(seconds=round(now.lag.total_seconds()))
    lag = "" if behind is None else f", {behind} behind"
    late = f"{now.late_rows:,} rows dropped"
    if now.revisions:
        late += f", {now.revisions:,} results revised"
    if now.future_rows:
        late += f", {now.future_rows:,} from the future left out"
    return {
        "batch": f"{now.batch}",
        "input": f"{now.input_rows:,} rows, {rates}",
        "results": f"{sum(now.results.values()):,.0f}/s",
        "watermark": mark + lag,
        "state": f"{now.state_rows:,} rows, {now.state_bytes / 1e6:,.1f} MB",
        "late": late,
        "batch time": f"{now.batch_seconds:.2f} s",
    }


def _reason(failure: BaseException) -> str:
    """The innermost cause that Spark names, in one line."""
    causes = [line for line in str(failure).splitlines() if line.startswith("Caused by: ")]
    inner = getattr(failure, "cause", None)
    while inner is not None:
        causes.append(str(inner))
        inner = getattr(inner, "cause", None)
    return (causes[-1] if causes else str(failure)).strip().splitlines()[0]

"""The windows of a stream as a table: what runs, what waits, what was suspended or refused.

waiting      the stream has not met the command yet
running      its instances are emitted, from `complete_from` on; some older ones from `answers_from`
suspended    its instances that end by `until` are emitted, and no later ones
refused      with the reason
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from muntin.errors import printable
from muntin.model.window_text import text_of
from muntin.state.control.command import Command
from muntin.state.control.log import REFUSED, RUNNING, SUSPENDED, Entry, Stream

WAITING = "waiting"
COLUMNS = (
    *("id", "window", "aggregates", "state", "effective", "answers from", "complete from"),
    *("until", "reason"),
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A window of the list; times are instants of event time.

    `effective` is the newest event time of the stream when it met the registration, None for what
    was there before any row, or is waiting. From `complete_from` on all instances are emitted;
    `answers_from` is the begin of the first of those before that the state made whole, if any.
    """

    id: str
    window: str
    state: str
    effective: datetime | None = None
    complete_from: datetime | None = None
    until: datetime | None = None
    aggregates: tuple[str, ...] | None = None
    reason: str | None = None
    answers_from: datetime | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as texts, under COLUMNS."""
        begun = self.state.startswith((RUNNING, SUSPENDED))
        cells = (
            self.id,
            self.window,
            "all" if self.aggregates is None else ", ".join(self.aggregates),
            self.state,
            _text(self.effective, "the start" if begun else ""),
            _text(self.answers_from, ""),
            _text(self.complete_from, "the start" if begun else ""),
            _text(self.until, "the start" if self.state == SUSPENDED else ""),
            self.reason or "",
        )
        return tuple(map(printable, cells))


class Listing(tuple[Listed, ...]):
    """The windows of a stream in order; printed, a table."""

    @property
    def running(self) -> list[str]:
        """The ids of the windows that run or will, as far as is known."""
        return [row.id for row in self if row.state in (RUNNING, WAITING)]

    @property
    def table(self) -> list[tuple[str, ...]]:
        """The columns' names, then a row for each window; empty columns are left out."""
        rows = [row.cells for row in self]
        shown = [i for i in range(len(COLUMNS)) if any(row[i] for row in rows)]
        return [tuple(row[i] for i in shown) for row in (COLUMNS, *rows)]

    def __repr__(self) -> str:
        if not self:
            return "no windows"
        rows = self.table
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        padded = (map(str.ljust, row, widths) for row in rows)
        return "\n".join("  ".join(cells).rstrip() for cells in padded)


def list_windows(
    stream: Stream | None, entries: Sequence[Entry], commands: Sequence[Command]
) -> Listing:
    """The windows of the start, then what commands made of them, then commands that wait."""
    started = stream.windows if stream else ()
    rows = [Listed(w.id, text_of(w), RUNNING) for w in started]
    for entry in entries:
        _enter(rows, entry)
    met = {entry.key for entry in entries}
    for command in commands:
        if command.key not in met:
            _wait(rows, command)
    return Listing(rows)


def _enter(rows: list[Listed], entry: Entry) -> None:
    when, begin = instant(entry.effective), instant(entry.complete_from)
    early = instant(entry.answers_from)
    row = Listed(entry.id, entry.window or "", RUNNING, aggregates=entry.aggregates)
    if entry.state == REFUSED:
        rows.append(replace(row, state=f"{entry.action} {REFUSED}", reason=entry.reason))
    elif entry.state != SUSPENDED:
        rows.append(replace(row, effective=when, complete_from=begin, answers_from=early))
    elif (place := _find(rows, entry.id, RUNNING)) is not None:
        rows[place] = replace(rows[place], state=SUSPENDED, until=when)


def _wait(rows: list[Listed], command: Command) -> None:
    if command.window_text is not None:
        text, names = command.window_text, command.aggregates
        rows.append(Listed(command.id, text, WAITING, aggregates=names))
    elif (place := _find(rows, command.id, RUNNING, WAITING)) is not None:
        rows[place] = replace(rows[place], state=f"{rows[place].state}, suspension {WAITING}")


def _find(rows: list[Listed], id: str, *states: str) -> int | None:
    places = [i for i, row in enumerate(rows) if row.id == id and row.state in states]
    return places[-1] if places else None


def instant(microseconds: int | None) -> datetime | None:
    """An instant of event time.

    >>> instant(1_700_000_000_000_000)
    datetime.datetime(2023, 11, 14, 22, 13, 20, tzinfo=datetime.timezone.utc)

    One beyond the years that Python knows is the last or the first of them.

    >>> instant(10**30).year, instant(-(10**30)).year
    (9999, 1)
    """
    if microseconds is None:
        return None
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    except OverflowError:
        return (datetime.max if microseconds > 0 else datetime.min).replace(tzinfo=UTC)


def _text(moment: datetime | None, missing: str) -> str:
    if moment is None:
        return missing
    return moment.replace(tzinfo=None).isoformat(" ")

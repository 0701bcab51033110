"""What a stream starts from: a table of earlier rows, and the instant at which the stream begins.

    rows of the table          rows of the stream
    ───────────────────── until ─────────────────────▶ time

The instant divides both: rows of the table from `until` on are not taken, nor are rows of the
stream before it. So the two may overlap as far as they like, and no row counts twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from muntin.errors import QueryError, shown

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class HistoryTable:
    """A table and the instant up to which its rows count.

    `until` is given as text or as a datetime, each with its zone, and kept in UTC. The table may be
    None once the stream has started: what it gave is in the checkpoint by then.

    >>> HistoryTable(None, "2026-11-01T01:00:00+01:00").until.isoformat()
    '2026-11-01T00:00:00+00:00'
    >>> HistoryTable(None, "2026-11-01")
    Traceback (most recent call last):
    muntin.errors.QueryError: until '2026-11-01' has no zone, and the instant would depend on the \
machine: write '2026-11-01T00:00:00Z', or another offset
    """

    table: object
    until: datetime

    def __init__(self, table: object, until: str | datetime) -> None:
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "until", parse_instant(until))

    @property
    def instant(self) -> int:
        """`until` in microseconds of Unix time."""
        return (self.until - EPOCH) // _MICROSECOND


def parse_instant(given: object) -> datetime:
    """An instant with its zone, in UTC; not before 1970, where a stream's watermark begins."""
    found = _read(given)
    if found.tzinfo is None or found.utcoffset() is None:
        hint = found.isoformat()
        said = shown(given) if isinstance(given, str) else shown(str(given))
        raise QueryError(
            f"until {said} has no zone, and the instant would depend on the machine: "
            f"write '{hint}Z', or another offset"
        )
    try:
        at = found.astimezone(UTC)
    except OverflowError:
        raise QueryError(f"until {shown(str(given))} is too far away: give an instant") from None
    # Built anew: a pandas Timestamp is a datetime, too.
    instant = datetime(*at.timetuple()[:6], at.microsecond, tzinfo=UTC)
    if instant < EPOCH:
        raise QueryError(
            f"until {shown(str(given))} is before 1970, where a stream's watermark begins: give a "
            "later instant, or leave out history"
        )
    return instant


def _read(given: object) -> datetime:
    if isinstance(given, datetime):
        return given
    if isinstance(given, str):
        try:
            return datetime.fromisoformat(given.strip())
        except ValueError:
            raise QueryError(
                f"until {shown(given)} cannot be read: write an instant with its zone, such as "
                "'2026-11-01T00:00:00Z' or '2026-11-01T01:00:00+01:00'"
            ) from None
    raise QueryError(
        f"until {shown(given)} must be an instant with its zone: text such as "
        "'2026-11-01T00:00:00Z', or a datetime with tzinfo"
    )


def instant_text(instant: int) -> str:
    """An instant in microseconds as people write it, in UTC.

    >>> instant_text(1_793_491_200_000_000)
    '2026-11-01T00:00:00Z'
    """
    return (EPOCH + instant * _MICROSECOND).isoformat().replace("+00:00", "Z")

"""An entry of the log: what a stream made of a command, and from which event time on.

    register   running     complete_from: the begin of the first instance that is emitted
    suspend    suspended   instances that end by `effective` are still emitted
    either     refused     with the reason

`order` counts the commands that the stream met before: a restart goes on counting. `effective` is
the newest event time of the stream when it met the command; None before any row.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields

from muntin.errors import ControlError

RUNNING, SUSPENDED, REFUSED = "running", "suspended", "refused"


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of one command; times are microseconds of event time."""

    key: str
    action: str
    id: str
    state: str
    order: int = 0
    window: str | None = None
    aggregates: tuple[str, ...] | None = None
    effective: int | None = None
    complete_from: int | None = None
    reason: str | None = None

    def to_json(self) -> str:
        """The entry as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> Entry:
        """The entry of some JSON, if it is one.

        >>> entry = Entry("1", "suspend", "short", "suspended", effective=5)
        >>> Entry.from_json(entry.to_json()) == entry
        True
        >>> Entry.from_json("[]")
        Traceback (most recent call last):
        muntin.errors.ControlError: no entry of a log
        """
        try:
            plain = json.loads(text)
            names = plain["aggregates"]
            values = plain | {"aggregates": None if names is None else tuple(names)}
            entry = Entry(**values)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ControlError("no entry of a log") from None
        if not all(_is_a(str(each.type), getattr(entry, each.name)) for each in fields(entry)):
            raise ControlError("no entry of a log")
        return entry


def _is_a(kind: str, value: object) -> bool:
    """Whether a value is of a declared type."""
    match kind.removesuffix(" | None"):
        case "int":
            right = isinstance(value, int) and not isinstance(value, bool)
        case "str":
            right = isinstance(value, str)
        case _:
            right = isinstance(value, tuple) and all(isinstance(each, str) for each in value)
    return right or (value is None and kind.endswith(" | None"))

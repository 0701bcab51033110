"""An entry of the log: what a stream made of a command, and from which event time on.

    register   running     complete_from: the begin of the first instance that is emitted
    suspend    suspended   instances that end by `effective` are still emitted
    either     refused     with the reason

`order` counts the commands that the stream met before: a restart goes on counting. `effective` is
the newest event time of the stream when it met the command; None before any row.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

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
        """The entry of some JSON.

        >>> entry = Entry("1", "suspend", "short", "suspended", effective=5)
        >>> Entry.from_json(entry.to_json()) == entry
        True
        """
        plain = json.loads(text)
        names = plain.pop("aggregates")
        return Entry(**plain, aggregates=None if names is None else tuple(names))

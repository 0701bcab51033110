"""A micro-batch as a sink remembers it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Batch:
    """The id that the checkpoint gives the query, and the number of the micro-batch."""

    query: str
    number: int

    @property
    def app(self) -> str:
        """The application that Delta's log knows the query by."""
        return f"muntin-{self.query}"

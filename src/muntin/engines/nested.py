"""The interface of engines to nested windows: mt.distinct or mt.join, bound to tables."""

from __future__ import annotations

from typing import Any, Protocol


class BoundNested(Protocol):
    """A question bound to its tables: everything about them is found, nothing has run."""

    def run(self) -> Any:
        """The rows, as the kind of table given."""

    def explain(self) -> list[str]:
        """What runs, line by line."""

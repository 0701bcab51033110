"""The interface of engines to mt.as_of, mt.distinct and mt.join: a question, bound to tables."""

from __future__ import annotations

from typing import Any, Protocol


class BoundQuestion(Protocol):
    """A question bound to its tables: everything about them is found, nothing has run."""

    def run(self) -> Any:
        """The rows, as the kind of table given."""

    def explain(self) -> list[str]:
        """What runs, line by line."""

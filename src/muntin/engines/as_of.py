"""The interface of engines to trailing windows: a question bound to rows and events."""

from __future__ import annotations

from typing import Any, Protocol

from muntin.engines.verification import Verification
from muntin.model.as_of import AsOf


class BoundAsOf(Protocol):
    """A question bound to its tables: everything about them is found, nothing has run."""

    @property
    def asked(self) -> AsOf:
        """The question."""

    def run(self) -> Any:
        """The rows with their features, as the kind of table given."""

    def explain(self) -> list[str]:
        """What runs, line by line."""

    def compare(self) -> Verification:
        """Our features against the engine's own."""

"""The interface of engines to trailing windows: a question bound to rows and events."""

from __future__ import annotations

from typing import Protocol

from muntin.engines.bound_question import BoundQuestion
from muntin.engines.verification import Verification
from muntin.model.as_of import AsOf


class BoundAsOf(BoundQuestion, Protocol):
    """A question about trailing windows, which the engine can answer by itself, too."""

    @property
    def asked(self) -> AsOf:
        """The question."""

    def compare(self) -> Verification:
        """Our features against the engine's own."""

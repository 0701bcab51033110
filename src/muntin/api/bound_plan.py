"""What a call would run on its very tables: the plan of mt.as_of, mt.distinct and mt.join."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Generic, TypeVar

from muntin.engines.bound_question import BoundQuestion
from muntin.errors import printable

B = TypeVar("B", bound=BoundQuestion)


@dataclass(frozen=True, slots=True, repr=False)
class BoundPlan(Generic[B]):
    """A question bound to its tables: print it, or run it."""

    bound: B

    def explain(self) -> str:
        """What runs, and how."""
        return "\n".join(map(printable, self.bound.explain()))

    def run(self) -> Any:
        """The rows, as the call itself gives them."""
        return self.bound.run()

    def __repr__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.explain())}</pre>"

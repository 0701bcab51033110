"""The interface of engines: bind a query to data once, say what that rules out, run what is chosen.

A call resolves its engine once, from the data that it is given (`muntin.api.engine`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from muntin.cost import Statistics
from muntin.engines.as_of import BoundAsOf
from muntin.engines.bound_question import BoundQuestion
from muntin.engines.verification import Verification
from muntin.model.as_of import AsOf
from muntin.model.choices import Engine as EngineName
from muntin.model.queries import Member, SharingSet
from muntin.model.query import Query
from muntin.nesting.questions import DistinctItems, WindowJoin
from muntin.physical.question import Facts
from muntin.planner.choice import Choice

CONTROL_ON_BATCH = (
    "control needs a streaming DataFrame: a batch has no time at which windows could come or go; "
    "leave it out"
)
"""What engines of batches say of a control, which only a stream can have."""

HISTORY_ON_BATCH = (
    "history is what a stream starts from, and this is a batch: leave it out, and put both tables "
    "together with union"
)
"""What engines of batches say of a history."""

Data = TypeVar("Data", contravariant=True)
Bound = TypeVar("Bound")
Result = TypeVar("Result", covariant=True)


class EngineOf(Protocol[Data, Bound, Result]):
    """What runs plans on some kind of data."""

    @property
    def name(self) -> EngineName:
        """One of "spark", "stream" and "duckdb": which operators there are."""

    def bind(self, data: Data, query: Query, **stream: Any) -> Bound:
        """The query bound to the data: everything about both that is found once."""

    def facts(self, bound: Bound, operator: str | None) -> Facts:
        """What planning must know of them; `operator` is the one asked for, if any."""

    def run(self, choice: Choice, bound: Bound, layout: str, empty: str) -> Result:
        """The result, in the layout asked for."""

    def deliver(
        self,
        sets: Sequence[SharingSet],
        choices: Sequence[Choice],
        bounds: Sequence[Bound],
        shape: tuple[str, str],
        deliver: str,
    ) -> Result | dict[str, Result]:
        """The results of several queries, from what runs each set; the shape is layout and empty.

        As one with a column query_id, or with "dict" a result of each query by its id.
        """

    def compare(self, choice: Choice, bound: Bound, member: Member | None = None) -> Verification:
        """Our rows against the engine's own: of the query bound, or of one of those in it."""

    def bind_as_of(
        self, rows: Data, asked: AsOf, events: Any, operator: str, **stream: Any
    ) -> BoundAsOf:
        """A question about trailing windows bound to the rows, and to other events if given."""

    def bind_distinct(self, data: Data, asked: DistinctItems, **stream: Any) -> BoundQuestion:
        """A question about the distinct items of windows, bound to its rows."""

    def bind_join(self, left: Data, right: Any, asked: WindowJoin, **stream: Any) -> BoundQuestion:
        """A question about the pairs of rows in windows, bound to both sides."""

    def statistics(
        self, data: Data, query: Query, how: str, fraction: float, keys: float
    ) -> Statistics:
        """Rows, distinct keys and events per second of the data that a query reads."""

    def glance(self, data: Data, query: Query, assumed: Statistics) -> Statistics:
        """What can be known of the data at once; the rest as assumed, and named as unknown."""


Engine = EngineOf[Any, Any, Any]
"""An engine that was found for some data: its own kinds of data and results are not known."""

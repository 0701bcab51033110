"""What an operator is asked to judge a plan for: the query, the data, and the machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from muntin.aggregates import Aggregate
from muntin.aggregates.algebra import Partial
from muntin.aggregates.columns import columns_of
from muntin.cost import Constants, Statistics
from muntin.cost.spark import SHIPPED
from muntin.kernels.mergers import not_merged
from muntin.model.query import Query
from muntin.model.windows import Window


@dataclass(frozen=True, slots=True)
class Facts:
    """What data tells planning, beyond statistics; the defaults are those of a plan without data.

    `stranger` is why rows cannot be handed to Python, `refused` the operators that are ruled out,
    with reasons, `forced` the operator to run if one was asked for, `technique` what is
    to answer a stream's windows when they are due, `update` that it emits them as they change,
    `lateness` for how many microseconds it keeps windows that have fired, `fill_for` for how many
    keys without rows get empty windows, and `until` the instant at which it begins, if it starts
    from history. With `controlled`, windows come and go.
    """

    stranger: str | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    started_with: tuple[Window, ...] = ()
    forced: str | None = None
    technique: str = "auto"
    update: bool = False
    lateness: int | None = None
    fill_for: int | None = None
    until: int | None = None
    controlled: bool = False


@dataclass(frozen=True)
class Question:
    """A query over data with these statistics, on a machine with these constants.

    `stranger` is why rows of this data cannot be handed to Python, where that is known;
    `started_with` are the windows that a stream's checkpoint was started with, where they are not
    those of the query.
    """

    query: Query
    statistics: Statistics
    constants: Constants = SHIPPED
    stranger: str | None = None
    started_with: tuple[Window, ...] = ()
    technique: str = "auto"
    update: bool = False
    lateness: int | None = None
    fill_for: int | None = None
    until: int | None = None
    controlled: bool = False

    @cached_property
    def batch_cases(self) -> tuple[Question, ...]:
        """The same question of all that a table may be like; itself first."""
        return self._cases(stream=False)

    @cached_property
    def stream_cases(self) -> tuple[Question, ...]:
        """The same question of all that a stream may be like; itself first."""
        return self._cases(stream=True)

    def _cases(self, stream: bool) -> tuple[Question, ...]:
        each = self.statistics.cases(bool(self.query.keys), stream)
        return (self, *(replace(self, statistics=known) for known in each[1:]))

    @cached_property
    def shared(self) -> tuple[Aggregate, ...]:
        """The aggregates that have partials."""
        return tuple(a for a in self.query.aggregates if not a.function.holistic)

    @cached_property
    def partials(self) -> int:
        """How many partial columns there are; one where no aggregate has any."""
        return max(len(columns_of(self.shared, lambda _: None).partials), 1)

    @property
    def width(self) -> int:
        """Values in a row of partials: the keys, node, start, and the partials."""
        return len(self.query.keys) + 2 + self.partials

    @property
    def not_in_python(self) -> str | None:
        """Why partials cannot be merged in Python, or None."""
        own = in_engine(self.query)
        return f"{own[0].name} is merged only by the engine itself" if own else self.stranger


def in_python(query: Query) -> Aggregate | None:
    """The first aggregate that is written in Python, which only NumPy's operators run."""
    return next((a for a in query.aggregates if a.function.in_python), None)


def in_engine(query: Query) -> tuple[Aggregate, ...]:
    """The aggregates with partials that NumPy has no merge for."""
    shared = (a for a in query.aggregates if not a.function.holistic)
    return tuple(a for a in shared if not_merged(p.merger for p in partials_of([a])))


def partials_of(aggregates: Iterable[Aggregate]) -> list[Partial]:
    """The partials of all aggregates, whatever the types of their inputs."""
    return [
        partial
        for a in aggregates
        for partial in a.function.partials([None] * max(len(a.arguments), a.function.arity))
    ]

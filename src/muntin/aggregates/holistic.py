"""median and percentile: no partial of bounded size, so each window is computed directly.

They stand in the same result as shared aggregates, joined by window and keys. In process a partial
is the sorted tuple of all values.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Any, ClassVar

from muntin.aggregates.algebra import Aggregate, Function, Partial, Types, make
from muntin.aggregates.ordering import IN_ORDER
from muntin.aggregates.signatures import INTERVALS, NUMERIC, Signature
from muntin.errors import AggregateError, is_between, shown


class Percentile(Function):
    """The value below which a share `p` of the values lies, interpolated between neighbours."""

    name = "percentile"
    holistic = True
    defaults: ClassVar[tuple[Any, ...]] = (0.5,)
    takes: ClassVar[Signature] = {**NUMERIC, **INTERVALS}

    def __init__(self, *parameters: Any) -> None:
        super().__init__(*parameters)
        check_share(self)

    def partials(self, types: Types) -> tuple[Partial, ...]:
        return ()

    def final(self, types: Types) -> str:
        raise AggregateError(f"{self.name} has no partials: it is computed directly")

    def native(self) -> str:
        return f"percentile({{0}}, {float(self.parameters[0])!r}D)"

    @property
    def identity(self) -> Any:
        return ()

    def lift(self, value: Any) -> Any:
        return () if value is None else (value,)

    def combine(self, older: Any, newer: Any) -> Any:
        return tuple(sorted(older + newer, key=IN_ORDER))  # two sorted runs: linear time

    def lower(self, partial: Any) -> Any:
        if not partial:
            return None
        position = (len(partial) - 1) * self.parameters[0]
        low, high = partial[floor(position)], partial[ceil(position)]
        part = position - floor(position)
        return float(low) if low == high else float(low) * (1 - part) + float(high) * part


class Median(Percentile):
    """The value in the middle."""

    name = "median"
    defaults: ClassVar[tuple[Any, ...]] = ()

    def __init__(self) -> None:
        super().__init__()
        self.parameters = ()

    def native(self) -> str:
        return "median({0})"

    def lower(self, partial: Any) -> Any:
        return Percentile(0.5).lower(partial)


def check_share(function: Function) -> None:
    """Refuse a percentage that is not between 0 and 1."""
    for p in function.parameters[:1]:
        if not is_between(p, 0, 1):
            raise AggregateError(
                f"{function.name}: {shown(p)} must be a share between 0 and 1, such as 0.95"
            )


def median(value: str) -> Aggregate:
    """The value in the middle."""
    return make(Median(), value)


def percentile(value: str, p: float = 0.5) -> Aggregate:
    """The value below which a share p of the values lies."""
    return make(Percentile(p), value)

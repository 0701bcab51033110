"""median and percentile: no partial of bounded size, so each window is computed directly.

They stand in the same result as shared aggregates, joined by window and keys. In process a partial
is the sorted tuple of all values.
"""

from __future__ import annotations

from math import ceil, floor
from typing import ClassVar

from muntin.aggregates.algebra import Aggregate, Function, Partial, Types, Value, make
from muntin.aggregates.extremes import IN_ORDER
from muntin.aggregates.signatures import INTERVALS, NUMERIC, Signature
from muntin.errors import AggregateError, is_between, shown


class Percentile(Function):
    name = "percentile"
    in_frames = "percentile"
    holistic = True
    defaults: tuple[Value, ...] = (0.5,)
    takes: ClassVar[Signature] = {**NUMERIC, **INTERVALS}
    identity: tuple[Value, ...] = ()

    def __init__(self, *parameters: Value) -> None:
        super().__init__(*parameters)
        self.share: float = next(iter(self.parameters), 0.5)  # a median has no parameter
        if not is_between(self.share, 0, 1):
            raise AggregateError(
                f"{self.name}: {shown(self.share)} must be a share between 0 and 1, such as 0.95"
            )

    def partials(self, types: Types) -> tuple[Partial, ...]:
        return ()

    def final(self, types: Types) -> str:
        raise AggregateError(f"{self.name} has no partials: it is computed directly")

    def native(self) -> str:
        return f"{self.name}({{0}}, {float(self.share)!r}D)"

    def lift(self, value: Value) -> tuple[Value, ...]:
        return () if value is None else (value,)

    def combine(self, older: tuple[Value, ...], newer: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(sorted(older + newer, key=IN_ORDER))  # two sorted runs: linear time

    def lower(self, partial: tuple[Value, ...]) -> float | None:
        if not partial:
            return None
        position = (len(partial) - 1) * self.share
        low, high = partial[floor(position)], partial[ceil(position)]
        part = position - floor(position)
        return float(low) if low == high else float(low) * (1 - part) + float(high) * part


class Median(Percentile):
    name = "median"
    defaults = ()

    def native(self) -> str:
        return "median({0})"


def median(value: str) -> Aggregate:
    """The value in the middle.

    `value` is a column or an SQL expression of numbers or intervals. It has no partial of
    bounded size, so it is computed for each window by itself, and refused on a stream.

    >>> median("delay")
    <median(delay)>
    """
    return make(Median(), value)


def percentile(value: str, p: float = 0.5) -> Aggregate:
    """The value below which a share `p` of the values lies, interpolated between neighbours.

    `value` is a column or an SQL expression of numbers or intervals, and `p` a share from 0 to
    1; others are refused. Like mt.median, it is computed for each window by itself, and refused
    on a stream: mt.approx_percentile is not.

    >>> percentile("delay", 0.95)
    <percentile(delay, 0.95)>
    """
    return make(Percentile(p), value)

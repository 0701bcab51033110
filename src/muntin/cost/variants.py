"""Which row of Table 3 prices each aggregate: what its flags admit, or an error.

    panes, flatfat, flatfit     every aggregate
    slick-deque-inv             invertible ones: what expires is taken out (Equation 6)
    slick-deque-non-inv         selective ones: combine returns one of its arguments (Equation 7)
    slick-deque                 the one of the two that the aggregate admits

Every aggregate has a structure of its own, so a query with sum and max is priced as one SlickDeque
(Inv) and one (Non-Inv). Equal aggregates under two names are one; aggregates without partials of
bounded size are computed beside the shared ones, whatever the technique, and have no row.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import inputs_of
from muntin.cost.omega import omega_name
from muntin.errors import StrategyError

FLAGS = {"slick-deque-inv": "invertible", "slick-deque-non-inv": "selective"}
"""What a row asks of an aggregate."""
EVERY = "flatfit"
"""A technique that serves every aggregate."""


def variants(technique: str, aggregates: Iterable[Aggregate]) -> tuple[str, ...]:
    """The row of each different aggregate that has partials.

    >>> from muntin.aggregates import count, max, median, sum
    >>> variants("slick-deque", [sum("v"), max("v"), median("v"), sum("v").alias("total")])
    ('slick-deque-inv', 'slick-deque-non-inv')
    >>> variants("flatfat", [count()])
    ('flatfat',)
    """
    asked = tuple(aggregates)
    shared = [a for a in asked if not a.function.holistic]
    if not shared:
        raise StrategyError(
            f"cost='weave' prices partials that windows share, and {asked[0].name} has none: "
            "use cost='rate'"
        )
    different: dict[object, Aggregate] = {}
    for a in shared:
        different.setdefault((a.function, inputs_of(a)), a)
    return tuple(variant(technique, a) for a in different.values())


def variant(technique: str, aggregate: Aggregate) -> str:
    """The row that prices one aggregate, or an error that names a technique which serves it."""
    row = omega_name(technique, aggregate.function.invertible)
    if _serves(row, aggregate):
        return row
    slick = omega_name("slick-deque", aggregate.function.invertible)
    other = "slick-deque" if _serves(slick, aggregate) else EVERY
    lacking = "neither invertible nor selective" if other == EVERY else f"not {FLAGS[row]}"
    raise StrategyError(
        f"technique {technique!r} cannot serve {aggregate.name}, which is {lacking}: "
        f"use technique={other!r}"
    )


def _serves(row: str, aggregate: Aggregate) -> bool:
    return row not in FLAGS or bool(getattr(aggregate.function, FLAGS[row]))

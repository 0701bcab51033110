"""Which stateful operator runs a stream: native or bucketed, by predicted seconds.

    native     one aggregation of Spark's own, whose state is a row for each instance and key
    bucketed   columnar state for each bucket of keys, evaluated by NumPy

Both read and pre-aggregate every row once (native not, where each row has one instance only: there
Spark alone is faster). Then native pays for each row of state that a batch
touches, which it reads and writes: one for each instance and key, where instances that end together
share one. Bucketed pays for each batch, and little for a result. So keys and overlap decide.
Predictions are for ten million rows on two cores in batches of a quarter million, in append mode;
the constants are of the order that `muntin bench stream` shows, which judges the choice.

Windows that the data decides have an operator of their own, `cutty`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from muntin.aggregates.algebra import Partial
from muntin.cost import RateCost
from muntin.cost.statistics import ROWS
from muntin.errors import StrategyError, is_one_of, shown, unknown
from muntin.kernels.mergers import not_merged
from muntin.physical.bases import bases
from muntin.physical.operators import Operators
from muntin.physical.together import places, seats
from muntin.physical.work import partial_count
from muntin.plan import SharingPlan
from muntin.query import Query
from muntin.windows import Window

STREAM_OPERATORS = ("native", "bucketed")
BY_RECORDS = "cutty"
"""The operator of windows that the data decides."""

GROWING = "collect_list("
"""A merge in Spark that would keep all partials in the state."""

READ = 5e-7
"""Seconds to read a row, lift it, and group it in Python."""
GROUPED = 1e-7
"""Seconds to group a row into the pieces of one base."""
MERGED = 5e-7
"""Seconds to merge a piece into what there is of it."""
COPY = 5e-7
"""Seconds to copy a row into one instance, where rows are not pre-aggregated."""
KEPT = 2e-5
"""Seconds to update one row of Spark's state, and to evict it when its time has come."""
BATCH = {"native": 0.5, "bucketed": 1.5}
"""Seconds for one more batch, however few its rows."""
EVALUATED = 1.5e-6
"""Seconds to compute a result by bucketed and hand it back."""

BATCHES = ROWS / 250_000


def choose_for_stream(
    plan: SharingPlan, query: Query, rates: RateCost, forced: str | None
) -> Operators:
    """The cheapest operator that can run the plan on a stream, or the forced one."""
    if query.data_windows:
        return _by_records(plan, query, forced)
    if forced is not None and not is_one_of(forced, STREAM_OPERATORS):
        raise StrategyError(unknown("stream operator", forced, STREAM_OPERATORS))
    if forced is not None:
        return _named(forced, plan, "as asked")
    seconds = predicted_on_stream(plan, query, rates)
    best = min(seconds, key=lambda name: seconds[name])
    others = ", ".join(f"{n} {s / seconds[best]:.3g}×" for n, s in seconds.items() if n != best)
    return _named(best, plan, f"predicted cheapest; {others}" if others else "serves every plan")


def _by_records(plan: SharingPlan, query: Query, forced: str | None) -> Operators:
    """Windows that the data decides need records in order, which only one operator brings about."""
    if forced not in (None, BY_RECORDS):
        raise StrategyError(
            f"operator={shown(forced)} is for periodic windows, and the data decides where "
            f"{query.data_windows[0].id!r} begins and ends: leave it out, or give {BY_RECORDS!r}"
        )
    reason = (
        "records wait until the watermark has passed them, then all windows of a key in one pass; "
        "state is columnar, for each bucket of keys"
    )
    return Operators(BY_RECORDS, reason, {node.id: BY_RECORDS for node in plan.nodes})


def predicted_on_stream(plan: SharingPlan, query: Query, rates: RateCost) -> dict[str, float]:
    """Seconds for ten million rows of a stream, by every operator that can run the plan."""
    grouped = READ * ROWS + _pieces(plan, rates)
    copied = COPY * ROWS * sum(w.overlap for w in query.windows)
    read = grouped if pre_aggregated(query) else copied
    seconds = {"native": read + BATCHES * BATCH["native"] + KEPT * _touched(query, rates)}
    if _merged_in_python(query):
        results = sum(rates.rows(w) for w in query.windows) * ROWS / rates.rate
        seconds["bucketed"] = grouped + BATCHES * BATCH["bucketed"] + EVALUATED * results
    return seconds


def _pieces(plan: SharingPlan, rates: RateCost) -> float:
    """Seconds to group rows into the pieces of every base, and to merge these."""
    roots = [base.slices for base in bases(plan)]
    merged = sum(rates.rows(slices) for slices in roots) * ROWS / rates.rate
    return GROUPED * ROWS * len(roots) + MERGED * merged


def _touched(query: Query, rates: RateCost) -> float:
    """Rows of state that the batches touch: instances that begin in a batch or are still open.

    Those that end together are one row: of a coarser window only what reaches beyond the finer.
    """
    span = ROWS / BATCHES / rates.rate
    seated = seats(query.windows, places(partial_count(query)))
    reach = dict.fromkeys((seat.row for seat in seated.values()), 0.0)
    rows = 0.0
    for window in sorted(seated, key=lambda w: (w.slide, w.range)):
        seconds = span + window.range / 1_000_000
        row = seated[window].row
        rows += rates.rows(window) * max(seconds - reach[row], 0)
        reach[row] = max(seconds, reach[row])
    return BATCHES * rows


def _merged_in_python(query: Query) -> bool:
    return not_merged(p.merger for p in _partials(query)) is None


def nothing_to_share(windows: Iterable[Window]) -> bool:
    """Whether each row falls into one instance of one window.

    >>> nothing_to_share([Window(60, 60)]), nothing_to_share([Window(60, 30)])
    (True, False)
    """
    return sum(w.overlap for w in windows) == 1


def pre_aggregated(query: Query) -> bool:
    """Whether native is given partials, not rows: they must merge in bounded state too."""
    growing = any(GROWING in p.merge for p in _partials(query))
    return _merged_in_python(query) and not growing and not nothing_to_share(query.windows)


def _partials(query: Query) -> Iterator[Partial]:
    for a in query.aggregates:
        yield from a.function.partials([None] * max(len(a.arguments), a.function.arity))


def _named(name: str, plan: SharingPlan, reason: str) -> Operators:
    """First-level nodes are grouped in every batch, the others answered by the operator."""
    first = {node.id for node in plan.children(None)}
    edges = {n.id: "slices" if n.id in first and n.hidden else name for n in plan.nodes}
    return Operators(name, reason, edges)

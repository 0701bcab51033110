"""optimize: the plan of a query, or the plans of several that share what they can.

No engine is needed: planning is arithmetic on windows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import overload

from muntin.api.options import ASSUMED, Options
from muntin.api.plan import Plan
from muntin.api.planning import planned
from muntin.api.plans import Plans
from muntin.choices import Cost, Engine, Operator, Slicing, Strategy, Technique
from muntin.cost import Statistics
from muntin.cost.calibration import current_constants
from muntin.cost.statistics import ROWS
from muntin.errors import StrategyError, shown
from muntin.queries import sharing_sets
from muntin.query import Query


@overload
def optimize(
    query: Query,
    strategy: Strategy = "auto",
    rate: float = 100.0,
    keys: float = 1,
    cost: Cost = "rate",
    operator: Operator | None = None,
    engine: Engine = "spark",
    technique: Technique | None = None,
    slicing: Slicing = "pairs",
    rows: float = ROWS,
    statistics: Statistics | Callable[[Query], Statistics] | None = None,
) -> Plan: ...


@overload
def optimize(
    query: None = None,
    strategy: Strategy = "auto",
    rate: float = 100.0,
    keys: float = 1,
    cost: Cost = "rate",
    operator: Operator | None = None,
    engine: Engine = "spark",
    technique: Technique | None = None,
    slicing: Slicing = "pairs",
    rows: float = ROWS,
    statistics: Statistics | Callable[[Query], Statistics] | None = None,
    *,
    queries: Mapping[str, Query],
) -> Plans: ...


def optimize(
    query: Query | None = None,
    strategy: Strategy = "auto",
    rate: float = 100.0,
    keys: float = 1,
    cost: Cost = "rate",
    operator: Operator | None = None,
    engine: Engine = "spark",
    technique: Technique | None = None,
    slicing: Slicing = "pairs",
    rows: float = ROWS,
    statistics: Statistics | Callable[[Query], Statistics] | None = None,
    *,
    queries: Mapping[str, Query] | None = None,
) -> Plan | Plans:
    """The plan of one strategy, or of the cheapest one ("auto"), with all alternatives.

    `rate` is events per second of event time over all keys, `keys` how many distinct keys there
    are, `rows` how many rows; together they decide whether slices shrink the data, and how many
    seconds are predicted. `statistics` gives all three, as mt.statistics finds them, or is a
    function that finds them for a query. Under cost "paper", `rate` is the paper's η per unit of
    the windows' numbers. `operator` forces how the plan runs on Spark.
    Cost "weave" counts the aggregations of a stream engine whose windows are answered by
    `technique`: panes (if None), flatfat, flatfit or slick-deque. `slicing` is how the weaving
    strategies cut the windows of a tree: pairs, panes or cutty.
    For engine "spark" (a batch) or "stream", "auto" takes the plan predicted to run fastest there;
    for "sql" (text for any engine, or DuckDB in process) the one of least cost.
    Several `queries` by their ids are planned together as far as they share rows and keys.

    >>> import muntin as mt
    >>> windows = [mt.Window(n, n) for n in (10, 20, 30, 40)]
    >>> q = mt.query("ts", windows, [mt.min("t")])
    >>> optimize(q, "wcg", rate=1, cost="paper").cost
    150.0
    """
    if queries is not None and query is not None:
        raise StrategyError("give optimize one query, or queries={'id': query, ...}, not both")
    given = _statistics(rows, keys, rate) if statistics is None else statistics
    if not isinstance(given, Statistics) and not callable(given):
        raise StrategyError(
            f"statistics {shown(given)} must be what mt.statistics(data, query) finds"
        )
    constants = current_constants()

    def plan(one: Query) -> Plan:
        known = given if isinstance(given, Statistics) else given(one)
        options = Options(strategy, known, cost, operator, engine, technique, slicing, constants)
        return planned(one, options)

    if queries is not None:
        sets = sharing_sets(queries)
        for id, asked in queries.items():
            if asked.data_windows:
                raise StrategyError(
                    f"query {id!r} has windows that the data decides, such as "
                    f"{asked.data_windows[0].id!r}: plan it by itself"
                )
        return Plans(sets, tuple(plan(each.query) for each in sets))
    if not isinstance(query, Query):
        raise StrategyError(f"optimize takes a query from mt.query(...), not {shown(query)}")
    return plan(query)


def _statistics(rows: float, keys: float, rate: float) -> Statistics:
    assumed = (rows, keys, rate) == (ASSUMED.rows, ASSUMED.keys, ASSUMED.rate)
    return ASSUMED if assumed else Statistics(rows, keys, rate)

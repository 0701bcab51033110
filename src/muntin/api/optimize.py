"""optimize: the plan of a query, or the plans of several that share what they can.

No engine is needed: planning is arithmetic on windows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import overload

from muntin.api.plan import Plan
from muntin.api.plans import Plans
from muntin.cost import Statistics
from muntin.cost.calibration import current_constants
from muntin.errors import StrategyError, shown
from muntin.jobs import Job
from muntin.jobs.job import Question
from muntin.jobs.job_query import parse_query
from muntin.model.choices import Cost, Engine, Operator, Slicing, Strategy, Technique
from muntin.model.durations import microseconds
from muntin.model.history import HistoryTable
from muntin.model.queries import sharing_sets
from muntin.model.query import Query
from muntin.model.windows import fill_length
from muntin.physical.question import Facts
from muntin.planner.options import ASSUMED, Options
from muntin.planner.search import find_plan

Known = Statistics | Callable[[Query], Statistics]
"""What is known of the data, or how to find it for a query."""


@overload
def optimize(
    query: Query,
    strategy: Strategy = "auto",
    rate: float | None = None,
    distinct_keys: float | None = None,
    cost: Cost = "seconds",
    operator: Operator | None = None,
    engine: Engine = "spark",
    technique: Technique | None = None,
    slicing: Slicing = "pairs",
    rows: float | None = None,
    statistics: Known | None = None,
) -> Plan: ...


@overload
def optimize(
    query: None = None,
    strategy: Strategy = "auto",
    rate: float | None = None,
    distinct_keys: float | None = None,
    cost: Cost = "seconds",
    operator: Operator | None = None,
    engine: Engine = "spark",
    technique: Technique | None = None,
    slicing: Slicing = "pairs",
    rows: float | None = None,
    statistics: Known | None = None,
    *,
    queries: Mapping[str, Query],
) -> Plans: ...


def optimize(
    query: Query | None = None,
    strategy: Strategy = "auto",
    rate: float | None = None,
    distinct_keys: float | None = None,
    cost: Cost = "seconds",
    operator: Operator | None = None,
    engine: Engine = "spark",
    technique: Technique | None = None,
    slicing: Slicing = "pairs",
    rows: float | None = None,
    statistics: Known | None = None,
    *,
    queries: Mapping[str, Query] | None = None,
) -> Plan | Plans:
    """The plan of one strategy, or of the cheapest one ("auto"), with all alternatives.

    `rate` is events per second of event time over all keys, `distinct_keys` how many there are,
    `rows` how many rows; together they decide whether slices shrink the data, and how many seconds
    are predicted. What is not given is assumed: 100 a second, 1 key, ten million rows. `statistics`
    gives all three, as mt.statistics finds them, or is a function that finds them for a query.

    Under cost "seconds" strategies reduce what the operator that will run is predicted to take, and
    "auto" takes the pair of strategy and operator that is fastest on the `engine`: "spark" (a
    batch), "stream", or "sql" (text for any engine, or DuckDB in process). `operator` forces one.
    Cost "rate" counts partials merged a second, whatever runs. Cost "paper" is that of the coverage
    paper, with `rate` its η per unit of the windows' numbers; cost "weave" counts the aggregations
    of a stream engine whose windows are answered by `technique`: panes (if None), flatfat, flatfit
    or slick-deque. `slicing` is how the weaving strategies cut the windows of a tree: pairs, panes
    or cutty. Several `queries` by their ids are planned together as far as they share rows and
    keys.

    >>> import muntin as mt
    >>> windows = [mt.Window(n, n) for n in (10, 20, 30, 40)]
    >>> q = mt.query("ts", windows, [mt.min("t")])
    >>> optimize(q, "wcg", rate=1, cost="paper").cost
    150.0
    """
    known = resolve_statistics(statistics, rows, distinct_keys, rate)
    options = Options(strategy, ASSUMED, cost, operator, engine, technique, slicing)
    return find_plans(query, queries, options, known)


def find_plans(
    query: Query | None,
    queries: Mapping[str, Query] | None,
    options: Options,
    statistics: Known,
    facts: Callable[[Query], Facts] | None = None,
) -> Plan | Plans:
    """The plan of a query or of several; `facts` says what their data rules out."""
    if queries is not None and query is not None:
        raise StrategyError("give optimize one query, or queries={'id': query, ...}, not both")
    options = replace(options, constants=current_constants())

    def plan(one: Query) -> Plan:
        own = options.facts if facts is None else facts(one)
        known = statistics if isinstance(statistics, Statistics) else statistics(one)
        return optimize_with(one, replace(options, statistics=known, facts=own))

    if queries is not None:
        sets = sharing_sets(queries, options.engine == "stream")
        return Plans(sets, tuple(plan(shared.query) for shared in sets))
    if not isinstance(query, Query):
        raise StrategyError(f"optimize takes a query from mt.query(...), not {shown(query)}")
    return plan(query)


def optimize_with(query: Query, options: Options) -> Plan:
    """The plan of a query under these options."""
    return Plan.of(find_plan(query, options))


def resolve_statistics(
    statistics: object, rows: float | None, keys: float | None, rate: float | None
) -> Known:
    """What is said of the data: as statistics, or some of its figures, the rest assumed."""
    if statistics is None:
        return _given_figures(rows, keys, rate)
    if not isinstance(statistics, Statistics) and not callable(statistics):
        raise StrategyError(
            f"statistics {shown(statistics)} must be what mt.statistics(data, query) finds"
        )
    return statistics


def _given_figures(rows: float | None, keys: float | None, rate: float | None) -> Statistics:
    given = {"rows": rows, "keys": keys, "rate": rate}
    known = {name: value for name, value in given.items() if value is not None}
    missing = tuple(name for name in given if name not in known)
    return replace(ASSUMED, **known, origin="given", unknown=missing) if known else ASSUMED


def plan_job(job: Job) -> Plan:
    """The plan for a job's query, by its strategy and under its rate."""
    question, asked = job.query, parse_query(job)
    assert question is not None, "features are planned by plan_features"
    streaming = job.source.streaming
    options = Options(
        question.strategy,  # a word of the user's, which is checked where strategies are found
        _given_figures(None, question.distinct_keys, question.rate),
        operator=_operator(job, question, asked),
        engine="stream" if streaming else "spark",
        constants=current_constants(),
        facts=_facts_of_stream(job, question, asked) if streaming else Facts(),
    )
    return optimize_with(asked, options)


def _operator(job: Job, question: Question, asked: Query) -> str | None:
    """The operator that was asked for, or the only one that can do what the job asks."""
    if question.control and not asked.data_windows:
        return "controlled"
    longer = question.allowed_lateness or question.empty == "fill" or job.sink.late_to
    past = job.history.given and not asked.data_windows
    only = "bucketed" if job.source.streaming and (longer or past) else None
    return question.operator or only


def _facts_of_stream(job: Job, question: Question, asked: Query) -> Facts:
    """What a job says of its stream: how long windows are kept, and where it begins."""
    late, until = question.allowed_lateness, job.history.until
    filled = question.empty == "fill" and asked.windows
    return Facts(
        update=question.output == "update",
        lateness=None if late is None else microseconds(late, "allowed_lateness"),
        fill_for=fill_length(asked.windows, question.fill_for) if filled else None,
        until=None if until is None else HistoryTable(None, until).instant,
    )

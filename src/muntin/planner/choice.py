"""Which operator runs a plan: each that can is asked to rewrite, lower and price it.

What is chosen is what explain() shows and the engine runs: the rewritten plan, lowered once. It is
compared with one window() query of Spark's own for each window (`predict_unshared`).

Where rows, keys or rate are unknown, the data may be like any of several cases. What is chosen then
is what has the least regret: how many times slower it is than the best there is for those who know
the case, in the one that is worst for it (minimax regret; Savage, 1951). With one case that is what
is fastest.

On a stream, what may be slower than Spark's own window() in some case is not chosen while there is
anything that may not: nobody should pay for sharing where there is nothing to share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from muntin.cost.statistics import ROWS
from muntin.errors import StrategyError, is_one_of, shown, unknown
from muntin.physical.lowering import PhysicalPlan, lower
from muntin.physical.operators import OPERATORS, Operator
from muntin.physical.operators.expand import EXPAND
from muntin.physical.operators.native import NATIVE, SCAN, STATE
from muntin.physical.operators.streamed import BATCHES
from muntin.physical.operators.window import WINDOW
from muntin.physical.question import Question, in_python
from muntin.plan import SharingPlan, unshare
from muntin.plan.tree import window_node

UNNOTICED = 0.5
"""Seconds that nobody minds: twice as slow is no regret where both are quick."""
ALIKE = 1.003
"""Predictions within this factor are alike."""
SLOWER = 1.1
"""Within this factor nothing is slower than Spark's own."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An operator and the plan that it runs, with the seconds predicted for each node.

    `cases` are the seconds predicted for each of the cases that the data may be like, and `told`
    those if one knew that it is this case.
    `asked` says that it was asked for by name; `others` are the operators that could run the same
    plan, with the seconds predicted for them in each case if told, and `refusals` those that could
    not, with reasons.
    `missed` is one predicted to be faster that the data ruled out, with the reason. `regret` is how
    many times slower it may be than the best of all that were tried, where the data is unknown.
    `slower` says that on a stream it may be slower than Spark's own window() in one of the cases.
    """

    operator: Operator
    physical: PhysicalPlan
    by_node: Mapping[int, float] = field(repr=False)
    cases: tuple[float, ...] = field(repr=False)
    told: tuple[float, ...] = field(repr=False)
    asked: bool = False
    others: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)
    missed: tuple[str, str] | None = None
    regret: float | None = None
    slower: bool = False

    @property
    def plan(self) -> SharingPlan:
        return self.physical.plan

    @property
    def seconds(self) -> float:
        """How long the plan is predicted to take."""
        return sum(self.by_node.values())


def choose(
    plan: SharingPlan,
    question: Question,
    engine: str,
    forced: str | None = None,
    refused: Mapping[str, str] | None = None,
) -> Choice:
    """The operator predicted fastest of those that can run the plan, or the forced one if it can.

    `refused` are operators that this data or this stream rules out, with reasons. Operators that
    would take the plan apart are left out.
    """
    if forced is not None:
        return _force(plan, question, engine, forced, refused or {})
    found: list[Choice] = []
    reasons: dict[str, str] = {}
    ruled_out: list[Choice] = []
    for operator in candidates(question, engine):
        if not operator.chosen or not (operator.shares or unshare(plan) is plan):
            continue
        own, outer = operator.refusal(plan, question), (refused or {}).get(operator.name)
        if own is None:
            (ruled_out if outer else found).append(_price(operator, plan, question, engine))
        if own or outer:
            reasons[operator.name] = outer or own or ""
    if not found:
        why = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise StrategyError(f"no operator can run this plan: {why}")
    best = found[least_regret(found)[0]]
    others = {c.operator.name: c.told for c in found if c is not best}
    faster = [c.operator.name for c in ruled_out if c.seconds < best.seconds]
    missed = (faster[0], reasons[faster[0]]) if faster else None
    return replace(best, others=others, refusals=reasons, missed=missed)


def least_regret(choices: Sequence[Choice]) -> tuple[int, float]:
    """The choice that is safest whatever the data is like, by position; and its regret, at least 1.

    Of choices that are about as safe, the one that is fastest in the first case is taken, and of
    these the first.
    """
    rivals = [c.told for c in choices] + [each for c in choices for each in c.others.values()]
    best = [min(seconds) for seconds in zip(*rivals, strict=True)]
    if len(best) == 1:
        return min(range(len(choices)), key=lambda i: choices[i].seconds), 1.0
    regrets = [
        max((a + UNNOTICED) / (b + UNNOTICED) for a, b in zip(choice.cases, best, strict=True))
        for choice in choices
    ]
    never_slower = [i for i, choice in enumerate(choices) if not choice.slower]
    able = never_slower or range(len(choices))
    least = min(regrets[i] for i in able)
    safe = [i for i in able if regrets[i] <= ALIKE * least]
    fastest = min(choices[i].seconds for i in safe)
    found = next(i for i in safe if choices[i].seconds <= ALIKE * fastest)
    return found, regrets[found]


def candidates(question: Question, engine: str) -> list[Operator]:
    """The operators of an engine for windows of this kind."""
    by_data = bool(question.query.data_windows)
    own = (o for o in OPERATORS[engine] if o.aggregates)
    return [o for o in own if o.for_data_windows == by_data]


def _force(
    plan: SharingPlan, question: Question, engine: str, name: str, refused: Mapping[str, str]
) -> Choice:
    known = {operator.name: operator for operator in candidates(question, engine)}
    if not is_one_of(name, known):
        raise StrategyError(_explain_unknown(name, question, engine, list(known)))
    reason = known[name].refusal(plan, question) or refused.get(name)
    if reason:
        raise StrategyError(f"operator {name!r} cannot run this plan: {reason}")
    return replace(_price(known[name], plan, question, engine), asked=True)


_PLACES = {
    "spark": "batches of Spark",
    "stream": "streams",
    "sql": "SQL text",
    "duckdb": "tables in process",
}


def _explain_unknown(name: str, question: Question, engine: str, known: list[str]) -> str:
    """Why no operator of this name runs windows of this kind on this engine."""
    remedy = f"leave it out, or give {', '.join(map(repr, known))}"
    offered = {e: [o.name for o in own if o.aggregates] for e, own in OPERATORS.items()}
    places = [place for place, names in offered.items() if is_one_of(name, names)]
    if engine in places and question.query.data_windows:
        return (
            f"operator={shown(name)} is for periodic windows, and the data decides where "
            f"{question.query.data_windows[0].id!r} begins and ends: {remedy}"
        )
    if engine in places:
        return f"operator={shown(name)} is for windows that the data decides: {remedy}"
    if places:
        return (
            f"operator={shown(name)} is for {_PLACES[places[0]]}, and this plan is for "
            f"{_PLACES[engine]}: {remedy}"
        )
    return unknown("stream operator" if engine == "stream" else "operator", name, known)


def _price(operator: Operator, plan: SharingPlan, question: Question, engine: str) -> Choice:
    lowered = lower(operator.rewrite(plan, question))
    physical = replace(lowered, planned_for=question.statistics)
    return predict(operator, physical, question, engine)


def predict(operator: Operator, physical: PhysicalPlan, question: Question, engine: str) -> Choice:
    """A plan as an operator runs it, priced for each case that the data may be like."""
    cases = question.stream_cases if engine == "stream" else question.batch_cases
    by_case = [operator.seconds(physical, case) for case in cases]
    totals = tuple(sum(each.values()) for each in by_case)
    told = totals
    if question.statistics.unknown:
        known = (replace(case, statistics=case.statistics.known) for case in cases)
        told = tuple(sum(operator.seconds(physical, case).values()) for case in known)
    slower = engine == "stream" and any(
        ours > SLOWER * own for ours, own in zip(totals, _own_seconds(question), strict=True)
    )
    return Choice(operator, physical, by_case[0], totals, told, slower=slower)


@lru_cache(maxsize=64)
def _own_seconds(question: Question) -> tuple[float, ...]:
    """Seconds predicted for Spark's own windows on a stream, in each case; endless without any."""
    own = (predict_unshared(case, "stream") for case in question.stream_cases)
    return tuple(float("inf") if seconds is None else seconds for seconds in own)


def predict_unshared(question: Question, engine: str) -> float | None:
    """Seconds predicted for every window by itself; None where Spark has no such window."""
    query = question.query
    if query.data_windows or in_python(query) is not None:
        return None
    nodes = [window_node(window) for window in query.windows]
    physical = lower(SharingPlan.build(nodes, query.idempotent))
    if engine == "stream":
        copied = replace(question, stranger="rows are copied", started_with=())
        others = len(nodes) - 1  # each reads the rows again, and has a state of its own
        again = others * (BATCHES * STATE + SCAN * ROWS)
        return sum(NATIVE.seconds(physical, copied).values()) + again
    operator = WINDOW if engine == "spark" else EXPAND
    return sum(operator.seconds(physical, question).values())

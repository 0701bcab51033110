"""Which operator runs a plan: each that can is asked to rewrite, lower and price it.

What is chosen is what explain() shows and the engine runs: the rewritten plan, lowered once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from muntin.errors import StrategyError, is_one_of, shown, unknown
from muntin.physical.lowering import PhysicalPlan, lower
from muntin.physical.operators import OPERATORS, Operator
from muntin.physical.question import Question
from muntin.plan import SharingPlan, unshare


@dataclass(frozen=True, slots=True)
class Choice:
    """An operator and the plan that it runs, with the seconds predicted for each node.

    `asked` says that it was asked for by name; `others` are the operators that could run the same
    plan, with the seconds predicted for them, and `refusals` those that could not, with reasons.
    `missed` is one predicted to be faster that the data ruled out, with the reason.
    """

    operator: Operator
    physical: PhysicalPlan
    by_node: Mapping[int, float] = field(repr=False)
    asked: bool = False
    others: Mapping[str, float] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)
    missed: tuple[str, str] | None = None

    @property
    def plan(self) -> SharingPlan:
        """The sharing plan that runs."""
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
        return _forced(plan, question, engine, forced, refused or {})
    found: list[Choice] = []
    reasons: dict[str, str] = {}
    ruled_out: list[Choice] = []
    for operator in candidates(question, engine):
        if not operator.chosen or not (operator.shares or unshare(plan) is plan):
            continue
        own, outer = operator.refusal(plan, question), (refused or {}).get(operator.name)
        if own is None:
            (ruled_out if outer else found).append(_priced(operator, plan, question))
        if own or outer:
            reasons[operator.name] = outer or own or ""
    if not found:
        why = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise StrategyError(f"no operator can run this plan: {why}")
    best = min(found, key=lambda choice: choice.seconds)
    others = {c.operator.name: c.seconds for c in found if c is not best}
    faster = [c.operator.name for c in ruled_out if c.seconds < best.seconds]
    missed = (faster[0], reasons[faster[0]]) if faster else None
    return Choice(best.operator, best.physical, best.by_node, False, others, reasons, missed)


def candidates(question: Question, engine: str) -> list[Operator]:
    """The operators of an engine for windows of this kind."""
    by_data = bool(question.query.data_windows)
    own = (o for o in OPERATORS[engine] if o.aggregates)
    return [o for o in own if o.for_data_windows == by_data]


def _forced(
    plan: SharingPlan, question: Question, engine: str, name: str, refused: Mapping[str, str]
) -> Choice:
    known = {operator.name: operator for operator in candidates(question, engine)}
    if not is_one_of(name, known):
        here = [o.name for o in OPERATORS[engine] if o.aggregates]
        if is_one_of(name, here):
            raise StrategyError(_misplaced(name, question, list(known)))
        elsewhere = [other for other in OPERATORS if _has(other, name)]
        if elsewhere:
            raise StrategyError(
                f"operator={shown(name)} is for {_PLACES[elsewhere[0]]}, and this plan is for "
                f"{_PLACES[engine]}: leave it out, or give {', '.join(map(repr, known))}"
            )
        of = "stream operator" if engine == "stream" else "operator"
        raise StrategyError(unknown(of, name, known))
    reason = known[name].refusal(plan, question) or refused.get(name)
    if reason:
        raise StrategyError(f"operator {name!r} cannot run this plan: {reason}")
    choice = _priced(known[name], plan, question)
    return Choice(choice.operator, choice.physical, choice.by_node, asked=True)


_PLACES = {"spark": "batches of Spark", "stream": "streams", "sql": "SQL and tables in process"}


def _has(engine: str, name: object) -> bool:
    return is_one_of(name, [o.name for o in OPERATORS[engine] if o.aggregates])


def _misplaced(name: str, question: Question, known: list[str]) -> str:
    own = ", ".join(map(repr, known))
    if question.query.data_windows:
        return (
            f"operator={shown(name)} is for periodic windows, and the data decides where "
            f"{question.query.data_windows[0].id!r} begins and ends: leave it out, or give {own}"
        )
    return (
        f"operator={shown(name)} is for windows that the data decides: leave it out, or give {own}"
    )


def _priced(operator: Operator, plan: SharingPlan, question: Question) -> Choice:
    physical = lower(operator.rewritten(plan, question))
    return Choice(operator, physical, operator.seconds(physical, question))

"""Tipping points: what one would have to know of a stream for another operator to be chosen.

A stream of unknown keys or rate is given the operator of least regret over all that it may be like.
Each unknown is looked at by itself: over the values that the cases give it, the operator is chosen
as if that value were given. Between a value at which another one is chosen and its neighbour at
which none is, the last round number is found that still changes the choice.

time  a prediction of each operator for each case and a dozen values; plans are not made again
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import floor, log10

from muntin.physical.lowering import lower
from muntin.physical.operators import OPERATORS
from muntin.physical.question import Question
from muntin.plan import SharingPlan
from muntin.planner.choice import Choice, least_regret, predict

ENGINE = "stream"
NAMES = {"keys": "distinct_keys", "rate": "rate"}
"""What may be unknown of a stream, and by which option one gives it; the more telling first."""


@dataclass(frozen=True, slots=True)
class TippingPoint:
    """The operator that would be chosen if the option had this value, or one beyond it."""

    operator: str
    option: str
    value: float
    below: bool

    def __str__(self) -> str:
        sign = "<=" if self.below else ">="
        return (
            f"{self.operator} would be chosen with {self.option} {sign} {self.value:,g}; "
            f"give {self.option}= if you know it"
        )


def find_tipping_point(
    plan: SharingPlan, choice: Choice, question: Question
) -> TippingPoint | None:
    """The first thing to know that would change the operator of a stream's plan, if there is any.

    The plan is the one that was planned; the operators are those that could run it.
    """
    if choice.asked or not choice.others:
        return None
    by_name, able = {o.name: o for o in OPERATORS[ENGINE]}, {choice.operator.name, *choice.others}
    runnable = [by_name[name] for name in by_name if name in able]
    lowered = [(o, lower(o.rewrite(plan, question))) for o in runnable]

    def choose_with(name: str, value: float) -> str:
        known = question.statistics
        rest = tuple(each for each in known.unknown if each != name)
        keys, rate = (value, known.rate) if name == "keys" else (known.keys, value)
        asked = replace(question, statistics=replace(known, keys=keys, rate=rate, unknown=rest))
        choices = [predict(o, physical, asked, ENGINE) for o, physical in lowered]
        return choices[least_regret(choices)[0]].operator.name

    for name, option in NAMES.items():
        if name in question.statistics.unknown:
            values = {getattr(case.statistics, name) for case in question.stream_cases}
            found = _tip(sorted(values), choice.operator.name, partial(choose_with, name))
            if found is not None:
                return TippingPoint(found[0], option, *found[1:])
    return None


def _tip(
    values: list[float], present: str, choose_with: Callable[[float], str]
) -> tuple[str, float, bool] | None:
    """Another operator than the present one, up to or from which value on, and which of both."""
    for low, high in pairwise(values):
        older, newer = choose_with(low), choose_with(high)
        if (older == present) == (newer == present):
            continue
        below = newer == present
        other = older if below else newer
        numbers = round_numbers(low, high)
        if not below:
            numbers.reverse()
        return other, _last(numbers, other, choose_with), below
    return None


def _last(numbers: list[float], operator: str, choose_with: Callable[[float], str]) -> float:
    """The last number with this operator; the first has it, and none after one that has not."""
    low, high = 0, len(numbers)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if choose_with(numbers[middle]) == operator else (low, middle)
    return numbers[low]


def round_numbers(low: float, high: float) -> list[float]:
    """Both bounds, and the numbers of one digit between them.

    >>> round_numbers(7, 40)
    [7, 8.0, 9.0, 10.0, 20.0, 30.0, 40]
    """
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    between = (digit * 10.0**power for power in powers for digit in range(1, 10))
    return [low, *(number for number in between if low < number < high), high]

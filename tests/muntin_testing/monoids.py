"""Small monoids that tell orders apart, values for every aggregate, and recomputation as judge."""

from collections.abc import Sequence
from functools import reduce
from math import isclose
from operator import add
from typing import Any

from hypothesis import strategies as st

from muntin.aggregates import FUNCTIONS
from muntin.aggregates.custom import Custom, custom
from muntin.aggregates.extremes import less
from muntin.incremental import Monoid


class Concat:
    """Text put together in order: associative, does not commute."""

    identity = ""
    invertible = selective = commutative = False

    def lift(self, value: str) -> str:
        return value

    def combine(self, older: str, newer: str) -> str:
        return older + newer

    def lower(self, partial: str) -> str:
        return partial

    def invert(self, whole: str, older: str) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return "concat"


class InvertibleConcat(Concat):
    """Text from which the oldest part can be cut off: a running aggregate whose order shows."""

    invertible = True

    def invert(self, whole: str, older: str) -> str:
        assert whole.startswith(older), "only the oldest may leave"
        return whole[len(older) :]

    def __repr__(self) -> str:
        return "invertible concat"


class ArgMin(Concat):
    """(value, where it was), the older among ties; None is passed over. Rebuilt, never the same."""

    identity: Any = None
    selective = True

    def combine(self, older: Any, newer: Any) -> Any:
        if older is None or newer is None:
            chosen = newer if older is None else older
        else:
            chosen = newer if less(newer[0], older[0]) else older
        return None if chosen is None else (*chosen,)

    def __repr__(self) -> str:
        return "argmin"


class Latest(Concat):
    """The newest value that is not null: selective, does not commute."""

    identity: Any = None
    selective = True

    def combine(self, older: Any, newer: Any) -> Any:
        return older if newer is None else newer

    def __repr__(self) -> str:
        return "latest"


class Earliest(Latest):
    """The oldest value that is not null: what SlickDeque can never drop early."""

    def combine(self, older: Any, newer: Any) -> Any:
        return newer if older is None else older

    def __repr__(self) -> str:
        return "earliest"


def joined(name: str, **parts: Any) -> Custom:
    """A custom aggregate that puts texts together, unless told otherwise: it does not commute."""
    given: dict[str, Any] = {"lift": str, "combine": add, "lower": str, "identity": ""}
    return custom(name, **(given | {"result": "string"} | parts))


Digits = tuple[int, int]
"""How many digits, and the number that they make."""


def digits(**flags: Any) -> Custom:
    """A custom aggregate that writes numbers one after the other: 3, 45 and 6 are 3456."""

    def both(older: Digits, newer: Digits) -> Digits:
        return older[0] + newer[0], older[1] * 10 ** newer[0] + newer[1]

    def rest(whole: Digits, older: Digits) -> Digits:
        left = whole[0] - older[0]
        return left, whole[1] % 10**left

    return custom(
        "digits",
        lift=lambda n: (len(str(n)), n),
        combine=both,
        lower=lambda partial: partial[1],
        identity=(0, 0),
        invert=rest,
        check_laws=[3, 45, 6],
        **flags,
    )


NAN = float("nan")
INTEGERS = st.none() | st.integers(-4, 4)
FLOATS = INTEGERS | st.sampled_from([NAN, float("inf"), -float("inf"), 0.0, -0.0, 1e16, 0.5])
OF_TYPE = {
    "min": FLOATS,
    "max": FLOATS,
    "bool_and": st.none() | st.booleans(),
    "bool_or": st.none() | st.booleans(),
    "count_if": st.none() | st.booleans(),
}
"""Values worth trying where small integers and nulls are not enough."""

SMALL: dict[str, tuple[Monoid, st.SearchStrategy[Any]]] = {
    "concat": (Concat(), st.text("abc", max_size=2)),
    "invertible concat": (InvertibleConcat(), st.text("abc", max_size=2)),
    "argmin": (ArgMin(), st.none() | st.tuples(FLOATS.filter(lambda v: v is not None), INTEGERS)),
    "latest": (Latest(), INTEGERS),
    "earliest": (Earliest(), INTEGERS),
    "custom text": (joined("custom_text"), st.text("abc", max_size=2)),
    "custom digits": (digits(), st.none() | st.integers(0, 99)),
}
"""Monoids that do not commute, and the values that they take."""


def monoids() -> list[str]:
    """The names of all aggregate functions and of the small monoids above."""
    return [*FUNCTIONS, *SMALL]


def monoid_and_values(name: str) -> tuple[Monoid, st.SearchStrategy[Any]]:
    """A monoid by name, with a strategy for values that it takes."""
    if name in SMALL:
        return SMALL[name]
    function = FUNCTIONS[name]()
    if name in ("min_by", "max_by"):
        # a function that says it commutes has no order to keep among ties, so ties must be equal
        ties = FLOATS.map(lambda order: (order is None or float(order) + 0.0, order))
        return function, ties if function.commutative else st.tuples(INTEGERS, FLOATS)
    default = INTEGERS if function.arity == 1 else st.tuples(*[INTEGERS] * function.arity)
    return function, OF_TYPE.get(name, default)


def recomputed(monoid: Monoid, values: Sequence[Any]) -> Any:
    """The aggregate of the values, folded from nothing."""
    return monoid.lower(reduce(monoid.combine, map(monoid.lift, values), monoid.identity))


def same(left: Any, right: Any) -> bool:
    """Equal, with NaN equal to itself; floats may differ in the last bits."""
    if isinstance(left, tuple | list) and isinstance(right, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    if not isinstance(left, float) or not isinstance(right, float):
        return bool(left == right)
    if left != left or right != right:
        return left != left and right != right
    return left == right or isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)


EXACT_NUMBERS = {
    "integers": st.integers(-9, 9),
    "huge integers": st.integers(-(10**40), 10**40),
    "fractions": st.fractions(max_denominator=9),
    "decimals": st.decimals(-9, 9, places=2),
}
"""Kinds of numbers that a sum may take out again without loss."""

"""Values for every aggregate function, in one place.

A new function needs an entry in VALUES: the Spark types that it is tried on, and a strategy for the
value of one record (a tuple where it takes several inputs; None is a null). The laws, the test of
its SQL against its Python and the comparison with Spark's own rows then include it.

Doubles are multiples of 1/8, so that sums of them are exact in any order, and now and then one that
poisons careless arithmetic: NaN, an infinity, 1e16 beside which 1.0 is lost. There is no -1e16:
where the two cancel, Spark's own answer depends on the order of its rows.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from muntin.aggregates import FUNCTIONS, Function

NAN, INF = math.nan, math.inf

plain = st.integers(-8_000, 8_000).map(lambda n: n / 8)
special = st.sampled_from([NAN, INF, -INF, 1e16, 0.0, -0.0])
doubles = st.one_of(plain, plain, plain, special)
integers = st.integers(-(10**12), 10**12)
decimals = st.integers(-(10**10) + 1, 10**10 - 1).map(lambda n: Decimal(n).scaleb(-2))
booleans = st.booleans()
texts = st.text("abcäß'\"`\\ ", max_size=4)


def nullable(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The values, and nulls among them."""
    return st.one_of(values, values, values, st.none())


@dataclass(frozen=True)
class Case:
    """Inputs of one function: their Spark types and the value of one record."""

    types: tuple[str, ...]
    values: st.SearchStrategy[Any]
    exact: bool = True
    """Whether partials are equal to the last bit however they are grouped."""


def numbers(exact_doubles: bool = False) -> tuple[Case, ...]:
    """A function of one number."""
    return (
        Case(("bigint",), nullable(integers), True),
        Case(("decimal(10,2)",), nullable(decimals), True),
        Case(("double",), nullable(doubles), exact_doubles),
    )


def spread() -> tuple[Case, ...]:
    """A function of one number that computes in doubles."""
    return (
        Case(("double",), nullable(doubles), exact=False),
        Case(("int",), nullable(st.integers(-1_000, 1_000)), exact=False),
    )


def two(
    first: st.SearchStrategy[Any], second: st.SearchStrategy[Any]
) -> st.SearchStrategy[tuple[Any, Any]]:
    """Two values of one record."""
    return st.tuples(nullable(first), nullable(second))


def pairs() -> tuple[Case, ...]:
    """A function of two numbers whose rounding errors grow with the largest: no 1e16 among them."""
    small, large = st.integers(-1_000, 1_000), st.integers(-(10**6), 10**6)
    return (Case(("int", "bigint"), two(small, large), exact=False),)


def several() -> tuple[Case, ...]:
    """A function of values of any type."""
    return (
        Case(("bigint",), nullable(st.integers(-9, 9))),
        Case(("double",), nullable(doubles)),
        Case(("string",), nullable(texts)),
    )


# Which of several rows with the smallest order wins is open in Spark: the order decides the value.
by_order = nullable(st.integers(-1_000, 1_000)).map(
    lambda order: (None if order is None or order % 7 == 0 else f"value {order}", order)
)

VALUES: dict[str, tuple[Case, ...]] = {
    "min": (*numbers(exact_doubles=True), Case(("string",), nullable(texts))),
    "max": (*numbers(exact_doubles=True), Case(("string",), nullable(texts))),
    "min_by": (Case(("string", "bigint"), by_order),),
    "max_by": (Case(("string", "bigint"), by_order),),
    "sum": numbers(),
    "avg": numbers(),
    "count": (Case(("double",), nullable(doubles)),),
    "count_if": (Case(("boolean",), nullable(booleans)),),
    "var_pop": spread(),
    "var_samp": spread(),
    "stddev_pop": spread(),
    "stddev_samp": spread(),
    "bool_and": (Case(("boolean",), nullable(booleans)),),
    "bool_or": (Case(("boolean",), nullable(booleans)),),
    "bit_and": (Case(("bigint",), nullable(integers)),),
    "bit_or": (Case(("bigint",), nullable(integers)),),
    "bit_xor": (Case(("bigint",), nullable(integers)),),
    "skewness": spread(),
    "kurtosis": spread(),
    "covar": pairs(),
    "covar_pop": pairs(),
    "covar_samp": pairs(),
    "corr": (*pairs(), Case(("double", "double"), two(doubles, doubles), exact=False)),
    "product": (Case(("int",), nullable(st.integers(-5, 5))),),
    "collect_set": several(),
    "count_distinct": several(),
    "approx_count_distinct": several(),
    "approx_percentile": (Case(("bigint",), nullable(integers)),),
    "median": (Case(("bigint",), nullable(integers)), Case(("double",), nullable(plain))),
    "percentile": (Case(("bigint",), nullable(integers)), Case(("double",), nullable(plain))),
}


def cases_of(name: str) -> tuple[Case, ...]:
    """The cases of a function; a function without any fails its tests."""
    assert name in VALUES, (
        f"aggregate {name!r} has no values to be tested on: add a value strategy for it to VALUES "
        "in tests/muntin_testing/values.py"
    )
    return VALUES[name]


def all_cases(approximate: bool = False) -> list[tuple[str, Case]]:
    """Every function of the registry with each of its cases.

    Those whose results are right only within an error are left out unless asked for: the rows of
    two engines, or of two groupings, need not be equal.
    """
    names = [n for n, f in FUNCTIONS.items() if approximate or not f.approximate]
    return [(name, case) for name in names for case in cases_of(name)]


def folded(function: Function, values: Iterable[Any]) -> Any:
    """The partial of several records, oldest first."""
    partial = function.identity
    for value in values:
        partial = function.combine(partial, function.lift(value))
    return partial


def same(left: Any, right: Any, tolerance: float = 0.0) -> bool:
    """Equal, with NaN equal to itself; floats within a relative tolerance if one is given."""
    if isinstance(left, tuple | list) and isinstance(right, tuple | list):
        return len(left) == len(right) and all(
            same(a, b, tolerance) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, float) and isinstance(right, float):
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return left == right or math.isclose(left, right, rel_tol=tolerance, abs_tol=tolerance)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)

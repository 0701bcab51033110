"""The laws that strategies and techniques rely on, for every aggregate function there is.

Functions are found in the registry, so none can be left out by forgetting it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from muntin.aggregates import FUNCTIONS, Function, function_named
from muntin.errors import AggregateError
from muntin_testing.reached import fewer
from muntin_testing.values import VALUES, Case, all_cases, cases_of, folded, same

SEARCH = settings(max_examples=2_000, derandomize=True, database=None)
SHARED = [
    (name, case) for name, case in all_cases(approximate=True) if not FUNCTIONS[name].holistic
]
each_case = pytest.mark.parametrize(
    ("name", "case"), SHARED, ids=[f"{name}-{'-'.join(case.types)}" for name, case in SHARED]
)


def records(case: Case) -> st.SearchStrategy[list[Any]]:
    return st.lists(case.values, max_size=5)


def equal(function: Function, case: Case, left: Any, right: Any) -> bool:
    """Whether two partials are the same, or at least mean the same where floats are rounded."""
    if case.exact:
        return same(left, right)
    return same(function.lower(left), function.lower(right), tolerance=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_values(name: str) -> None:
    for case in cases_of(name):
        assert len(case.types) == function_named(name).arity


def test_no_values_are_kept_for_functions_that_are_gone() -> None:
    assert set(VALUES) <= set(FUNCTIONS)


@each_case
@fewer
@given(data=st.data())
def test_laws(name: str, case: Case, data: st.DataObject) -> None:
    function = function_named(name)
    chunks = data.draw(st.tuples(records(case), records(case), records(case)))
    a, b, c = (folded(function, chunk) for chunk in chunks)
    identity(function, a)
    associativity(function, case, a, b, c)
    grouping(function, case, chunks)
    inverse(function, case, older=a, newer=b)
    if function.commutative:
        assert equal(function, case, function.combine(a, b), function.combine(b, a))
    if function.idempotent:
        idempotence(function, case, a, b)
    if function.selective:
        both = function.combine(a, b)
        assert same(both, a) or same(both, b)


def identity(function: Function, a: Any) -> None:
    assert same(function.combine(function.identity, a), a)
    assert same(function.combine(a, function.identity), a)


def associativity(function: Function, case: Case, a: Any, b: Any, c: Any) -> None:
    left = function.combine(function.combine(a, b), c)
    right = function.combine(a, function.combine(b, c))
    assert equal(function, case, left, right)


def grouping(function: Function, case: Case, chunks: Sequence[list[Any]]) -> None:
    """How records are cut into partials does not change the result."""
    whole = folded(function, [value for chunk in chunks for value in chunk])
    merged = function.identity
    for chunk in chunks:
        merged = function.combine(merged, folded(function, chunk))
    assert equal(function, case, merged, whole)


def inverse(function: Function, case: Case, older: Any, newer: Any) -> None:
    whole = function.combine(older, newer)
    if not function.invertible:
        with pytest.raises(AggregateError, match=f"{function.name} cannot be inverted"):
            function.invert(whole, older)
    elif case.exact:  # floats are never subtracted: DESIGN section 4
        assert same(function.invert(whole, older), newer)


def idempotence(function: Function, case: Case, a: Any, b: Any) -> None:
    assert same(function.combine(a, a), a)
    both = function.combine(a, b)  # a piece that is counted twice, with another between
    assert equal(function, case, function.combine(both, a), both)


@each_case
def test_what_is_not_claimed_does_not_hold(name: str, case: Case) -> None:
    # A flag that is missing hides a better plan as surely as a wrong one breaks a result.
    function = function_named(name)
    pairs = st.tuples(records(case), records(case)).map(
        lambda both: tuple(folded(function, each) for each in both)
    )

    def exists(law_is_broken: Callable[[Any, Any], bool]) -> None:
        any_example = settings(SEARCH, phases=[Phase.generate])
        find(pairs, lambda pair: law_is_broken(*pair), settings=any_example)

    if not function.idempotent:
        exists(lambda a, _: not same(function.combine(a, a), a))
    if not function.selective:
        exists(lambda a, b: not any(same(function.combine(a, b), each) for each in (a, b)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_flags_agree_with_each_other(name: str) -> None:
    function = function_named(name)
    assert not function.selective or function.idempotent  # combine(p, p) can only be p
    assert not (function.idempotent and function.invertible)
    assert not (function.ordered and function.commutative)
    partials = function.partials([None] * function.arity)
    assert function.ordered == any(partial.in_order for partial in partials)


def test_only_ties_tell_the_order_of_records() -> None:
    names = {name for name, function in FUNCTIONS.items() if not function.commutative}
    assert names == {"min_by", "max_by"}
    for name in names:
        function = function_named(name)
        tied = [("older", 1), ("newer", 1)]
        assert function.lower(folded(function, tied)) == "older"
        assert function.lower(folded(function, tied[::-1])) == "newer"
        assert not function.ordered, "which of them an engine takes is open, as Spark leaves it"


@each_case
def test_no_record_gives_the_result_of_nulls(name: str, case: Case) -> None:
    function = function_named(name)
    null = None if function.arity == 1 else (None,) * function.arity
    assert same(function.lower(function.identity), function.lower(folded(function, [null, null])))

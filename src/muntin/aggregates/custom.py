"""custom: an aggregate of the user's own, written in Python.

order  time, then `order_by`; none where the function is said to commute
needs  a monoid: combine is associative and identity changes nothing
time   one call of lift and combine a record, unless `fold` takes all records of a slice at once

Spark gathers the records of each slice; the kernel lifts and combines them in its Python workers,
and combines slices into windows there. So only the first step works record by record: windows cost
a few calls of combine a slice. Records whose argument is null are passed over; where a function
takes several arguments it is given a dictionary, nulls included; what a filter leaves out it is
never given.

Gathered records come in no order. So those of a slice are sorted, unless the function commutes:
by time, then `order_by`, then their own values, so that the result never depends on how rows
arrived. (Records without an order, such as maps, are sorted by time and `order_by` alone.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from muntin.aggregates.algebra import (
    Aggregate,
    Function,
    Keeper,
    Partial,
    PartialValue,
    Types,
    Value,
    make,
)
from muntin.aggregates.signatures import has_no_order
from muntin.errors import AggregateError, shown

_BY_TIME = "(a, b) -> CASE WHEN a.at < b.at THEN -1 WHEN a.at > b.at THEN 1 ELSE 0 END"
"""Compares gathered records that cannot be compared by their values."""

MOST_ARGUMENTS = 250
"""Of one function."""

T = TypeVar("T")
Lift = Callable[[Value], PartialValue]
Combine = Callable[[PartialValue, PartialValue], PartialValue]
Lower = Callable[[PartialValue], Value]


class Custom(Function):
    """A function made of the user's callables; calling it with arguments gives an aggregate."""

    in_python = True

    def __init__(
        self,
        name: str,
        lift: Lift,
        combine: Combine,
        lower: Lower,
        identity: PartialValue,
        result: str,
        arity: int,
        invert: Combine | None,
        fold: Lift | None,
        commutative: bool,
    ) -> None:
        self.name, self.result, self.arity, self.fold = name, result, arity, fold
        self._lift, self._combine, self._lower = lift, combine, lower
        self.identity, self._invert = identity, invert
        self.invertible = invert is not None
        self.commutative, self.ordered = commutative, not commutative
        self.sees_nulls = arity > 1
        self.parameters = (name, lift, combine, lower, result, arity, invert, fold, commutative)

    def __call__(self, *arguments: str) -> Aggregate:
        if len(arguments) != self.arity:
            raise AggregateError(
                f"{self.name} takes {self.arity} arguments, {len(arguments)} given: {arguments}"
            )
        return make(self, *arguments)

    @property
    def named_parameters(self) -> list[str]:
        return []

    def partials(self, types: Types) -> tuple[Partial, ...]:
        fields = ", ".join(f"'_{i}', {{{i}}}" for i in range(self.arity))
        record = "{0}" if self.arity == 1 else f"named_struct({fields})"
        if len(types) > self.arity:  # the mark of the rows that a filter leaves
            record = f"CASE WHEN {{{self.arity}}} THEN {record} END"
        row = self._gathered(f"array_compact(array({record}))")
        return (
            Partial(
                "custom",
                self._gathered(f"collect_list({record})"),
                "",
                "custom",
                code=self,
                in_order=self._gathered(_sorted(record, types)) if self.ordered else "",
                row=row,
                bounded=True,
                keeper=Keeper("custom", row),
                not_in_duckdb="it is written in Python",
            ),
        )

    def _gathered(self, records: str) -> str:
        return f"named_struct('records', {records}, 'result', CAST(NULL AS {self.result}))"

    def final(self, types: Types) -> str:
        return "{custom}.result"

    def native(self) -> str:
        raise AggregateError(
            f"{self.name} is written in Python: Spark has no function of its own to compare with"
        )

    def lift(self, value: Value) -> PartialValue:
        return self.identity if value is None else call(self.name, "lift", self._lift, value)

    def combine(self, older: PartialValue, newer: PartialValue) -> PartialValue:
        return call(self.name, "combine", self._combine, older, newer)

    def lower(self, partial: PartialValue) -> Value:
        return call(self.name, "lower", self._lower, partial)

    def invert(self, whole: PartialValue, older: PartialValue) -> PartialValue:
        if self._invert is None:
            return super().invert(whole, older)
        return call(self.name, "invert", self._invert, whole, older)


def _sorted(record: str, types: Types) -> str:
    """SQL for the records that are not null, in order."""
    placed = f"named_struct('at', {{order}}, 'record', {record})"
    gathered = f"collect_list(CASE WHEN {record} IS NOT NULL THEN {placed} END)"
    if any(kind is not None and has_no_order(kind) for kind in types):
        return f"transform(array_sort({gathered}, {_BY_TIME}), each -> each.record)"
    return f"transform(sort_array({gathered}), each -> each.record)"


def call(name: str, what: str, code: Callable[..., T], *given: Value) -> T:
    """Run code of the user's; an error says what it was given."""
    try:
        return code(*given)
    except Exception as error:
        values = ", ".join(" ".join(repr(each).split())[:200] for each in given)
        raise AggregateError(
            f"custom {name!r}: {what}({values}) raised {type(error).__name__}: {error}"
        ) from error


def custom(
    name: str,
    lift: Lift,
    combine: Combine,
    lower: Lower,
    identity: PartialValue,
    invert: Combine | None = None,
    idempotent: bool = False,
    commutative: bool = False,
    selective: bool = False,
    result: str = "double",
    arity: int = 1,
    fold: Lift | None = None,
    check_laws: Iterable[Value] = (),
) -> Custom:
    """An aggregate function of your own: call it with columns, as `longest("word")`.

    name      a plain word, in the names of results
    lift      the partial of one value; with an `arity` of several arguments, of a dictionary
    combine   the partial of two, the older first
    lower     the result of a partial
    identity  the partial of no record, which changes nothing when it is combined

    Records are combined in the order of time and `order_by`. Say `commutative=True` if their order
    does not matter: that is faster, and with `idempotent=True` pieces may then overlap. `invert`,
    if given, takes the oldest out: invert(combine(older, newer), older) is newer.

    `result` is the Spark type of what `lower` gives; `fold`, if given, makes the partial of all
    records of a slice at once, from a PyArrow array. With values in `check_laws`, the laws that
    sharing relies on are checked on them, and a broken one is an error. Say `selective=True` if
    `combine` returns one of its arguments. It runs in Spark's Python workers: on batches, for
    mt.as_of, and on streams with a window that the data decides, if its partials are plain values
    (numbers, texts, tuples, dictionaries, …). Streams of periodic windows alone, SQL text and
    tables in process refuse it.

    >>> longest = custom("longest", lift=len, combine=max, lower=lambda n: n, identity=0,
    ...                  idempotent=True, commutative=True, result="int",
    ...                  check_laws=["a", "muntin", "pane"])
    >>> longest("word")
    <longest(word)>
    """
    needed = {"lift": lift, "combine": combine, "lower": lower}
    for what, code in {**needed, "invert": invert, "fold": fold}.items():
        if not callable(code) and (what in needed or code is not None):
            or_none = "" if what in needed else " or None"
            raise AggregateError(f"custom {name!r}: {what} {code!r} must be a function{or_none}")
    _check_words(name, result, arity)
    flags = {"idempotent": idempotent, "commutative": commutative, "selective": selective}
    for what, flag in flags.items():
        if type(flag) is not bool:
            raise AggregateError(f"custom {name!r}: {what} {flag!r} must be True or False")
    if not isinstance(check_laws, Iterable):
        raise AggregateError(f"custom {name!r}: check_laws {check_laws!r} must be a list of values")
    function = Custom(
        name, lift, combine, lower, identity, result, arity, invert, fold, commutative
    )
    function.idempotent, function.selective = idempotent, selective
    _check(function, list(check_laws))
    return function


def _check_words(name: object, result: object, arity: object) -> None:
    """Refuse what is not named, typed or counted."""
    if not isinstance(name, str) or not name.isidentifier():
        raise AggregateError(f"custom {name!r}: the name must be a plain word")
    if not isinstance(result, str) or not result.strip():
        raise AggregateError(
            f"custom {name!r}: result {result!r} must be a type of Spark, such as 'double'"
        )
    if type(arity) is not int or not 1 <= arity <= MOST_ARGUMENTS:
        raise AggregateError(
            f"custom {name!r}: arity {shown(arity)} must be how many arguments it takes, at "
            f"least 1 and at most {MOST_ARGUMENTS}"
        )


def _check(function: Custom, sample: list[Value]) -> None:
    """Every law on every three partials of a few records of the sample."""
    parts = [function.identity, *map(function.lift, sample[:12])]
    combine = function.combine

    def hold(law: str, left: PartialValue, right: PartialValue, given: PartialValue) -> None:
        if not call(function.name, "==", _same, left, right):
            raise AggregateError(
                f"custom {function.name!r} breaks {law}: {left!r} is not {right!r} for partials "
                f"{given!r}"
            )

    for a in parts:
        hold("identity", combine(function.identity, a), a, a)
        hold("identity", combine(a, function.identity), a, a)
        if function.idempotent:
            hold("idempotence", combine(a, a), a, a)
        for b in parts:
            both = combine(a, b)
            if function.commutative:
                hold("commutativity", both, combine(b, a), (a, b))
            if function.invertible:
                hold("the inverse", function.invert(both, a), b, (a, b))
            if function.selective:
                chosen = any(call(function.name, "==", _same, both, each) for each in (a, b))
                hold("selectivity", chosen, True, (a, b))
            for c in parts:
                hold("associativity", combine(both, c), combine(a, combine(b, c)), (a, b, c))


def _same(left: PartialValue, right: PartialValue) -> bool:
    """Whether two partials are equal, floats up to rounding; NumPy's arrays value by value."""
    left, right = (each.tolist() if hasattr(each, "tolist") else each for each in (left, right))
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, float) and isinstance(right, float):
        same = left == right or (left != left and right != right)
        return same or abs(left - right) <= 1e-9 * abs(right)
    return bool(left == right)

"""The algebra of aggregates: what may be shared, and how partials are made, merged and finished.

An aggregate is lifted from records into partials, partials are combined, and a partial is lowered
to the result. It is declared twice, for two kinds of engine, and the law tests hold both to one
meaning:

    SQL      each `Partial` is a column: an aggregate over the inputs {0}, {1} (lift), an aggregate
             over partial columns {name} (merge); `final` is an expression over merged columns.
             The text is Spark SQL, run in the JVM by Spark and transpiled for other engines.
    Python   identity, lift, combine, lower, invert: plain values, for in-process structures.

Strategies and techniques ask for the flags, never for the name of a function.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

from muntin.aggregates.expression_text import check_expression
from muntin.aggregates.signatures import Signature, result_type
from muntin.errors import AggregateError, printable, shown

Types = Sequence[str | None]
"""Spark type names ("bigint", "decimal(10,2)") of an aggregate's inputs; None where unknown."""

Value: TypeAlias = Any
"""A value of a record, a parameter or a result: its type is known to the function alone."""

PartialValue: TypeAlias = Any
"""A partial in process; a family that knows the type says it."""

FUNCTIONS: dict[str, type[Function]] = {}
"""Every aggregate function by Spark's name for it."""


@dataclass(frozen=True, slots=True)
class Keeper:
    """How state in Python keeps a partial: the name of the form, and its parameters.

    `row` is what it takes of one row, over {0}, {1} as a partial's `lift`: a value or its hash,
    rather than a set or a sketch of one value, which only an aggregate function could make.
    """

    name: str
    row: str
    parameters: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Partial:
    """One column of a partial aggregate.

    `merger` names the merge for engines that work on arrays instead of SQL ("" where there is
    none), `beside` the other partials of the function that it must look at to merge this one,
    `code` what a custom merger needs besides its name. `in_order` is the lift of a function whose
    result depends on the order of records: an engine gives it rows in no order and a column
    {order} to sort them by.

    `row` is the partial of one row, over {0}, {1} as `lift` is, for engines that group rows outside
    SQL: None where it needs an aggregate function, such as a sketch; `counts` the value of which
    `row` only says whether it is there: 1, or 0 where it is null. `bounded` says that a merge
    holds one partial however many it is given, not all of them in a list; `takes_filter` that
    `merge` is one call of an aggregate function, which FILTER (WHERE …) may follow; `not_in_duckdb`
    why DuckDB cannot make or merge it, or None. `keeper` is how state in Python keeps it, where
    that is not as `row` makes and `merger` merges it. `kind` is its Spark type, where that follows
    from those of the inputs; where it is None, Spark is asked.
    """

    name: str
    lift: str
    merge: str
    merger: str = ""
    beside: tuple[str, ...] = ()
    code: Function | None = None
    in_order: str = ""
    row: str | None = None
    counts: str | None = None
    bounded: bool = False
    keeper: Keeper | None = None
    takes_filter: bool = False
    not_in_duckdb: str | None = None
    kind: str | None = None

    def fill(self, inputs: Sequence[str], names: Mapping[str, str], order: str) -> Partial:
        """The partial with these texts in the places of inputs, partials and the order."""
        return replace(
            self,
            name=names[self.name],
            lift=self.lift.format(*inputs),
            merge=self.merge.format(**names),
            beside=tuple(names[each] for each in self.beside),
            in_order=self.in_order.format(*inputs, order=order),
            row=self.row and self.row.format(*inputs),
            counts=self.counts and self.counts.format(*inputs),
            keeper=self.keeper and replace(self.keeper, row=self.keeper.row.format(*inputs)),
        )


class Function(ABC):
    """One aggregate function; a subclass with a name registers itself.

    invertible   combine can be undone exactly (for integers, decimals and counts)
    idempotent   combining a partial with itself changes nothing, so pieces may overlap
    selective    combine returns one of its arguments
    commutative  the order of combining does not matter
    ordered      the result depends on the order of records, so engines take them in the order of
                 time and `order_by`, or refuse; pieces may not overlap. (One that does not commute
                 need not be ordered: which of the rows with the least order min_by takes is open.)
    holistic     there is no partial of bounded size: evaluated directly, never shared
    approximate  right within a stated error, not equal to the engine's own row for row

    `since` is the first Spark with the functions that its partials use (older ones evaluate it
    directly), `empty` the SQL of its result where there is no record; `in_python` says that it is
    merged in Python alone, so that only the kernel can run it; `sees_nulls` that it is given rows
    whose arguments are all null, so that a filter must mark the rows that it leaves; `by_type` that
    it is shared over some types of its inputs but not over others (`unshared`). `defaults` are its
    parameters, such as a percentage; an instance holds its own in `parameters`. One that is
    `variadic` takes any number of arguments: `over(n)` makes it for n. `takes` says which types it
    takes and gives, and `error` how far one that is approximate may be off. `same_in_duckdb` says
    that DuckDB's own function has the meaning and the type of Spark's. `in_frames` names how the
    trailing windows of rows compute it from values, where arrays cannot merge its partials.
    """

    name: str
    arity: int = 1
    variadic: bool = False
    invertible: bool = False
    idempotent: bool = False
    selective: bool = False
    commutative: bool = True
    ordered: bool = False
    holistic: bool = False
    approximate: bool = False
    since: tuple[int, ...] = (4, 0)
    empty: str = "NULL"
    in_python: bool = False
    sees_nulls: bool = False
    by_type: bool = False
    defaults: tuple[Value, ...] = ()
    takes: ClassVar[Signature] = {}
    error: str = ""
    in_frames: ClassVar[str] = ""
    same_in_duckdb: bool = False
    identity: PartialValue
    """The partial of no record."""

    def __init__(self, *parameters: Value) -> None:
        if len(parameters) > len(self.defaults):
            raise AggregateError(
                f"{self.name} takes {len(self.defaults)} parameters, {len(parameters)} given: "
                f"{', '.join(map(repr, parameters))}"
            )
        self.parameters: tuple[Value, ...] = (*parameters, *self.defaults[len(parameters) :])

    @classmethod
    def over(cls, arity: int) -> Function:
        """The function for so many arguments."""
        function = cls()
        function.arity = arity
        return function

    def __init_subclass__(cls) -> None:
        if "name" in cls.__dict__:
            FUNCTIONS[cls.name] = cls

    @property
    def named_parameters(self) -> list[str]:
        """The parameters as the name of a result has them; none where all are defaults."""
        return [] if self.parameters == self.defaults else [str(each) for each in self.parameters]

    # SQL -----------------------------------------------------------------------------------

    @abstractmethod
    def partials(self, types: Types) -> tuple[Partial, ...]:
        """The partial columns for inputs of these types."""

    @abstractmethod
    def final(self, types: Types) -> str:
        """The result, over merged partial columns."""

    def final_in_duckdb(self, types: Types) -> str | None:
        """The result in DuckDB's own SQL, where `final` means something else there; or None."""
        return None

    def unshared(self, types: Types) -> str | None:
        """Why no partials over inputs of these types give the engine's own result, or None."""
        return None

    def native(self) -> str:
        """The engine's own aggregate over the inputs: what our result must equal."""
        return f"{self.name}({', '.join(f'{{{i}}}' for i in range(self.arity))})"

    # Python --------------------------------------------------------------------------------

    @abstractmethod
    def lift(self, value: Value) -> PartialValue:
        """The partial of one record; a tuple of values where the function takes several."""

    @abstractmethod
    def combine(self, older: PartialValue, newer: PartialValue) -> PartialValue:
        """The partial of both, older records first."""

    @abstractmethod
    def lower(self, partial: PartialValue) -> Value:
        """The result of a partial."""

    def invert(self, whole: PartialValue, older: PartialValue) -> PartialValue:
        """What follows `older`: the newer of the two that were combined (older, newer) to `whole`.

        Only the oldest records are ever taken out, so combine need not commute.
        """
        raise AggregateError(f"{self.name} cannot be inverted")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Function)
            and type(self) is type(other)
            and self.parameters == other.parameters
        )

    def __hash__(self) -> int:
        return hash((type(self), self.parameters))

    def __repr__(self) -> str:
        return self.name


class Reduction(Function):
    """A function whose partial is one value, held in `column`; None where all values are null."""

    column: str
    identity: PartialValue = None

    def partials(self, types: Types) -> tuple[Partial, ...]:
        kind = result_type(self.takes, types[0] or "")
        return (merged_by(self.name, self.column, f"{self.name}({{0}})", "{0}", kind=kind),)

    def final(self, types: Types) -> str:
        return f"{{{self.column}}}"

    def lift(self, value: Value) -> PartialValue:
        return value

    def combine(self, older: PartialValue, newer: PartialValue) -> PartialValue:
        if older is None or newer is None:
            return newer if older is None else older
        return self.both(older, newer)

    @abstractmethod
    def both(self, older: PartialValue, newer: PartialValue) -> PartialValue:
        """Combine two partials that are not None."""

    def lower(self, partial: PartialValue) -> Value:
        return partial


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A function applied to SQL expressions, perhaps filtered, with the name of its result.

    mt.count(), mt.avg("v") and the like make it. An argument that is exactly the name of a column
    is that column, whatever characters it has; anything else is an SQL expression. Text that is no
    SQL is refused at once, a column that is not there when data is.

    >>> import muntin as mt
    >>> late = mt.count().filter("delay > 15").alias("late")
    >>> isinstance(late, mt.Aggregate), late.predicate, mt.sum("price * volume").name
    (True, 'delay > 15', 'sum(price * volume)')
    """

    function: Function
    arguments: tuple[str, ...]
    given_name: str | None = None
    predicate: str | None = None
    filters: tuple[str | None, ...] = ()
    """The filter of each argument by itself, where an aggregate is made of several (ratio)."""
    written: str | None = None
    """Another name that the function was called by, as Spark names its results: mean(v)."""

    def alias(self, name: str) -> Aggregate:
        """The same aggregate under another name."""
        if not isinstance(name, str) or not name:
            raise AggregateError(f"alias {shown(name)} must be a non-empty text")
        return replace(self, given_name=name)

    def filter(self, predicate: str) -> Aggregate:
        """Count only the rows where the SQL predicate is true; windows and slices stay shared."""
        if not isinstance(predicate, str) or not predicate.strip():
            raise AggregateError(
                f"filter {shown(predicate)} must be an SQL predicate, as text: .filter('v > 3')"
            )
        check_expression(predicate, "filter")
        return replace(self, predicate=both_hold(self.predicate, predicate))

    @property
    def name(self) -> str:
        """The name of the result column.

        >>> from muntin.aggregates import avg, count
        >>> avg("t").name, count().name, avg("t").alias("mean").name
        ('avg(t)', 'count', 'mean')
        """
        if self.given_name:
            return self.given_name
        inside = ", ".join([*self.arguments, *self.function.named_parameters])
        call = f"({inside})" if inside else ""
        condition = f" filter ({self.predicate})" if self.predicate else ""
        return f"{self.written or self.function.name}{call}{condition}"

    def __repr__(self) -> str:
        return f"<{printable(self.name)}>"


def both_hold(first: str | None, second: str | None) -> str | None:
    """The SQL predicate that both hold, where there are both; a comment ends with its line.

    >>> both_hold("a > 1", "b"), both_hold(None, "b")
    ('(a > 1) AND (b)', 'b')
    >>> both_hold("a -- the first", "b")
    '(a -- the first\\n) AND (b)'
    """
    if first is None or second is None:
        return first or second
    return " AND ".join(f"({each}\n)" if "--" in each else f"({each})" for each in (first, second))


def make(function: Function, *arguments: str, written: str | None = None) -> Aggregate:
    """An aggregate over its arguments, each checked to be a text."""
    for argument in arguments:
        if not isinstance(argument, str) or not argument.strip():
            raise AggregateError(
                f"{written or function.name}({shown(argument)}): give the name of a column or an "
                "SQL expression, as text"
            )
    return Aggregate(function, tuple(arguments), written=written)


def merged_by(
    function: str,
    name: str,
    lift: str,
    row: str,
    beside: tuple[str, ...] = (),
    kind: str | None = None,
) -> Partial:
    """A partial that one aggregate function merges, given the partials beside it too.

    >>> merged_by("sum", "count", "count({0})", one_if("{0}")).merge
    'sum({count})'
    >>> merged_by("min_by", "value", "min_by({0}, {1})", "{0}", ("order",)).merge
    'min_by({value}, {order})'
    """
    arguments = ", ".join(f"{{{each}}}" for each in (name, *beside))
    merge = f"{function}({arguments})"
    return Partial(
        *(name, lift, merge, function, beside),
        row=row,
        bounded=True,
        takes_filter=True,
        kind=kind,
    )


def counted(name: str, value: str | None) -> Partial:
    """How many rows have the value; how many rows there are, if there is none to look at.

    >>> counted("count", "{0}").lift, counted("count", None).row
    ('count({0})', '1')
    """
    lift, row = ("count(1)", "1") if value is None else (f"count({value})", one_if(value))
    return replace(merged_by("sum", name, lift, row, kind="bigint"), counts=value or "1")


def one_if(value: str) -> str:
    """How many values one row has: what count is over it."""
    return f"if({value} IS NOT NULL, 1, 0)"


def number_in(kind: str | None) -> str:
    """What to count as a number: with ANSI mode off, a cast makes text that is none a null.

    >>> number_in("string"), number_in("int")
    ('CAST({0} AS DOUBLE)', '{0}')
    """
    return "CAST({0} AS DOUBLE)" if kind == "string" else "{0}"

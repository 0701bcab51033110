"""From a list of aggregates to columns: inputs, shared partials and results.

Aggregates that need the same partial of the same input share one column: sum, avg and count of a
double need two columns together, not four. A filter becomes part of the input (null where it does
not hold), so filtered and plain aggregates run over the same slices. A function that is given
nulls too has one input more when it is filtered: true where the filter holds, else null.

    v0, v1, …   inputs: one for each distinct (argument, filter)
    p0, p1, …   partials: one for each distinct lift
    o           what records are sorted by where their order matters: time, then `order_by`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from muntin.aggregates.algebra import Aggregate, Function, Partial, Types, both_hold

ORDER = "o"
"""The column that records are sorted by where their order matters."""


@dataclass(frozen=True, slots=True)
class Input:
    """An argument as the user wrote it, and the filter under which it counts."""

    argument: str
    predicate: str | None


PartialColumn: TypeAlias = Partial
"""A partial whose texts have the names of inputs and of partial columns in their places."""


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A result: its name and its expression over merged partial columns.

    `in_duckdb` is that expression in DuckDB's own SQL, where `final` means something else there;
    `partial` is the merged column that is the result, where no more is to be computed.
    """

    name: str
    final: str
    in_duckdb: str | None = None
    partial: str | None = None


@dataclass(frozen=True, slots=True)
class Columns:
    """All columns that a list of aggregates needs."""

    inputs: tuple[Input, ...]
    partials: tuple[PartialColumn, ...]
    results: tuple[ResultColumn, ...]


def inputs_of(aggregate: Aggregate) -> tuple[Input, ...]:
    """The inputs of one aggregate; a filtered count(*) counts the rows where the filter holds."""
    arguments = aggregate.arguments
    if not arguments and aggregate.predicate:
        arguments = ("(1)",)  # not "1", which may be the name of a column
    if aggregate.function.sees_nulls and aggregate.predicate:
        arguments = (*arguments, "(TRUE)")
    filters = aggregate.filters or (None,) * len(arguments)
    return tuple(
        Input(argument, both_hold(own, aggregate.predicate))
        for argument, own in zip(arguments, filters, strict=True)
    )


def distinct_inputs(aggregates: Sequence[Aggregate]) -> tuple[Input, ...]:
    """Every input once, in the order of first use."""
    return tuple(dict.fromkeys(each for a in aggregates for each in inputs_of(a)))


def columns_of(
    aggregates: Sequence[Aggregate], type_of: Callable[[Input], str | None], prefix: str = ""
) -> Columns:
    """The columns for these aggregates, given the type of each input.

    Results read partial columns that have this prefix, where several merges stand side by side.

    >>> from muntin.aggregates import avg, count, sum
    >>> columns = columns_of([sum("x"), avg("x"), count("x")], lambda _: "double")
    >>> [(p.name, p.lift) for p in columns.partials]
    [('p0', 'sum(v0)'), ('p1', 'count(v0)')]
    >>> [r.final for r in columns.results]
    ['p0', 'CASE WHEN p1 > 0 THEN p0 / p1 END', 'p1']
    """
    inputs = distinct_inputs(aggregates)
    position = {each: f"v{i}" for i, each in enumerate(inputs)}
    named: dict[tuple[str, str, Function | None], str] = {}
    partials: dict[str, PartialColumn] = {}
    results: list[ResultColumn] = []
    for aggregate in aggregates:
        own = inputs_of(aggregate)
        types: Types = [type_of(each) for each in own]
        arguments = [position[each] for each in own]
        declared = aggregate.function.partials(types)
        lifts = {p.name: p.lift.format(*arguments) for p in declared}
        names = {}
        for p in declared:
            # By what it merges, not by what the function calls it: a ratio has names of its own.
            same = (lifts[p.name], p.merge.format(**lifts), p.code)
            names[p.name] = named.setdefault(same, f"p{len(named)}")
        for p in declared:
            partials.setdefault(names[p.name], p.fill(arguments, names, ORDER))
        merged = {name: prefix + column for name, column in names.items()}
        template = aggregate.function.final(types)
        alone = next((merged[name] for name in names if template == f"{{{name}}}"), None)
        final = template.format(**merged)
        in_duckdb = aggregate.function.final_in_duckdb(types)
        in_duckdb = in_duckdb and in_duckdb.format(**merged)
        alone = None if in_duckdb else alone
        results.append(ResultColumn(aggregate.name, final, in_duckdb, alone))
    return Columns(inputs, tuple(partials.values()), tuple(results))

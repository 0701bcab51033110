"""A sharing plan as one SQL statement: one common table expression for each node.

    records     the input under plain names: keys k0, k1, …, time t in microseconds, inputs v0, …
    one a node  its instances or slices, grouped from the rows of its parent: keys, start, partials
    results     the windows that were asked for, in one union; factor windows and slices stay hidden

This is the query rewriting of section 3.3 of the factor-windows paper, in plain SQL: MultiCast is a
table expression that several others read. Inside, no name of the user's appears; only the first and
the last SELECT have them, quoted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from muntin.aggregates.columns import Columns, Input, columns_of, inputs_of
from muntin.dialects.comments import in_words, plain
from muntin.dialects.duckdb_text import DuckdbWriter
from muntin.dialects.expressions import Kinds, kind_of, parse_argument, parse_condition
from muntin.dialects.programs import Parent, indent, select, select_group
from muntin.dialects.spark_text import SparkWriter
from muntin.dialects.writer import Writer
from muntin.errors import AggregateError, StrategyError, is_one_of, unknown
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.physical import FROM_SOURCE, PhysicalPlan
from muntin.physical.lowering import Suffix

WRITERS: dict[str, Writer] = {"spark": SparkWriter(), "duckdb": DuckdbWriter()}
"""Every dialect by the name that users write."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Where rows come from: the table, and the types of its columns as far as they are known.

    `types` are those of the inputs v0, v1, ….
    """

    query: Query
    writer: Writer
    table: str
    kinds: Kinds | None
    columns: Columns
    types: tuple[str | None, ...] = ()

    @property
    def time_kind(self) -> str | None:
        """The type of the time column."""
        return (self.kinds or {}).get(self.query.time)

    @property
    def keys(self) -> list[str]:
        """The plain names of the keys."""
        return [f"k{i}" for i, _ in enumerate(self.query.keys)]

    def head(self, id: str, start: str, until: str) -> list[str]:
        """The first columns of a result: the window's id and bounds, and the keys."""
        quoted, kind = self.writer.quoted, self.time_kind
        bounds = [self.writer.instant(each, kind) for each in (start, until)]
        keys = zip(self.keys, self.query.keys, strict=True)
        return [
            id,
            f"{self.writer.bounds(*bounds)} AS {quoted('window')}",
            *(f"{k} AS {quoted(name)}" for k, name in keys),
        ]


def render(
    plan: PhysicalPlan,
    query: Query,
    dialect: str,
    table: str,
    types: Mapping[str, str] | None = None,
) -> str:
    """The rewritten query. `types` are the Spark types of the table's columns, if known.

    With types, arguments that are names of columns are taken as such whatever their characters,
    and result types are Spark's to the letter: DuckDB's sum of a bigint is a wider integer.
    """
    return render_reading(plan, resolve(query, dialect, table, types))


def writer_named(dialect: str) -> Writer:
    """The writer of a dialect."""
    if not is_one_of(dialect, WRITERS):
        raise StrategyError(unknown("SQL dialect", dialect, WRITERS))
    return WRITERS[dialect]


def resolve(
    query: Query,
    dialect: str,
    table: str,
    types: Kinds | None,
    type_of: Callable[[Input], str | None] | None = None,
) -> Reading:
    """Resolve the query's expressions; `type_of` knows input types better than guessing does."""

    def guessed(each: Input) -> str | None:
        return kind_of(parse_argument(each.argument, types), types or {})

    writer, known = writer_named(dialect), type_of or guessed
    for aggregate in query.aggregates:
        function = aggregate.function
        if function.holistic or function.in_python:
            lacks = "is written in Python" if function.in_python else "has no partials"
            raise AggregateError(
                f"{aggregate.name} {lacks}, so a shared query cannot compute it: "
                "run the plan on Spark with plan.apply(df)"
            )
        wide = dialect == "spark" and function.unshared(list(map(known, inputs_of(aggregate))))
        if wide:  # Spark computes it directly over inputs of these types
            raise AggregateError(
                f"{aggregate.name} cannot be shared: it {wide}, or run the plan on Spark with "
                "plan.apply(df)"
            )
    columns = columns_of(query.aggregates, known)
    kinds = {f"v{i}": known(each) for i, each in enumerate(columns.inputs)}
    translated = writer.aggregates(columns, kinds)
    return Reading(query, writer, table, types, translated, tuple(kinds.values()))


def render_reading(plan: PhysicalPlan, read: Reading) -> str:
    """All table expressions, then the result."""
    names = names_of(plan, read.table)
    parts = table_expressions(plan, read, names)
    parts.append(f"results AS (\n{_union(plan, names, read)}\n)")
    return "WITH " + ",\n".join(parts) + "\n" + _result(read)


def table_expressions(plan: PhysicalPlan, read: Reading, names: Mapping[int, str]) -> list[str]:
    """One for the records and one for each node, under these names."""
    readers = Counter(node.parent for node in plan.nodes)
    readers.update(node.number for node in plan.outputs)
    feet = {n.number: n.program.foot for n in plan.nodes if isinstance(n.program, Suffix)}
    readers.update(feet.values())
    parts = [f"{names[FROM_SOURCE]} AS (\n{records_sql(read, '  ')}\n)"]
    for above, node in plan.edges():
        partials = [(p.name, p.lift if above is None else p.merge) for p in read.columns.partials]
        parent = Parent(names[node.parent], above)
        below = feet.get(node.number)
        foot = None if below is None else Parent(names[below], plan.nodes[below])
        body = select_group(node, parent, read.keys, partials, read.writer, foot)
        head = read.writer.cte(names[node.number], readers[node.number])
        parts.append(f"-- {in_words(plan.plan, node.id)}\n{head} (\n{indent(body)}\n)")
    return parts


def records_sql(read: Reading, margin: str = "", extra: Mapping[str, str] | None = None) -> str:
    """The input under plain names; rows without a time are dropped.

    `extra` are further columns or expressions of the user's, by plain name.
    """
    query, writer = read.query, read.writer
    time = writer.quoted(query.time)
    instant = writer.microseconds(time, read.time_kind)
    columns = [
        *(f"{writer.quoted(key)} AS k{i}" for i, key in enumerate(query.keys)),
        f"{instant} - {read.query.set_back} AS t" if read.query.set_back else f"{instant} AS t",
        *(f"{_input(each, read)} AS v{i}" for i, each in enumerate(read.columns.inputs)),
        *(
            f"{writer.expression(parse_argument(text, read.kinds))} AS {name}"
            for name, text in (extra or {}).items()
        ),
    ]
    conditions = [f"{time} IS NOT NULL"]
    if query.where is not None:
        conditions.append(f"({writer.expression(parse_condition(query.where, 'where'))})")
    source = _table(read.table, writer)
    where = " AND ".join(conditions)
    return f"{select(columns, margin)}\n{margin}FROM {source}\n{margin}WHERE {where}"


def _input(each: Input, read: Reading) -> str:
    value = read.writer.expression(parse_argument(each.argument, read.kinds))
    if each.predicate is None:
        return value
    holds = read.writer.expression(parse_condition(each.predicate, "filter"))
    return f"CASE WHEN {holds} THEN {value} END"


def _table(table: str, writer: Writer) -> str:
    """A name, or a path of names with dots between them; anything else is one name."""
    try:
        tree = sqlglot.parse_one(table, into=exp.Table, dialect=writer.name)
    except SqlglotError:
        return writer.quoted(table)
    names = (exp.Table, exp.Identifier)
    if any(not isinstance(node, names) or node.comments for node in tree.walk()):
        return writer.quoted(table)
    return ".".join(writer.quoted(part.name) for part in tree.parts)


def names_of(plan: PhysicalPlan, table: str) -> dict[int, str]:
    """A plain and unique name for every node: its number, and what is plain in its id."""
    names = {FROM_SOURCE: "records"}
    for node in plan.nodes:
        kind = "w" if isinstance(node.shape, Window) else "s"
        names[node.number] = f"{kind}{node.number + 1}_{plain(node.id)}".rstrip("_")
    while any(name.lower() == table.lower() for name in names.values()):
        names = {number: f"{name}_" for number, name in names.items()}
    return names


def _union(plan: PhysicalPlan, names: dict[int, str], read: Reading) -> str:
    selects = []
    for node in plan.outputs:
        assert isinstance(node.shape, Window), "slices are always hidden"
        label, name = read.writer.literal(node.id), names[node.number]
        columns = ", ".join([*read.keys, "start", *(p.name for p in read.columns.partials)])
        length = f"start + {node.shape.range} AS until"
        selects.append(f"  SELECT {label} AS window_id, {length}, {columns} FROM {name}")
    return "\n  UNION ALL\n".join(selects)


def _result(read: Reading) -> str:
    finals = [f"{r.final} AS {read.writer.quoted(r.name)}" for r in read.columns.results]
    return f"{select([*read.head('window_id', 'start', 'until'), *finals])}\nFROM results"

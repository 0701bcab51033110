"""A query over a table: its names found, its expressions tried, their types as DuckDB has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import Input, inputs_of
from muntin.aggregates.signatures import in_words, result_type
from muntin.dialects import Reading, resolve, writer_named
from muntin.dialects.expressions import Kinds, parse_argument, parse_condition
from muntin.engines.duckdb.faults import first_line, translate_errors, whole_query
from muntin.engines.duckdb.parts import CONDITIONS, NAMES, Part, parts_of
from muntin.engines.duckdb.tables import NAME, Source
from muntin.errors import ColumnError, MuntinError, QueryError, did_you_mean, shown
from muntin.model.query import Query

if TYPE_CHECKING:
    import duckdb

_TYPES = {
    **{"TINYINT": "tinyint", "SMALLINT": "smallint", "INTEGER": "int", "BIGINT": "bigint"},
    **{"UTINYINT": "smallint", "USMALLINT": "int", "UINTEGER": "bigint"},
    **{"FLOAT": "float", "DOUBLE": "double", "BOOLEAN": "boolean", "VARCHAR": "string"},
    **{"BLOB": "binary", "DATE": "date", "TIMESTAMP": "timestamp_ntz"},
    **{"TIMESTAMP_S": "timestamp_ntz", "TIMESTAMP_MS": "timestamp_ntz"},
    **{"TIMESTAMP_NS": "timestamp_ns", "TIMESTAMP WITH TIME ZONE": "timestamp"},
    **{"TIMESTAMPTZ_NS": "timestamp_tz_ns"},
}
"""DuckDB's types by the names that Spark has for them; nanoseconds have none."""

_AS_SPARK: dict[str, str] = {"timestamp_ns": "timestamp_ntz", "timestamp_tz_ns": "timestamp"}
_INSTANTS = ("timestamp", "timestamp_ntz", "timestamp_ns", "timestamp_tz_ns", "date")


def run(relation: duckdb.DuckDBPyRelation, text: str) -> duckdb.DuckDBPyRelation:
    """Our SQL over a relation; it is bound now, and computed when it is read."""
    result = relation.query(NAME, check_encodable(text))
    assert result is not None, "a SELECT gives a relation"
    return result


def check_encodable(text: str) -> str:
    """The text, if it can be written at all."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise QueryError(
            f"the query holds {text[error.start]!r}, half of a character, "
            "which text cannot contain: remove it"
        ) from None
    return text


def reading_of(source: Source, query: Query) -> Reading:
    """The query over this table, with every type that DuckDB knows."""
    if query not in source.readings:
        source.readings[query] = _read(source, query)
    return source.readings[query]


def _read(source: Source, query: Query) -> Reading:
    kinds = _columns(source.relation, query)
    trees = {part: _tree(part, kinds) for part in parts_of(query)}
    types = _types(source, trees)
    _check_conditions(source.relation, trees)

    def type_of(each: Input) -> str | None:
        kind = spark_type(types[Part("input", each.argument)])
        return _AS_SPARK.get(kind, kind) if kind else None

    for aggregate in query.aggregates:
        check_signature(aggregate, type_of)
    return resolve(query, "duckdb", NAME, kinds, type_of)


def find_stranger(source: Source, query: Query) -> str | None:
    """Why arrays cannot hold the keys or partials of this query, or None."""
    read = reading_of(source, query)
    for key in query.keys:
        if (read.kinds or {}).get(key) is None:
            return f"key {shown(key)} has a type that arrays do not have"
    for each, kind in zip(read.columns.inputs, read.types, strict=True):
        if kind is None:
            return f"{shown(each.argument)} has a type that arrays do not have"
    return None


def spark_type(name: str) -> str | None:
    """Spark's name of a type of DuckDB's, or None where Spark has no such type.

    >>> spark_type("INTEGER"), spark_type("DECIMAL(10,2)"), spark_type("HUGEINT")
    ('int', 'decimal(10,2)', None)
    """
    if name.startswith("DECIMAL("):
        return name.lower().replace(" ", "")
    return _TYPES.get(name)


def check_signature(aggregate: Aggregate, type_of: Callable[[Input], str | None]) -> None:
    """Refuse what Spark refuses: DuckDB's functions take more."""
    takes, inputs = aggregate.function.takes, inputs_of(aggregate)
    kind = type_of(inputs[0]) if inputs else None
    if takes and kind and result_type(takes, kind) is None:
        raise ColumnError(
            f"{aggregate.name} cannot be computed: {aggregate.function.name} takes "
            f"{in_words(takes)}, and it is given {kind}"
        )


def _columns(relation: duckdb.DuckDBPyRelation, query: Query) -> dict[str, str | None]:
    """The types of the columns; names that the query spells in another case are added."""
    types = dict(zip(map(str, relation.columns), map(str, relation.types), strict=True))
    kinds = {name: spark_type(kind) for name, kind in types.items()}
    same = {name.lower(): name for name in types}
    for part in parts_of(query):
        if part.what in NAMES:
            kinds.setdefault(part.text, kinds[same[part.text.lower()]])
    if kinds[query.time] not in _INSTANTS:
        raise ColumnError(_no_instant(query.time, types[same[query.time.lower()]]))
    return kinds


def _no_instant(name: str, kind: str) -> str:
    """What to say of a time column of another type; a csv file read by pandas has text there.

    >>> print(_no_instant("at", "VARCHAR"))
    time column 'at' is VARCHAR, not a timestamp: convert it first, for instance with \
pandas.to_datetime(table['at'], format='%d/%m/%Y %H:%M'), or in DuckDB with strptime
    """
    is_text = kind == "VARCHAR"
    how = "format='%d/%m/%Y %H:%M'" if is_text else "unit='s'"
    return (
        f"time column {name!r} is {kind}, not a timestamp: convert it first, for instance with "
        f"pandas.to_datetime(table[{name!r}], {how}), or in DuckDB with "
        f"{'strptime' if is_text else 'to_timestamp'}"
    )


def _types(source: Source, trees: Mapping[Part, exp.Expr]) -> dict[Part, str]:
    """DuckDB's types of these parts; the first that it refuses is named."""
    written = {part: _written(tree) for part, tree in trees.items()}

    def tried(some: Sequence[Part]) -> list[str]:
        # WHERE takes nothing but what has one value for each row: no aggregates, no unnesting.
        columns = ", ".join(f"{written[part]} AS c{i}" for i, part in enumerate(some))
        valued = " OR ".join(f"({written[part]}) IS NULL" for part in some)
        text = f"SELECT {columns} FROM {NAME} WHERE {valued}"
        return [str(kind) for kind in run(source.relation, text).types]

    def to_blame(error: Exception) -> MuntinError:
        for part in trees:
            with translate_errors(partial(_refusal, part, trees[part], source)):
                tried([part])
        return whole_query(error)

    with translate_errors(to_blame):
        return dict(zip(trees, tried(list(trees)), strict=True))


def _check_conditions(relation: duckdb.DuckDBPyRelation, trees: Mapping[Part, exp.Expr]) -> None:
    """Refuse numbers and texts where a truth is meant, as Spark does: DuckDB would convert them."""
    truths = [(part, each) for part, tree in trees.items() for each in _truths(part, tree)]
    if not truths:
        return
    columns = ", ".join(f"{_written(each)} AS c{i}" for i, (_, each) in enumerate(truths))
    kinds = map(str, run(relation, f"SELECT {columns} FROM {NAME}").types)
    for (part, each), kind in zip(truths, kinds, strict=True):
        if kind not in ("BOOLEAN", '"NULL"'):
            it = "it" if each is trees[part] else shown(each.sql("spark"))
            raise part.fails(f"{it} is {kind}, and a condition must be BOOLEAN")


def _truths(part: Part, tree: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions that must be true or false: a condition, and what AND, NOT or CASE judges."""
    if part.what in CONDITIONS:
        yield tree
    for node in tree.find_all(exp.And, exp.Or, exp.Not, exp.If):
        chosen = isinstance(node.parent, exp.Case) and node.parent.this  # CASE x WHEN value …
        if not chosen and not node.find_ancestor(exp.Lambda):
            yield node.this
            yield from [node.expression] if isinstance(node, exp.Connector) else []


def _written(tree: exp.Expr) -> str:
    return writer_named("duckdb").expression(tree)


def _tree(part: Part, kinds: Kinds) -> exp.Expr:
    if part.what in NAMES:
        return exp.column(part.text, quoted=True)
    return (
        parse_condition(part.text, part.what)
        if part.what in CONDITIONS
        else parse_argument(part.text, kinds)
    )


def _refusal(part: Part, tree: exp.Expr, source: Source, error: Exception) -> MuntinError:
    if tree.find(exp.AggFunc, exp.Window):
        return part.fails("it is computed for each row, so it cannot hold an aggregate itself")
    known = {name.lower() for name in source.names}
    for column in tree.find_all(exp.Column):
        if column.name.lower() not in known and not column.table:
            hint = did_you_mean(column.name, source.names)
            return part.fails(f"{first_line(error)} ({shown(column.name)} is not a column: {hint})")
    return part.fails(first_line(error))

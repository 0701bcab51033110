"""An ASA query as one of ours: which input, which column is the time, keys, windows, aggregates.

    SELECT    keys, aggregates, System.Window().Id, System.Timestamp()
    FROM      one input TIMESTAMP BY a column
    WHERE     any condition
    GROUP BY  keys, and Windows(…) or one window

The result has the columns of every long result: `window_id` is System.Window().Id, `window.end` is
System.Timestamp(). What cannot be shared over periodic windows is refused where it stands.

ASA's aggregates are ours, and every function of ours can be called by its own name. Arguments and
conditions are T-SQL and become Spark SQL, the language of all expressions in a query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from muntin.aggregates import ALIASES, FUNCTIONS, Aggregate, aggregate_named
from muntin.dialects.asa import Asa, PeriodicWindow, TimestampBy, WindowList
from muntin.dialects.faults import SqlError, from_parser, from_tokenizer, too_deep
from muntin.errors import AggregateError, MuntinError, QueryError, did_you_mean
from muntin.model.query import Query
from muntin.model.windows import Window

T = TypeVar("T")

_NAMES: dict[str, str] = {
    **{alias.upper(): name for alias, name in ALIASES.items()},
    "STDEV": "stddev_samp",
    "STDEVP": "stddev_pop",
    "VAR": "var_samp",
    "VARP": "var_pop",
    "VARIANCE_POP": "var_pop",
    "LOGICAL_AND": "bool_and",
    "LOGICAL_OR": "bool_or",
    "APPROX_DISTINCT": "approx_count_distinct",
    "ARG_MIN": "min_by",
    "ARG_MAX": "max_by",
    "COUNT_BIG": "count",
    "BITWISE_AND_AGG": "bit_and",
    "BITWISE_OR_AGG": "bit_or",
    "BITWISE_XOR_AGG": "bit_xor",
}
"""Names of functions, as ASA or sqlglot has them, where ours differ."""

_UNSUPPORTED = {
    "joins": ("JOIN", "join first and name the result in FROM"),
    "having": ("HAVING", "filter the result instead"),
    "order": ("ORDER BY", "order the result instead"),
    "limit": ("TOP or LIMIT", "take it from the result instead"),
    "distinct": ("DISTINCT", "leave it out: every row of the result is distinct"),
    "with_": ("WITH", "name the input itself in FROM"),
    "qualify": ("QUALIFY", "filter the result instead"),
    "laterals": ("APPLY", "unnest first and name the result in FROM"),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A parsed query and the name of its input."""

    query: Query
    table: str

    def input_of(self, tables: Mapping[str, T]) -> T:
        """The input among tables given by name; case may differ, as in ASA."""
        if self.table in tables:
            return tables[self.table]
        for name, table in tables.items():
            if name.lower() == self.table.lower():
                return table
        hint = did_you_mean(self.table, tables) if tables else f"pass {self.table}=..."
        raise QueryError(f"the query reads {self.table!r}, which is not given: {hint}")


def parse_sql(text: str) -> Query:
    """The query that a text in ASA's dialect asks for.

    >>> q = parse_sql('''SELECT device, COUNT(*) AS n FROM events TIMESTAMP BY ts
    ...                  GROUP BY device, HoppingWindow(minute, 10, 5)''')
    >>> q.keys, [w.id for w in q.windows], q.aggregates
    (('device',), ['10 minutes/5 minutes'], (<n>,))
    """
    return parse_statement(text).query


def parse_statement(text: str) -> Statement:
    """The query and its input."""
    if not isinstance(text, str):
        raise QueryError(f"a query is a text in ASA's dialect, not a {type(text).__name__}")
    try:
        return _Reader(text).statement()
    except RecursionError:
        raise too_deep(text) from None


class _Reader:
    """Reads one statement; keeps its text, so that errors can point into it."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            trees = sqlglot.parse(text, read=Asa)
        except ParseError as error:
            raise from_parser(text, error) from None
        except TokenError as error:
            raise from_tokenizer(text, error) from None
        found = [tree for tree in trees if tree is not None]
        if len(found) != 1 or not isinstance(found[0], exp.Select):
            raise SqlError(text, 0, "one SELECT is expected", "give one SELECT … FROM … GROUP BY …")
        self.select = found[0]

    def fault(self, node: exp.Expr, problem: str, hint: str) -> SqlError:
        """An error at the first word of a node."""
        starts = [n.meta["start"] for n in node.walk() if "start" in n.meta]
        return SqlError(self.text, min(starts, default=0), problem, hint)

    def statement(self) -> Statement:
        """Read clause by clause, in the order of the text."""
        for clause, (name, hint) in _UNSUPPORTED.items():
            node = self.select.args.get(clause)
            if node:
                first = node[0] if isinstance(node, list) else node
                raise self.fault(first, f"{name} is not part of a window query", hint)
        table, time = self._source()
        keys, windows = self._groups()
        aggregates = self._aggregates(keys)
        where = self.select.args.get("where")
        try:
            query = Query(
                time,
                tuple(keys),
                tuple(windows),
                tuple(aggregates),
                _spark_sql(where.this) if where else None,
            )
        except MuntinError as error:
            raise self.fault(self.select, str(error), "correct the query") from None
        return Statement(query, table)

    def _source(self) -> tuple[str, str]:
        source = self.select.args.get("from_")
        if source is None:
            raise self.fault(self.select, "FROM is missing", "add FROM input TIMESTAMP BY time")
        stamped = source.this
        if not isinstance(stamped, TimestampBy):
            raise self.fault(
                source,
                "the time of an event is not said",
                "add TIMESTAMP BY and the time column after the input",
            )
        if not isinstance(stamped.this, exp.Table):
            raise self.fault(source, "FROM takes the name of one input", "write FROM input")
        return stamped.this.name, stamped.expression.name

    def _groups(self) -> tuple[list[str], list[Window]]:
        group = self.select.args.get("group")
        keys: list[str] = []
        windows: list[Window] = []
        for node in group.expressions if group else ():
            match node:
                case PeriodicWindow():
                    windows.append(node.args["window"])
                case WindowList():
                    windows += [each.args["window"] for each in node.expressions]
                case exp.Column():
                    keys.append(node.name)
                case _:
                    raise self.fault(
                        node,
                        f"GROUP BY {node.sql(Asa)} is no column and no window",
                        "compute it in a column of the input first",
                    )
        if not windows:
            raise self.fault(
                self.select,
                "GROUP BY has no window",
                "add Windows(Window('10 min', TumblingWindow(minute, 10)), …) to GROUP BY",
            )
        return keys, windows

    def _aggregates(self, keys: list[str]) -> list[Aggregate]:
        found = []
        for node in self.select.expressions:
            inner, name = (node.this, node.alias) if isinstance(node, exp.Alias) else (node, "")
            if _is_system(inner) or self._is_key(inner, name, keys):
                continue
            if not _is_aggregate(inner):
                raise self._not_an_aggregate(inner)
            aggregate = self._aggregate(inner)
            found.append(aggregate.alias(name) if name else aggregate)
        return found

    def _aggregate(self, node: exp.Expr) -> Aggregate:
        """The aggregate that a call stands for."""
        if isinstance(node, exp.Filter):
            return self._aggregate(node.this).filter(_spark_sql(node.expression.this))
        name, arguments = _called_name(node), _arguments(node)
        if arguments and isinstance(arguments[0], exp.Distinct):
            name, arguments = f"{name}_distinct", arguments[0].expressions
        if name not in FUNCTIONS:
            raise self._unknown(node, name)
        if any(each.find(exp.AggFunc) for each in arguments):
            problem = "an aggregate of an aggregate has no meaning here"
            raise self.fault(node, problem, "take the inner away")
        try:
            return aggregate_named(name, *map(_spark_sql, arguments))
        except AggregateError as error:
            raise self.fault(node, str(error), f"see mt.{name}") from None

    def _unknown(self, node: exp.Expr, name: str | None) -> SqlError:
        return self.fault(node, f"unknown aggregate {name!r}", did_you_mean(name, FUNCTIONS))

    def _is_key(self, node: exp.Expr, alias: str, keys: list[str]) -> bool:
        if not isinstance(node, exp.Column):
            return False
        if node.name.lower() not in (key.lower() for key in keys):
            raise self.fault(
                node,
                f"{node.name!r} is neither a key nor an aggregate",
                "add it to GROUP BY, or take MIN or MAX of it",
            )
        if alias and alias != node.name:
            raise self.fault(node, f"key {node.name!r} keeps its name", "rename it in the result")
        return True

    def _not_an_aggregate(self, node: exp.Expr) -> SqlError:
        if any(_is_aggregate(each) for each in node.walk() if each is not node):
            return self.fault(
                node,
                f"{node.sql(Asa)} computes with aggregates",
                "select each aggregate under a name and compute with the result",
            )
        if isinstance(node, exp.Star):
            return self.fault(node, "* has no meaning here", "select keys and aggregates by name")
        name = _called_name(node)
        if name is not None:
            return self._unknown(node, name)
        hint = "select keys, aggregates, System.Window().Id or System.Timestamp()"
        return self.fault(node, f"{node.sql(Asa)} is no aggregate and no key", hint)


def _is_system(node: exp.Expr) -> bool:
    """System.Window().Id and System.Timestamp(), with or without parentheses."""
    return node.sql(Asa, comments=False).lower().replace("()", "") in (
        "system.window.id",
        "system.timestamp",
    )


def _called_name(node: exp.Expr) -> str | None:
    """The name of the function that a node calls, as we call it; None if it is no call."""
    if isinstance(node, exp.Anonymous):
        written = str(node.this).upper()
    elif isinstance(node, exp.Func) and not isinstance(node, (exp.Cast, exp.Case, exp.If)):
        written = node.sql_name().upper()
    else:
        return None
    return _NAMES.get(written, written.lower())


def _is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is a call of one of our aggregates, filtered or not."""
    inner = node.this if isinstance(node, exp.Filter) else node
    return isinstance(inner, exp.AggFunc) or _called_name(inner) in FUNCTIONS


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    given = [value for value in node.args.values() if isinstance(value, exp.Expr)]
    return [*given, *(v for value in node.args.values() if isinstance(value, list) for v in value)]


def _spark_sql(node: exp.Expr) -> str:
    """A T-SQL expression as Spark SQL; a table's name before a column's is left out.

    A name written in brackets or quotes stays quoted, since it may be no plain word.
    """
    plain = node.copy()
    for column in plain.find_all(exp.Column):
        column.set("table", None)
        column.set("db", None)
    return plain.sql("spark", comments=False)

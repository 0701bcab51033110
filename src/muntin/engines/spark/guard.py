"""The guard: a null column in the state's key, whose type says what the state belongs to.

Spark compares the types of a checkpoint's state with those of the query that is started on it, and
nothing else: other windows, or a sum of another column, would go on with state that is not theirs.
So a struct of decimals, always null, is made part of the key. The precisions and scales of the
decimals are a fingerprint of the query and of its set of windows; another one is refused by Spark
with STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE, and the names of the fields, which Spark prints and does
not compare, say what to do. A null struct costs eight bytes a state row, whatever is in it.

Spark compares nothing if it is told not to; then the guard would be blind, and no query is started.
"""

from __future__ import annotations

from hashlib import blake2b

from pyspark.sql import SparkSession

from muntin.aggregates import Aggregate
from muntin.errors import StrategyError
from muntin.model.query import Query
from muntin.model.windows import Window

ADVICE = "the_query_or_its_windows_changed_use_a_new_checkpoint_or_started_with"
FIELDS = 5
"""779 kinds of decimal each: a change goes unnoticed once in 2 · 10¹⁴."""

LAYOUT = 1
"""Which columns the state has, and which seat a window: to be raised when that changes."""

COMPARED = "spark.sql.streaming.stateStore.stateSchemaCheck"

KINDS = [(p, s) for p in range(1, 39) for s in range(p + 1)]


def guard(query: Query, windows: tuple[Window, ...]) -> str:
    """SQL for the guard of a query that was started with these windows, in any order.

    >>> from muntin import count, query, tumbling
    >>> hour, day = tumbling("1 hour"), tumbling("1 day")
    >>> q = query("ts", [hour, day], [count()])
    >>> guard(q, (hour, day)) == guard(q, (day, hour)), guard(q, (hour,)) == guard(q, (hour, day))
    (True, False)
    """
    return f"CAST(NULL AS STRUCT<{_fields(fingerprint(query, windows))}>)"


def guarded_zero(meaning: object, column: str) -> str:
    """SQL for a guard that equals itself, as the key of a join must: zeros instead of nulls.

    Spark folds constants before it plans the join, so the zeros come from a column.
    """
    zeros = ", ".join(
        f"'{name}', CAST(pmod(hash({column}), 1) AS {kind})"
        for name, kind in _named_decimals(_number(repr((LAYOUT, meaning))))
    )
    return f"named_struct({zeros})"


def check_guarded(spark: SparkSession) -> None:
    """Refuse a session in which Spark does not compare the types of the state."""
    if str(spark.conf.get(COMPARED, "true")).lower() == "false":
        raise StrategyError(
            f"{COMPARED} is false: a restart with other windows would go on with state that is not "
            "theirs, and nothing would say so; set it to true, or use operator 'bucketed'"
        )


def fingerprint(query: Query, windows: tuple[Window, ...]) -> int:
    """A number for what the state of a query means: its rows, keys, aggregates and windows."""
    text = repr(
        (
            LAYOUT,
            (query.time, query.keys, query.where, query.bounds),
            [_meaning(a) for a in query.aggregates],
            sorted((w.range, w.slide, w.offset) for w in windows),
        )
    )
    return _number(text)


def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "big")


def _meaning(aggregate: Aggregate) -> tuple[object, ...]:
    function = aggregate.function
    parameters = [str(p) for p in function.parameters]
    return (function.name, parameters, aggregate.arguments, aggregate.predicate, aggregate.filters)


def _fields(number: int) -> str:
    return ", ".join(f"{name}: {kind}" for name, kind in _named_decimals(number))


def _named_decimals(number: int) -> list[tuple[str, str]]:
    """The fields of a guard and their types; the first name is what Spark's refusal shows."""
    return [
        (ADVICE if i == 0 else f"guard_{i}", f"DECIMAL({p}, {s})")
        for i, (p, s) in enumerate(_decimals(number))
    ]


def _decimals(number: int) -> list[tuple[int, int]]:
    """The number's last digits to the base of how many kinds there are."""
    found = []
    for _ in range(FIELDS):
        number, place = divmod(number, len(KINDS))
        found.append(KINDS[place])
    return found

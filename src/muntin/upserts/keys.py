"""Which columns tell the rows of a result apart: what an upsert replaces rows by.

Results of mt.aggregate carry the answer: their key columns are marked, and the mark survives
select, alias and where. Any other result needs `key=`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.errors import SinkError, did_you_mean, shown
from muntin.upserts.columns import END, START, WINDOW, Column


def check_key(key: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """The names that a user gave as the key, or None if they gave none.

    >>> check_key("card"), check_key(["card", "window"]), check_key(None)
    (('card',), ('card', 'window'), None)
    """
    if key is None:
        return None
    names = (key,) if isinstance(key, str) else tuple(key)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise SinkError(f"key is {shown(key)}: name the columns that tell rows apart, key=['card']")
    for name in names:
        if names.count(name) > 1:
            raise SinkError(f"key names {shown(name)} twice: name each column once")
    return names


def find_key(columns: Sequence[Column], given: tuple[str, ...] | None) -> tuple[str, ...]:
    """The names of the key columns, from what was given or from the marks.

    >>> device = Column("device", "string", ("device",), marked=True)
    >>> find_key([device, Column("n", "bigint", ("n",))], None)
    ('device',)
    """
    names = [column.name for column in columns]
    if given is None:
        return _marked(columns)
    key: list[str] = []
    for name in given:
        bounds = name == WINDOW and WINDOW not in names and {START, END} <= set(names)
        key += [START, END] if bounds else [name]
    for name in key:
        if name not in names:
            raise SinkError(
                f"key {shown(name)} is not a column of the result: {did_you_mean(name, names)}"
            )
    return tuple(dict.fromkeys(key))


def _marked(columns: Sequence[Column]) -> tuple[str, ...]:
    key = tuple(column.name for column in columns if column.marked)
    if not key:
        raise SinkError(
            "nothing says which columns tell these rows apart: name them, key=['card', 'ts']. "
            "Only results of mt.aggregate and of plans know their key"
        )
    if "window_id" in key and END not in key:
        raise SinkError(
            "the result has a window_id and no column `window` any more: keep `window` as "
            "mt.aggregate names it, or name the key, key=['window_id', ...]"
        )
    return key

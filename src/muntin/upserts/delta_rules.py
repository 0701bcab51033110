"""What a result and its Delta table must be, whoever writes it: types, columns, keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from muntin.errors import SinkError, shortened
from muntin.upserts.columns import Column

ATTEMPTS = 5
"""How often a MERGE is tried while others write into the same table."""

_REFUSED = re.compile(r"\b(interval|void)\b")


def check_types(columns: Iterable[Column]) -> None:
    """Refuse intervals and columns without a type.

    >>> check_types([Column("n", "array<int>", ("n",))])
    """
    for column in columns:
        if _REFUSED.search(column.kind):
            raise SinkError(
                f"column {shortened(column.name)!r} is {shortened(column.kind)}, which Delta has "
                "no type for: cast it, for example to a number or to a string"
            )


def check_shape(there: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Refuse a table whose columns differ from the result's, and say which.

    >>> check_shape({"k": "string", "n": "long"}, {"n": "long", "k": "string"})
    """
    wrong = [
        f"{shortened(name)!r} is {there[name]} and not {kind}"
        if name in there
        else f"{shortened(name)!r} ({kind}) is missing"
        for name, kind in wanted.items()
        if there.get(name) != kind
    ]
    wrong += [f"{shortened(name)!r} is not in the result" for name in there if name not in wanted]
    if wrong:
        raise SinkError(
            f"the Delta table has another shape than the result: column {'; '.join(wrong)}. "
            "Write into another folder, or change this table"
        )


def refuse_twins(rows: int, keys: int, key: Iterable[str]) -> None:
    """Refuse more rows than distinct keys: which row should a key have?

    >>> refuse_twins(5, 5, ["k"])
    """
    if keys < rows:
        raise SinkError(
            f"{rows - keys} rows of the result have the key of another row: the key "
            f"({', '.join(map(shortened, key))}) must tell all rows apart, so name more columns "
            "in key="
        )

"""Which types a function takes, and which type it gives of each: Spark's own, said once.

A signature has a result for each kind of input that is taken; another kind is refused. It is what
the docs show, and a test holds every one of them to what Spark itself takes and gives. Of several
arguments it speaks of the first.

    SAME                the type of the input
    decimal(p+10,s)     made from the digits of the input, at most 38 of them
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Signature = Mapping[str, str]

KINDS = {
    "whole numbers": r"tinyint|smallint|int|bigint",
    "floats": r"float|double",
    "decimals": r"decimal\b.*",
    "text": r"string.*",
    "dates": r"date",
    "timestamps": r"timestamp",
    "timestamps without a zone": r"timestamp_ntz",
    "booleans": r"boolean",
    "bytes": r"binary",
    "months": r"interval (year|month)\b.*",
    "intervals": r"interval (day|hour|minute|second)\b.*",
    "arrays": r"array<.*",
    "structs": r"struct<.*",
    "maps": r"map<.*",
    "variants": r"variant",
}
"""The kinds of types, as patterns of Spark's names for them."""

SAME = "the same"


def of_kinds(result: str, *kinds: str) -> Signature:
    """The signature of one result for all of these kinds."""
    return dict.fromkeys(kinds, result)


_DIGITS = re.compile(r"decimal\((\d+),(\d+)\)")
NUMBERS = ("whole numbers", "floats", "decimals")
ORDERED = tuple(kind for kind in KINDS if kind not in ("maps", "variants"))

NUMERIC = of_kinds("double", *NUMBERS, "text")
BITS = of_kinds(SAME, "whole numbers")
INTERVALS: Signature = {"months": "interval year to month", "intervals": "interval day to second"}
TRUE_OR_FALSE = of_kinds("boolean", "booleans", "text")
SELECTED = of_kinds(SAME, *ORDERED)
COUNTED = of_kinds("bigint", *KINDS)

_UNORDERED = re.compile(r"map<|variant|interval(?! )")
"""Also the intervals that make_interval gives, which Spark calls plainly so."""


def has_no_order(type_name: str) -> bool:
    """Whether Spark cannot sort by values of this type: it is, or holds, one without an order.

    >>> [has_no_order(t) for t in ("array<map<int,int>>", "interval", "interval year", "string")]
    [True, True, False, False]
    """
    return _UNORDERED.search(type_name) is not None


def result_type(signature: Signature, type_name: str) -> str | None:
    """The type that comes of an input of this type, or None where it is refused.

    >>> signature = {"decimals": "decimal(p+10,s)", "text": "double", "dates": "array<the same>"}
    >>> [result_type(signature, t) for t in ("decimal(30,4)", "string", "date", "binary")]
    ['decimal(38,4)', 'double', 'array<date>', None]
    """
    kind = next((k for k, names in KINDS.items() if re.fullmatch(names, type_name)), "")
    result = signature.get(kind)
    digits = _DIGITS.fullmatch(type_name)
    if result is None or not digits:
        return result and result.replace(SAME, type_name)
    precision, scale = map(int, digits.groups())
    made = {"p+10": precision + 10, "p+4": precision + 4, "s+4": scale + 4, "s": scale}
    for word, number in made.items():
        result = re.sub(rf"(?<=[(,]){re.escape(word)}(?=[,)])", str(min(number, 38)), result)
    return result.replace(SAME, type_name)


def in_words(signature: Signature) -> str:
    """A signature for readers: kinds that give the same result together.

    >>> in_words({**NUMERIC, "dates": SAME}), in_words(SELECTED)
    ('numbers, text → double; dates → the same', 'all but maps, variants → the same')
    """
    results: dict[str, list[str]] = {}
    for kind, result in signature.items():
        results.setdefault(result, []).append(kind)
    words = {result: result.replace(f"array<{SAME}>", f"array of {SAME}") for result in results}
    return "; ".join(f"{_together(kinds)} → {words[result]}" for result, kinds in results.items())


def _together(kinds: list[str]) -> str:
    others = [kind for kind in KINDS if kind not in kinds]
    if len(others) <= 2:
        return f"all but {', '.join(others)}" if others else "all"
    if set(NUMBERS) <= set(kinds):
        kinds = ["numbers", *(kind for kind in kinds if kind not in NUMBERS)]
    return ", ".join(kinds)

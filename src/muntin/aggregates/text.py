"""Aggregates as people write them: name(arguments) [FILTER (WHERE condition)] [AS alias]."""

from __future__ import annotations

import re

from muntin.aggregates.algebra import Aggregate, aggregate_named
from muntin.aggregates.ratio import ratio
from muntin.errors import AggregateError, shown

_CALL = re.compile(
    r"\s*(?P<name>\w+)\s*(?:\((?P<body>.*?)\)\s*)?"
    r"(?:filter\s*\(\s*where\s(?P<condition>.*)\)\s*)?(?:\bas\s+(?P<alias>\w+)\s*)?",
    re.IGNORECASE | re.DOTALL,
)


def parse_aggregate(text: str) -> Aggregate:
    """The aggregate that a text stands for.

    >>> parse_aggregate("avg(price * volume) as mean").name, parse_aggregate("count(*)").name
    ('mean', 'count')
    >>> parse_aggregate("count(t) filter (where t > (1 + 2)) as hot").predicate
    't > (1 + 2)'
    >>> parse_aggregate("ratio(sum(price * volume), sum(volume)) as vwap").name
    'vwap'
    """
    match = _CALL.fullmatch(text) if isinstance(text, str) else None
    if not match:
        raise AggregateError(f"aggregate {shown(text)} cannot be read: write for instance 'min(t)'")
    name, arguments = match["name"].lower(), _arguments(match["body"] or "")
    if name == "ratio" and len(arguments) == 2:
        aggregate = ratio(*map(parse_aggregate, arguments))
    else:
        aggregate = aggregate_named(name, *arguments)
    if match["condition"]:
        aggregate = aggregate.filter(match["condition"].strip())
    return aggregate.alias(match["alias"]) if match["alias"] else aggregate


def _arguments(body: str) -> list[str]:
    """Split at the commas that stand in no parentheses and no quotes; count(*) has none."""
    parts, depth, quote = [""], 0, ""
    for letter in body:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"`":
            quote = letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += letter
    return [part.strip() for part in parts if part.strip() not in ("", "*")]

"""Aggregates as people write them: name(arguments) [FILTER (WHERE condition)] [AS alias].

The command line, jobs and SQL call functions by their names, too.
"""

from __future__ import annotations

import re
from dataclasses import replace

from muntin.aggregates.algebra import FUNCTIONS, Aggregate, Function, make
from muntin.aggregates.ratio import ratio
from muntin.errors import AggregateError, did_you_mean, shown

ALIASES = {
    "mean": "avg",
    "std": "stddev_samp",
    "stddev": "stddev_samp",
    "variance": "var_samp",
}
"""Other names of functions, as Spark has them."""

_CALL = re.compile(
    r"\s*(?P<name>\w+)\s*(?:\((?P<body>.*?)\)\s*)?"
    r"(?:filter\s*\(\s*where\s(?P<condition>.*)\)\s*)?(?:\bas\s+(?P<alias>\w+)\s*)?",
    re.IGNORECASE | re.DOTALL,
)


def function_named(name: str) -> Function:
    """The function of that name, or an error with the closest known one."""
    name = ALIASES.get(name, name)
    if name not in FUNCTIONS:
        known = {**FUNCTIONS, **ALIASES}
        raise AggregateError(f"unknown aggregate {shown(name)}: {did_you_mean(name, known)}")
    return FUNCTIONS[name]()


def aggregate_named(name: str, *arguments: str) -> Aggregate:
    """An aggregate by the name of its function, as the command line and SQL have it.

    >>> aggregate_named("min", "t")
    <min(t)>
    """
    function = function_named(name)
    if name in ALIASES:
        return replace(aggregate_named(ALIASES[name], *arguments), written=name)
    if name == "count" and arguments in ((), ("*",), ("1",)):
        return Aggregate(function, ())
    if function.variadic and arguments:
        return make(FUNCTIONS[name].over(len(arguments)), *arguments)
    most = function.arity + len(function.defaults)
    if function.arity < len(arguments) <= most:
        parameters = [_number(name, text) for text in arguments[function.arity :]]
        return make(FUNCTIONS[name](*parameters), *arguments[: function.arity])
    if len(arguments) != function.arity:
        plural = "" if function.arity == 1 else "s"
        raise AggregateError(
            f"{name} takes {function.arity} argument{plural}, {len(arguments)} given: "
            f"{name}({', '.join(arguments)})"
        )
    return make(function, *arguments)


def _number(name: str, text: str) -> int | float:
    try:
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise AggregateError(f"{name}: parameter {shown(text)} is not a number") from None


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

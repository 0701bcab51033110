"""The lift of one record as a plain expression: an aggregate over a single row, without grouping.

Windows that the data decides need records in order, so there is nothing to group by before; each
aggregate function in a lift is replaced by what it gives for one row, and the whole is cast to the
type that the lift has, so that Spark's rules on types hold.
"""

from __future__ import annotations

import re

_FIRST = ("sum", "min", "max", "avg", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor")
_SPREAD = "(({0}) - ({0}))"  # nothing, or NaN for an infinity

OF_ONE_ROW: dict[str, str] = {
    **dict.fromkeys(_FIRST, "({0})"),
    **dict.fromkeys(("var_pop", "skewness", "kurtosis"), _SPREAD),
    "count": "CAST(({0}) IS NOT NULL AS BIGINT)",
    "count_if": "CAST(coalesce({0}, false) AS BIGINT)",
    **dict.fromkeys(("min_by", "max_by"), "if(({1}) IS NULL, NULL, ({0}))"),
    "collect_list": "filter(array({0}), e -> e IS NOT NULL)",
    "regr_count": "CAST(({0}) IS NOT NULL AND ({1}) IS NOT NULL AS BIGINT)",
    "regr_avgx": "if(({0}) IS NULL, NULL, ({1}))",
    "regr_avgy": "if(({1}) IS NULL, NULL, ({0}))",
    "regr_sxx": "if(({0}) IS NULL, NULL, ({1}) - ({1}))",
    "regr_syy": "if(({1}) IS NULL, NULL, ({0}) - ({0}))",
    "regr_sxy": "((({0}) - ({0})) * (({1}) - ({1})))",
}
"""What each aggregate function of our lifts gives for one row."""

_CALL = re.compile(rf"\b({'|'.join(sorted(OF_ONE_ROW, key=len, reverse=True))})\(")


def record_lift(lift: str, kind: str) -> str:
    """SQL for the lift of one record, of the type that the lift has.

    >>> record_lift("sum(v0)", "bigint")
    'CAST((v0) AS bigint)'
    >>> record_lift("coalesce(avg(CAST(v0 AS DOUBLE)), 0D)", "double")
    'CAST(coalesce((CAST(v0 AS DOUBLE)), 0D) AS double)'
    """
    return f"CAST({_replaced(lift)} AS {kind})"


def _replaced(text: str) -> str:
    found = _CALL.search(text)
    if not found:
        return text
    end = _closing(text, found.end())
    arguments = _arguments(text[found.end() : end])
    one = OF_ONE_ROW[found[1]].format(*arguments)
    return text[: found.start()] + one + _replaced(text[end + 1 :])


def _closing(text: str, begin: int) -> int:
    """Where the parenthesis that was opened before `begin` closes."""
    depth = 1
    for i in range(begin, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if not depth:
            return i
    raise ValueError(f"no closing parenthesis in {text!r}")


def _arguments(text: str) -> list[str]:
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]

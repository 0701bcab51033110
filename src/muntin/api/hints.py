"""What to say of names that `muntin` does not have: what exists instead, or what is near."""

from __future__ import annotations

from collections.abc import Iterable

from muntin.errors import MuntinError, closest

_HINTS = {
    "first first_value": "mt.min_by('v', 'ts') is the value of the earliest row",
    "last last_value": "mt.max_by('v', 'ts') is the value of the latest row",
    "nunique n_unique countDistinct": (
        "use mt.count_distinct('v'), or mt.approx_count_distinct('v')"
    ),
    "quantile": "use mt.percentile('v', 0.95), or mt.approx_percentile('v', 0.95)",
    "percentile_approx": "use mt.approx_percentile('v', 0.95)",
    "mode": "mt.collect_set('v') has the values, mt.custom can count them",
    "collect_list array_agg": "use mt.collect_set('v'), or mt.custom",
    "var": "use mt.var_samp('v') or mt.var_pop('v')",
    "skew": "use mt.skewness('v')",
    "kurt": "use mt.kurtosis('v')",
    "cov": "use mt.covar_samp('a', 'b') or mt.covar_pop('a', 'b')",
    "prod": "use mt.product('v')",
    "any some": "use mt.bool_or('v')",
    "all every": "use mt.bool_and('v')",
    "len size": "use mt.count()",
    "rolling sliding slide": "use mt.hopping('1 hour', '5 minutes'): an hour, every five minutes",
    "hop": "use mt.hopping('1 hour', '5 minutes')",
    "tumble resample": "use mt.tumbling('10 minutes')",
    "window": "use mt.tumbling('10 minutes') or mt.hopping('1 hour', '5 minutes')",
    "session_window": "use mt.session('30 minutes')",
    "groupby group_by": "mt.aggregate(df, keys=['device'], ...) groups by keys",
    "agg": "use mt.aggregate(df, ...)",
    "col": "name columns as text: mt.sum('price * volume')",
    "expr": "write SQL as text: mt.sum('price * volume')",
}
ELSEWHERE = {name: hint for names, hint in _HINTS.items() for name in names.split()}
"""Names of other libraries, and what Muntin has for them."""


class MissingNameError(MuntinError, AttributeError):
    """A name that Muntin does not have."""


def missing_name(name: str, known: Iterable[str]) -> MissingNameError:
    """The error for a name that is not among those known.

    >>> print(missing_name("tumblin", ["hopping", "tumbling"]))
    muntin has no 'tumblin': did you mean 'tumbling'?
    """
    near = closest(name, known)
    otherwise = f"did you mean {near!r}?" if near else "dir(muntin) lists what there is"
    return MissingNameError(f"muntin has no {name!r}: {ELSEWHERE.get(name, otherwise)}")

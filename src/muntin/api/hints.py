"""What to say of names that `muntin` does not have: what exists instead, or what is near."""

from __future__ import annotations

from collections.abc import Iterable

from muntin.errors import MuntinError, closest

ELSEWHERE = {
    "first": "mt.min_by('v', 'ts') is the value of the earliest row",
    "last": "mt.max_by('v', 'ts') is the value of the latest row",
    "first_value": "mt.min_by('v', 'ts') is the value of the earliest row",
    "last_value": "mt.max_by('v', 'ts') is the value of the latest row",
    "nunique": "use mt.count_distinct('v'), or mt.approx_count_distinct('v')",
    "countDistinct": "use mt.count_distinct('v'), or mt.approx_count_distinct('v')",
    "n_unique": "use mt.count_distinct('v'), or mt.approx_count_distinct('v')",
    "quantile": "use mt.percentile('v', 0.95), or mt.approx_percentile('v', 0.95)",
    "percentile_approx": "use mt.approx_percentile('v', 0.95)",
    "mode": "mt.collect_set('v') has the values, mt.custom can count them",
    "collect_list": "use mt.collect_set('v'), or mt.custom",
    "array_agg": "use mt.collect_set('v'), or mt.custom",
    "var": "use mt.var_samp('v') or mt.var_pop('v')",
    "skew": "use mt.skewness('v')",
    "kurt": "use mt.kurtosis('v')",
    "cov": "use mt.covar_samp('a', 'b') or mt.covar_pop('a', 'b')",
    "prod": "use mt.product('v')",
    "any": "use mt.bool_or('v')",
    "some": "use mt.bool_or('v')",
    "all": "use mt.bool_and('v')",
    "every": "use mt.bool_and('v')",
    "len": "use mt.count()",
    "size": "use mt.count()",
    "rolling": "use mt.hopping('1 hour', '5 minutes'): an hour, every five minutes",
    "sliding": "use mt.hopping('1 hour', '5 minutes'): an hour, every five minutes",
    "slide": "use mt.hopping('1 hour', '5 minutes'): an hour, every five minutes",
    "hop": "use mt.hopping('1 hour', '5 minutes')",
    "tumble": "use mt.tumbling('10 minutes')",
    "window": "use mt.tumbling('10 minutes') or mt.hopping('1 hour', '5 minutes')",
    "session_window": "use mt.session('30 minutes')",
    "resample": "use mt.tumbling('10 minutes')",
    "groupby": "mt.aggregate(df, keys=['device'], ...) groups by keys",
    "group_by": "mt.aggregate(df, keys=['device'], ...) groups by keys",
    "agg": "use mt.aggregate(df, ...)",
    "col": "name columns as text: mt.sum('price * volume')",
    "expr": "write SQL as text: mt.sum('price * volume')",
}
"""Names of other libraries, and what Muntin has for them."""


class MissingNameError(MuntinError, AttributeError):
    """A name that Muntin does not have."""


def missing(name: str, known: Iterable[str]) -> MissingNameError:
    """The error for a name that is not among those known.

    >>> print(missing("tumblin", ["hopping", "tumbling"]))
    muntin has no 'tumblin': did you mean 'tumbling'?
    """
    near = closest(name, known)
    otherwise = f"did you mean {near!r}?" if near else "dir(muntin) lists what there is"
    return MissingNameError(f"muntin has no {name!r}: {ELSEWHERE.get(name, otherwise)}")

"""approx_count_distinct and approx_percentile: mergeable sketches, right within their error.

    approx_count_distinct   HyperLogLog (Apache DataSketches) with 2¹² buckets by default: a
                            standard error of 1.04/√4096 = 1.6 %, exact for a few hundred values
    approx_percentile       KLL (Karnin, Lang and Liberty, 2016) with k = 200 by default: a rank
                            error of 1.3 %, exact up to some two hundred values; NaN is passed over

A union of HyperLogLog sketches is idempotent, so pieces may overlap; KLL counts every value, so its
pieces must be disjoint. KLL sketches can be merged from Spark 4.1.2; before, a percentile is
computed directly. In process both are exact: the set of values, or all of them.
"""

from __future__ import annotations

from numbers import Integral

from muntin.aggregates.algebra import Aggregate, Keeper, Partial, Types, Value, make
from muntin.aggregates.holistic import Percentile
from muntin.aggregates.sets import CountDistinct
from muntin.aggregates.signatures import COUNTED, NUMBERS, SAME, of_kinds
from muntin.errors import AggregateError, shown

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
_MICROS = f"timestampdiff(MICROSECOND, {_EPOCH}, {{}})"
_LENGTH = "make_dt_interval(0, 0, 0, CAST(CAST({q} AS DECIMAL(20, 0)) / 1000000 AS DECIMAL(18, 6)))"
_TIMES = {
    "timestamp": ("unix_micros({0})", "timestamp_micros({q})"),
    "timestamp_ntz": (_MICROS.format("{0}"), f"{_EPOCH} + {_LENGTH}"),
    "date": ("CAST(unix_date({0}) AS BIGINT)", "date_from_unix_date(CAST({q} AS INT))"),
}
_INTERVALS = {
    "year": (
        "CAST(CAST({0} AS INTERVAL MONTH) AS BIGINT)",
        "make_ym_interval(0, CAST({q} AS INT))",
    ),
    "day": (_MICROS.format(f"{_EPOCH} + {{0}}"), _LENGTH),
}


class ApproxCountDistinct(CountDistinct):
    name = "approx_count_distinct"
    approximate = True
    variadic = False
    defaults = (12,)
    takes = COUNTED
    error = "1.6 %: one standard error, 1.04/√4096"

    def __init__(self, *parameters: Value) -> None:
        super().__init__(*parameters)
        if not _whole(self.parameters[0], range(4, 22)):
            raise AggregateError(
                f"{self.name}: {shown(self.parameters[0])} must be log₂ of the number of buckets, "
                "a whole number from 4 to 21"
            )

    def partials(self, types: Types) -> tuple[Partial, ...]:
        value, lg_k = _hashable(types[0]), self.parameters[0]
        lift = f"hll_sketch_agg({value}, {lg_k})"
        hashed = f"CASE WHEN {{0}} IS NOT NULL THEN xxhash64({value}) END"
        keeper = Keeper("distinct_sketch", hashed, (int(lg_k),))
        return (_sketch(lift, "hll_union_agg({sketch}, true)", "distinct values", keeper),)

    def final(self, types: Types) -> str:
        return "hll_sketch_estimate({sketch})"

    def native(self) -> str:
        return "approx_count_distinct({0})"


def _sketch(lift: str, merge: str, of: str, keeper: Keeper) -> Partial:
    return Partial(
        "sketch",
        lift,
        merge,
        bounded=True,
        keeper=keeper,
        takes_filter=True,
        not_in_duckdb=f"DuckDB has no mergeable sketch of {of}",
    )


def _whole(given: object, allowed: range) -> bool:
    """Whether it is a whole number among these: 12.0 is not, since Spark's functions refuse it."""
    return isinstance(given, Integral) and given in allowed


def _hashable(kind: str | None) -> str:
    """What the sketch takes (whole numbers, text, bytes), distinct where the values are."""
    if kind in (*_WHOLE, "binary") or (kind and kind.startswith("string")):
        return "{0}" if kind not in ("tinyint", "smallint") else "CAST({0} AS INT)"
    if kind in ("double", "float"):
        return "CAST(CAST({0} AS DOUBLE) + 0D AS STRING)"  # -0.0 counts as 0.0
    if kind in _TIMES:
        return _TIMES[kind][0]
    return "CAST({0} AS STRING)"


class ApproxPercentile(Percentile):
    name = "approx_percentile"
    in_frames = "nearest"
    holistic = False
    approximate = True
    since = (4, 1, 2)
    defaults = (0.5, 200)
    takes = of_kinds(
        SAME, *NUMBERS, "dates", "timestamps", "timestamps without a zone", "months", "intervals"
    )
    error = "1.3 % of the rank"

    def __init__(self, *parameters: Value) -> None:
        super().__init__(*parameters)
        if not _whole(self.parameters[1], range(8, 65_536)):
            raise AggregateError(
                f"{self.name}: accuracy {shown(self.parameters[1])} must be a whole number from 8 "
                "to 65535"
            )

    def partials(self, types: Types) -> tuple[Partial, ...]:
        family, value, _ = _sketched(types[0])
        lift = f"kll_sketch_agg_{family}({value}, {self.parameters[1]})"
        keeper = Keeper("quantile_sketch", value, (family, int(self.parameters[1])))
        return (_sketch(lift, f"kll_merge_agg_{family}({{sketch}})", "quantiles", keeper),)

    def final(self, types: Types) -> str:
        family, _, back = _sketched(types[0])
        quantile = f"kll_sketch_get_quantile_{family}({{sketch}}, {float(self.share)!r}D)"
        known = f"kll_sketch_get_n_{family}({{sketch}}) > 0"
        return f"CASE WHEN {known} THEN {back.replace('{q}', quantile)} END"


def _sketched(kind: str | None) -> tuple[str, str, str]:
    """The sketch for a type, the value that it takes, and the way back to the type."""
    if kind in _WHOLE or kind is None:
        return "bigint", "CAST({0} AS BIGINT)", f"CAST({{q}} AS {kind or 'bigint'})"
    if kind in _TIMES:
        return "bigint", *_TIMES[kind]
    if kind.startswith("interval "):
        family = "year" if kind.split()[1] in ("year", "month") else "day"
        value, back = _INTERVALS[family]
        return "bigint", value, f"CAST({back} AS {kind})"
    if kind in ("float", "double"):
        return kind, "{0}", "{q}"
    if kind.startswith("decimal"):
        return "double", "CAST({0} AS DOUBLE)", f"CAST({{q}} AS {kind})"
    raise AggregateError(
        f"approx_percentile of {kind} cannot be computed: give it a number, a date, a timestamp "
        "or an interval"
    )


def approx_count_distinct(value: str, log_buckets: int = 12) -> Aggregate:
    """About how many distinct values there are: within 1.6 % (one standard error) by default.

    `value` is a column or an SQL expression of any type. The sketch has 2 to the power of
    `log_buckets` buckets, from 4 to 21: each one more halves its variance.

    >>> approx_count_distinct("visitor")
    <approx_count_distinct(visitor)>
    """
    return make(ApproxCountDistinct(log_buckets), value)


def approx_percentile(value: str, p: float = 0.5, accuracy: int = 200) -> Aggregate:
    """About the value below which a share p lies: within 1.3 % of the rank by default.

    `value` is a column or an SQL expression of numbers, dates, timestamps or intervals, and `p`
    a share from 0 to 1. A larger `accuracy`, from 8 to 65,535, makes a larger sketch that errs
    less. It needs Spark 4.1.2 or newer; older ones compute each window by itself.

    >>> approx_percentile("latency", 0.99)
    <approx_percentile(latency, 0.99, 200)>
    """
    return make(ApproxPercentile(p, accuracy), value)

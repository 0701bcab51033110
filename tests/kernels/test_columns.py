"""Partial columns as arrays: merging them equals folding the Python declaration, for all types."""

import math
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.aggregates import FUNCTIONS, custom
from muntin.aggregates.algebra import Partial
from muntin.kernels.columns import ENCODERS, encode
from muntin.kernels.mergers import MERGERS, not_merged
from muntin_testing.monoids import same
from muntin_testing.reached import fewer

NAN, INF = math.nan, math.inf
FLOATS = st.none() | st.sampled_from([NAN, INF, -INF, 0.0, -1.5, 2.5, 1e16])
TYPED: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "bigint": (pa.int64(), st.none() | st.integers(-9, 9)),
    "int": (pa.int32(), st.none() | st.integers(-9, 9)),
    "double": (pa.float64(), FLOATS),
    "float": (pa.float32(), FLOATS),
    "boolean": (pa.bool_(), st.none() | st.booleans()),
    "string": (pa.string(), st.none() | st.sampled_from(["", "a", "b", "é", "ab"])),
    "binary": (pa.binary(), st.none() | st.sampled_from([b"", b"a", b"\xff"])),
    "decimal": (pa.decimal128(20, 2), st.none() | st.decimals(-99, 99, places=2)),
    "date": (pa.date32(), st.none() | st.dates(date(1960, 1, 1), date(2030, 1, 1))),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        st.none()
        | st.datetimes(datetime(1960, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
    ),
}
SERVES = {
    "min": list(TYPED),
    "max": list(TYPED),
    "sum": ["bigint", "double", "decimal"],
    "bool_and": ["boolean"],
    "bool_or": ["boolean"],
    "bit_and": ["bigint", "int"],
    "bit_or": ["bigint", "int"],
    "bit_xor": ["bigint", "int"],
    "product": ["double"],
}
CENTRAL = {"moments", "four_moments", "comoments"}
CASES = [(merger, kind) for merger, kinds in SERVES.items() for kind in kinds]


def merged(merger: str, columns: list[pa.Array]) -> Any:
    """All rows of a column merged into one by prefix scan."""
    encoded = encode(merger, columns)
    rows = encoded.monoid.prefixes(tuple(a[None, :] for a in encoded.arrays))
    [result] = encoded.decode(tuple(a[0, -1:] for a in rows)).to_pylist()
    return result


def test_every_way_of_merging_that_the_kernel_has_is_tested() -> None:
    assert set(SERVES) | {"min_by", "max_by", "lost", *CENTRAL} == set(ENCODERS)


@pytest.mark.parametrize(("merger", "kind"), CASES)
@fewer
@given(data=st.data())
def test_merging_equals_folding_in_python(merger: str, kind: str, data: st.DataObject) -> None:
    arrow_type, values = TYPED[kind]
    column = pa.array(data.draw(st.lists(values, min_size=1, max_size=12)), arrow_type)
    function = FUNCTIONS[merger]()
    given_values = column.to_pylist()
    partial = reduce(function.combine, map(function.lift, given_values), function.identity)
    assert same(merged(merger, [column]), function.lower(partial))


@pytest.mark.parametrize("name", ["min_by", "max_by"])
@given(
    rows=st.lists(st.tuples(st.none() | st.text("ab", max_size=2), FLOATS), min_size=1, max_size=9)
)
def test_the_row_of_the_best_order_is_found_and_the_older_one_among_ties(
    name: str, rows: Any
) -> None:
    function = FUNCTIONS[name]()
    value, order = (
        pa.array([r[0] for r in rows], pa.string()),
        pa.array([r[1] for r in rows], pa.float64()),
    )
    partial = reduce(function.combine, map(function.lift, rows), function.identity)
    assert merged(name, [value, order]) == function.lower(partial)


@given(st.lists(st.floats(-1, 1).map(lambda v: 1e9 + v), min_size=1, max_size=30))
def test_moments_stay_right_for_large_values(values: list[float]) -> None:
    rows = [{"n": 1.0, "mean": v, "m2": 0.0} for v in values]
    kind = pa.struct([("n", pa.float64()), ("mean", pa.float64()), ("m2", pa.float64())])
    found = merged("moments", [pa.array(rows, kind)])
    exact = [Decimal(v) for v in values]
    mean = sum(exact, Decimal(0)) / len(exact)
    spread = float(sum((v - mean) ** 2 for v in exact))
    assert found["n"] == len(values)
    assert math.isclose(found["m2"], spread, rel_tol=1e-6, abs_tol=1e-6)


@pytest.mark.parametrize(
    ("merger", "name", "fields"),
    [("four_moments", "kurtosis", "n mean m2 m3 m4"), ("comoments", "corr", "n x y xx yy xy")],
)
@given(data=st.data())
def test_central_moments_merge_as_in_python(
    merger: str, name: str, fields: str, data: st.DataObject
) -> None:
    function, kind = FUNCTIONS[name](), pa.struct([(f, pa.float64()) for f in fields.split()])
    values = FLOATS if function.arity == 1 else st.tuples(FLOATS, FLOATS)
    rows = [function.lift(v) for v in data.draw(st.lists(values, min_size=1, max_size=9))]
    column = pa.array([dict(zip(fields.split(), map(float, r), strict=True)) for r in rows], kind)
    expected = function.lower(reduce(function.combine, rows, function.identity))
    assert same(function.lower(tuple(merged(merger, [column]).values())), expected)


def test_an_aggregate_in_python_lifts_records_and_keeps_partials_of_any_kind() -> None:
    words = custom("words", lambda w: (w,), lambda a, b: a + b, len, (), result="bigint")
    kind = pa.struct([("records", pa.list_(pa.string())), ("result", pa.int64())])
    rows = [{"records": r, "result": None} for r in (["a", "b"], [], ["c"])]
    encoded = encode("custom", [pa.array(rows, kind)], code=words)
    scanned = encoded.monoid.prefixes(tuple(a[None, :] for a in encoded.arrays))
    assert encoded.decode(tuple(a[0] for a in scanned)).field("result").to_pylist() == [2, 2, 3]


def test_sums_beyond_64_bits_are_an_error_or_wrap_as_spark_has_it() -> None:
    column = pa.array([2**62, 2**62, -5], pa.int64())
    with pytest.raises(OverflowError, match="exceeds bigint"):
        merged("sum", [pa.array([2**62, 2**62], pa.int64())])
    wrapped = encode("sum", [column], wraps=True)
    total = wrapped.monoid.prefixes(tuple(a[None, :] for a in wrapped.arrays))[0][0, -1]
    assert total == np.int64(-(2**63) - 5 + 2**64)


def test_a_sum_that_leaves_64_bits_on_the_way_and_comes_back_is_right() -> None:
    assert merged("sum", [pa.array([2**62, 2**62, -(2**62)], pa.int64())]) == 2**62


@given(st.lists(st.none() | st.decimals(-(10**35), 10**35, places=2), min_size=1, max_size=9))
def test_decimals_of_128_bits_add_exactly(values: list[Decimal | None]) -> None:
    expected = [v for v in values if v is not None]
    found = merged("sum", [pa.array(values, pa.decimal128(38, 2))])
    with localcontext(prec=60):  # Python's own would round the judge
        assert found == (sum(expected) if expected else None)


@pytest.mark.parametrize(
    ("totals", "flags", "lost"),
    [
        ([6, 6, 1], [False] * 3, True),
        ([None, 1], [True, False], True),
        ([None, 1], [False, False], False),
        ([6, -6, 6], [False] * 3, False),
    ],
)
def test_a_sum_of_decimals_is_lost_with_a_piece_or_with_all_together(
    totals: list[int | None], flags: list[bool], lost: bool
) -> None:
    digits = [None if t is None else Decimal(t).scaleb(37) for t in totals]
    columns = [pa.array(flags, pa.bool_()), pa.array(digits, pa.decimal128(38, 0))]
    assert merged("lost", columns) is lost


def test_a_slice_of_a_larger_buffer_is_read_from_its_own_offset() -> None:
    whole = pa.array([Decimal("9.99"), Decimal("1.25"), Decimal("2.50")], pa.decimal128(10, 2))
    assert merged("sum", [whole[1:]]) == Decimal("3.75")


def test_mergers_name_what_the_kernel_cannot_do() -> None:
    assert set(ENCODERS) | {"custom"} == MERGERS
    assert not_merged(["sum", "min"]) is None
    assert not_merged(["sum", "weave"]) == "weave"
    assert not_merged([""]) == "an aggregate without array form"


def test_every_declared_merger_is_served_or_empty() -> None:
    for function in FUNCTIONS.values():
        partials: tuple[Partial, ...] = function().partials(["double"] * function.arity)
        for partial in partials:
            assert partial.merger in {*ENCODERS, ""}, f"{function.name}: {partial}"

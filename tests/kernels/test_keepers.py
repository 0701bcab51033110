"""What state keeps of sets, sketches and users' partials: in any split it merges to the same."""

import math
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import reduce
from itertools import pairwise
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.aggregates import FUNCTIONS
from muntin.aggregates.algebra import Partial
from muntin.errors import AggregateError
from muntin.kernels.distinct_sketches import DistinctSketch
from muntin.kernels.keepers import KEEPERS, encode_kept, lift_kept
from muntin.kernels.mergers import not_merged
from muntin.kernels.plain_values import dump, load
from muntin.kernels.quantile_sketches import KINDS, QuantileSketch, Sketch

TRAIL = mt.custom("trail", lambda n: (n,), lambda a, b: a + b, str, (), result="string")


def partials_of_all() -> Iterable[Partial]:
    """Every partial of every function that has any, and of one of the user's."""
    for function in FUNCTIONS.values():
        if not function.holistic:
            yield from function().partials([None] * function.arity)
    yield from TRAIL.partials([None])


def test_every_partial_can_be_kept_and_every_keeper_is_declared() -> None:
    """So that a new aggregate without a form that arrays merge is not refused in silence."""
    declared = {p.keeper.name for p in partials_of_all() if p.keeper}
    assert declared == set(KEEPERS)
    for partial in partials_of_all():
        assert partial.keeper or (not not_merged([partial.merger]) and partial.row), partial


def merged(partial: Partial, column: pa.Array, splits: list[int]) -> Any:
    """The result of a column whose parts are merged, kept, and merged again."""
    parts = [column.slice(a, b - a) for a, b in pairwise([0, *splits, len(column)])]
    held: pa.Array | None = None
    for i, part in enumerate(parts):
        lifted = lift_kept(partial, part)
        both = lifted if held is None else pa.concat_arrays([held, lifted.cast(held.type)])
        if not len(both):
            continue
        encoded = encode_kept(partial, [both], wraps=False)
        whole = encoded.monoid.reduce(tuple(a[None, :] for a in encoded.arrays))
        last = i == len(parts) - 1
        held = encoded.decode(whole) if last or not encoded.keep else encoded.keep(whole)
    assert held is not None
    return held[0].as_py()


SOME: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), [None, "", "a", "b", "é"]),
    "floats": (pa.float64(), [None, math.nan, -math.nan, 0.0, -0.0, 1.5, math.inf]),
    "float": (pa.float32(), [None, math.nan, 0.0, -0.0, 1.5]),
    "decimals": (pa.decimal128(9, 2), [None, Decimal("1.50"), Decimal("-2.00")]),
    "times": (pa.timestamp("us", "UTC"), [None, datetime(1960, 1, 1), datetime(2030, 1, 1)]),
    "dates": (pa.date32(), [None, date(1960, 1, 1), date(2030, 1, 1)]),
    "truths": (pa.bool_(), [None, True, False]),
    "bytes": (pa.binary(), [None, b"", b"\xff"]),
}


@pytest.mark.parametrize("kind", SOME)
def test_a_set_has_every_value_once_however_it_was_split(kind: str) -> None:
    [partial] = mt.collect_set("v").function.partials([None])
    arrow, known = SOME[kind]
    for turn in range(30):
        random = Random(f"{kind}/{turn}")
        values = [random.choice(known) for _ in range(random.randrange(1, 12))]
        column = pa.array(values, arrow)
        splits = sorted(random.randrange(len(values) + 1) for _ in range(random.randrange(3)))
        plain = {
            repr(v + 0.0 if isinstance(v, float) else v) for v in column.drop_null().to_pylist()
        }
        assert sorted(map(repr, merged(partial, column, splits))) == sorted(plain)


def test_how_many_coupons_a_sketch_holds_is_what_datasketches_holds() -> None:
    assert [DistinctSketch(lg_k).most_coupons for lg_k in (4, 7, 8, 12, 21)] == [
        *(7, 7, 24, 384, 3 * 2**16)
    ]


@pytest.mark.parametrize("lg_k", [4, 8, 12])
@pytest.mark.parametrize("count", [1, 7, 8, 24, 25, 384, 385, 5_000])
def test_a_sketch_of_hashes_is_the_same_however_it_was_split(lg_k: int, count: int) -> None:
    random = Random(count)
    hashes = [random.randrange(-(2**63), 2**63) for _ in range(count)]
    column = pa.array([*hashes, *hashes[:9], None], pa.int64())
    [partial] = mt.approx_count_distinct("v", lg_k).function.partials([None])
    whole = merged(partial, column, [])
    assert merged(partial, column, [count // 3, count // 2]) == whole
    sketches = DistinctSketch(lg_k)
    held = sketches.read(whole)
    assert sketches.write(held) == whole
    exact = count <= sketches.most_coupons
    assert isinstance(held, frozenset) == exact
    if not isinstance(held, frozenset):
        ranks = [0] * 2**lg_k
        for hashed in (each % 2**64 for each in hashes):
            place = hashed % 2**lg_k
            ranks[place] = max(ranks[place], 39 - (hashed >> 26).bit_length())
        assert held.tolist() == ranks


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["random", "rising", "falling", "equal"])
def test_a_sketch_of_values_knows_ranks_within_its_error(kind: str, order: str) -> None:
    """Of many values, merged from many parts; the least, the largest and the count are exact."""
    random, many = Random(f"{kind}/{order}"), 20_000
    values = [float(random.randrange(10**6)) for _ in range(many)]
    values = {"rising": sorted(values), "falling": sorted(values)[::-1]}.get(order, values)
    values = [7.0] * many if order == "equal" else values
    plain = np.array(values, dtype=KINDS[kind])
    [partial] = mt.approx_percentile("v").function.partials([kind])
    column = pa.array([*plain.tolist(), None], pa.from_numpy_dtype(plain.dtype))
    sketches = QuantileSketch(kind, 200)
    written = merged(partial, column, list(range(0, many, 1_777)))
    held = sketches.read(written)
    assert sketches.write(held) == written
    assert not isinstance(held, tuple)
    assert (held.count, held.least, held.largest) == (many, plain.min(), plain.max())
    assert all((np.diff(level) >= 0).all() for level in held.levels[1:])
    assert sum(map(len, held.levels)) <= sketches.capacity(len(held.levels)) < 700
    weighted = [(v, 1 << h) for h, level in enumerate(held.levels) for v in level.tolist()]
    for value in np.quantile(plain, [0.01, 0.1, 0.5, 0.9, 0.99]):
        about = sum(weight for v, weight in weighted if v <= value) / many
        assert abs(about - np.count_nonzero(plain <= value) / many) < 0.02


@pytest.mark.parametrize(("older", "newer"), [((1_000, 1_201), (0, 201)), ((300, 0), (900, 300))])
def test_levels_are_in_order_where_sketches_merge_as_they_are(
    older: tuple[int, int], newer: tuple[int, int]
) -> None:
    """Spark looks for a rank in a level as if it were sorted."""
    sketches = QuantileSketch("bigint", 200)
    singles: list[list[Sketch]] = [
        [(value,) for value in range(begin, end, 1 if begin < end else -1)]
        for begin, end in (older, newer)
    ]
    sides: list[Sketch] = [reduce(sketches.combine, each) for each in singles]
    held = sketches.combine(*sides)
    assert not isinstance(held, tuple)
    above = [level for level in held.levels[1:] if len(level) > 1]
    assert above
    assert all((np.diff(level) >= 0).all() for level in above)


def test_an_instant_whose_zone_a_text_would_lose_is_refused() -> None:
    instant = datetime(2026, 10, 25, 2, 30, tzinfo=UTC)
    assert load(dump(instant)) == instant
    with pytest.raises(TypeError, match="use UTC"):
        dump(instant.astimezone(ZoneInfo("Europe/Berlin")))


def test_what_moves_up_a_level_is_as_good_as_random() -> None:
    """If it were always the first of two, the rank of the middle would be off by a fifth."""
    sketches, errors = QuantileSketch("bigint", 8), []
    for seed in range(8):
        values = np.random.default_rng(seed).permutation(4_000).tolist()
        singles: list[Sketch] = [(value,) for value in values]
        held = reduce(sketches.combine, singles)
        assert not isinstance(held, tuple)
        below = sum(int(np.count_nonzero(v < 2_000)) << h for h, v in enumerate(held.levels))
        errors.append(below / 4_000 - 0.5)
    assert abs(sum(errors) / len(errors)) < 0.05


def test_few_values_are_all_kept_and_nan_is_passed_over() -> None:
    [partial] = mt.approx_percentile("v").function.partials(["double"])
    values = [3.0, None, math.nan, -1.0, math.inf, *[0.5] * 190]
    written = merged(partial, pa.array(values, pa.float64()), [1, 2, 100])
    held = QuantileSketch("double", 200).read(written)
    assert isinstance(held, tuple)
    assert sorted(held) == sorted([3.0, -1.0, math.inf, *[0.5] * 190])


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.decimals(allow_nan=False)
    | st.dates()
    | st.datetimes()
    | st.timedeltas(),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.lists(inside, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers()), inside, max_size=3)
        | st.frozensets(st.integers() | st.text(), max_size=3)
        | st.sets(st.integers(), max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_plain_values_come_back_as_they_were(value: Any) -> None:
    found = load(dump(value))
    assert found == value
    assert repr(type(found)) == repr(type(value))


def test_numpy_comes_back_too_and_others_are_refused() -> None:
    for each in (np.array([[1.5, math.nan]]), np.float32(2.5), np.array(["a"]), np.int64(3)):
        found = load(dump(each))
        assert np.array_equal(found, each, equal_nan=each.dtype.kind == "f")
        assert found.dtype == each.dtype
    assert math.isnan(load(dump(math.nan)))
    for strange in (1j, object(), [timedelta, 1], np.array([object()]), {"a": {1j}}):
        with pytest.raises(TypeError, match=r"is of type|is an array of"):
            dump(strange)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9), st.data())
def test_a_users_partial_goes_on_from_its_text(values: list[int], data: st.DataObject) -> None:
    [partial] = TRAIL.partials([None])
    filled = Partial("p0", "", "", "custom", code=partial.code, keeper=partial.keeper)
    kind = pa.struct({"records": pa.list_(pa.int64()), "result": pa.string()})
    column = pa.array([{"records": [v], "result": None} for v in values], kind)
    splits = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=3)))
    assert merged(filled, column, splits) == {"records": [], "result": str(tuple(values))}


def test_a_partial_that_is_not_plain_names_the_function() -> None:
    pair = mt.custom("pair", complex, lambda a, b: a + b, abs, 0j)
    [partial] = pair.partials([None])
    kind = pa.struct({"records": pa.list_(pa.int64()), "result": pa.float64()})
    column = pa.array([{"records": [v], "result": None} for v in (1, 2)], kind)
    with pytest.raises(AggregateError, match=r"custom 'pair': .*is of type complex; let lift"):
        merged(partial, column, [1])

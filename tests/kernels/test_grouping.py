"""Grouping and merging in any order equals combining one by one."""

from functools import reduce
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from muntin.kernels.columns import encode
from muntin.kernels.grouping import Grouping, codes_of
from muntin.kernels.monoids import Scanned

NAN, INF = float("nan"), float("inf")


def merged(merger: str, values: pa.Array, groups: list[int], wraps: bool = False) -> list[object]:
    grouping = Grouping.of(np.array(groups))
    encoded = encode(merger, [values], wraps)
    found: list[object] = encoded.decode(
        grouping.merged(encoded.arrays, encoded.monoid)
    ).to_pylist()
    return found


def test_nan_is_the_largest_and_null_is_nothing() -> None:
    values = pa.array([1.0, NAN, None, 2.0, INF, None, None])
    groups = [0, 0, 0, 1, 1, 1, 2]
    low, high = merged("min", values, groups), merged("max", values, groups)
    assert low == [1.0, 2.0, None]
    assert repr(high) == "[nan, inf, None]"


def test_sums_beyond_64_bits_fail_or_wrap_as_asked() -> None:
    values = pa.array([2**62, 2**62, 2**62, -(2**62)])
    assert merged("sum", values, [0, 1, 1, 1]) == [2**62, 2**62]
    with pytest.raises(OverflowError, match="exceeds bigint"):
        merged("sum", values, [0, 0, 1, 1])
    assert merged("sum", values, [0, 0, 1, 1], wraps=True) == [-(2**63), 0]


@pytest.mark.parametrize("seed", range(20))
def test_a_combine_that_does_not_commute_sees_older_rows_first(seed: int) -> None:
    random = Random(seed)
    groups = np.array([random.randrange(6) for _ in range(random.randrange(1, 60))])
    words = np.array([chr(97 + random.randrange(26)) for _ in groups], dtype=object)
    joined = Scanned(lambda older, newer: (older[0] + newer[0],), ("",))
    [found] = Grouping.of(groups).merged((words,), joined)
    expected = [
        reduce(str.__add__, (w for w, g in zip(words, groups, strict=True) if g == group))
        for group in sorted(set(groups.tolist()))
    ]
    assert found.tolist() == expected


def test_codes_stay_distinct_where_their_product_would_not_fit() -> None:
    column = pa.array([i % 40_000 for i in range(80_000)])
    codes = codes_of([column] * 5, 80_000)
    assert len(np.unique(codes)) == 40_000


def test_no_rows_have_no_groups() -> None:
    empty = Grouping.of(np.array([], dtype=np.int64))
    assert empty.rows.tolist() == []
    assert merged("sum", pa.array([], pa.int64()), []) == []

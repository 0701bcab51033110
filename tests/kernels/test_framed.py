"""Frames over sorted events: every merger against recomputation, floats without cancellation."""

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from muntin.kernels.columns import encode
from muntin.kernels.framed import Framed, merge_frames
from muntin.kernels.framed_values import count_distinct, nearest, percentile
from muntin.kernels.frames import CARRIED, Line, find_frames
from muntin.kernels.ladder import Runs, combine_runs
from muntin.kernels.monoids import Scanned
from muntin.kernels.wavelet import Wavelet
from muntin.model.frames import lifetime, trailing
from muntin_testing.reached import Reached

runs = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=1, max_size=30)


def bounds(some: list[tuple[int, int]], length: int) -> tuple[Any, Any]:
    """Runs within so many values."""
    low = np.array([first % length for first, _ in some])
    return low, np.minimum(low + np.array([long for _, long in some]), length)


def test_a_ladder_keeps_the_order_of_what_it_combines() -> None:
    """Texts do not commute, and every length of the array cuts its last block elsewhere."""
    reached = Reached()
    concat = Scanned(lambda older, newer: (np.char.add(*map(str_of, (older, newer))),), ("",))

    @given(st.integers(1, 40), runs)
    def each(length: int, some: list[tuple[int, int]]) -> None:
        letters = [chr(65 + i) for i in range(length)]
        low, high = bounds(some, length)
        values = np.array(letters, dtype="U64")
        [(found,)] = combine_runs((values,), concat, [Runs.of(low, high)])
        assert found.tolist() == ["".join(letters[a:b]) for a, b in zip(low, high, strict=True)]
        reached["alone"] += bool((high - low == 1).any())
        reached["cut short"] += length & (length - 1) != 0

    each()
    reached.at_least(10, "alone", "cut short")


def test_a_ladder_of_many_blocks_keeps_the_order_too() -> None:
    """Maps x → a·x + b do not commute; their runs span no, some and hundreds of blocks between."""
    prime, length = 1_000_003, 20_000
    maps = Scanned(
        lambda f, g: (f[0] * g[0] % prime, (f[1] * g[0] + g[1]) % prime),
        (1, 0),
    )
    random = np.random.default_rng(3)
    a, b = random.integers(1, prime, length), random.integers(0, prime, length)
    low = np.concatenate((random.integers(0, length, 60), np.arange(0, length, 97)))
    long = np.concatenate((random.choice([1, 63, 64, 65, 4097, 9000], 60), low[60:] % 700 + 1))
    high = np.minimum(low + long, length)
    [found] = combine_runs((a, b), maps, [Runs.of(low, high)])
    for i, (first, stop) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        scale, shift = 1, 0
        for own, other in zip(a[first:stop].tolist(), b[first:stop].tolist(), strict=True):
            scale, shift = scale * own % prime, (shift * own + other) % prime
        assert (int(found[0][i]), int(found[1][i])) == (scale, shift)
    reached = Reached()
    apart = (high - 1 >> 6) - (low >> 6)
    for words, some in (("near", apart == 0), ("next", apart == 1), ("far", apart > 64)):
        reached[words] += int(some.sum())
    reached.at_least(10, "near", "next", "far")


def str_of(arrays: Any) -> Any:
    return arrays[0]


def test_floats_outside_a_frame_leave_no_trace() -> None:
    column = pa.array([float("nan"), 1e16, 1.0, 1.0, float("inf"), 2.0])
    frame = Framed(np.array([2, 0, 5, 1]), np.array([4, 2, 6, 4]))
    [found] = merge_frames(encode("sum", [column]), [frame], column.type)
    assert found.to_pylist()[0] == 2.0
    assert found.to_pylist()[2] == 2.0
    assert np.isnan(found.to_pylist()[1])


def test_an_empty_frame_is_null_whatever_the_encoding() -> None:
    frame = Framed(np.array([0, 1]), np.array([0, 2]))
    for merger, column in (
        ("sum", pa.array([1, 2])),
        ("max", pa.array(["a", "b"])),
        ("bool_and", pa.array([True, False])),
        ("sum", pa.array([2**62, 2**62])),
    ):
        [found] = merge_frames(encode(merger, [column]), [frame], column.type)
        assert found.to_pylist() == [None, column.to_pylist()[1]]
    none = pa.array([], pa.int64())
    empty = Framed(np.zeros(1, dtype=int), np.zeros(1, dtype=int))
    assert merge_frames(encode("sum", [none]), [empty], none.type)[0].to_pylist() == [None]


def test_what_is_carried_counts_for_a_lifetime_alone() -> None:
    events = Line(np.zeros(3, dtype=int), np.array([CARRIED, 10, 20]))
    rows = Line(np.zeros(1, dtype=int), np.array([30]))
    frames = [lifetime(), trailing("1 second"), trailing(rows=5)]
    found = find_frames(events, rows, frames, "left")
    assert [int((high - low)[0]) for low, high in found] == [3, 2, 2]


def test_groups_and_times_that_do_not_fit_one_number() -> None:
    far = 2**55
    events = Line(np.array([0, 0, 900]), np.array([-far, far, far]))
    [(low, high)] = find_frames(events, events, [lifetime()], "right")
    assert (high - low).tolist() == [1, 2, 1]


@given(st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=1, max_size=40), runs)
def test_values_of_frames_are_those_of_lists(
    values: list[int | None], some: list[tuple[int, int]]
) -> None:
    low, high = bounds(some, len(values))
    frame, column = Framed(low, high), pa.array(values, pa.int64())
    held = [[v for v in values[a:b] if v is not None] for a, b in zip(low, high, strict=True)]
    [distinct] = count_distinct([column], 0.0, [frame])
    assert distinct.to_pylist() == [len(set(each)) for each in held]
    [middle] = percentile([column], 0.5, [frame])
    wanted = [float(np.median(each)) if each else None for each in held]
    assert middle.to_pylist() == wanted
    [most] = nearest([column], 1.0, [frame])
    assert most.to_pylist() == [max(each) if each else None for each in held]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), runs, st.integers(0, 20))
def test_ranks_of_runs(numbers: list[int], some: list[tuple[int, int]], bound: int) -> None:
    low, high = bounds(some, len(numbers))
    tree = Wavelet.of(np.array(numbers), 9)
    below = tree.count_below(low, high, np.full(len(low), bound))
    lists = [sorted(numbers[a:b]) for a, b in zip(low, high, strict=True)]
    assert below.tolist() == [sum(n < bound for n in each) for each in lists]
    place = (high - low) // 2
    found = tree.smallest(low, high, place)
    assert found.tolist() == [each[p] for each, p in zip(lists, place, strict=True)]

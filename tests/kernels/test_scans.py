"""Instances and their partials over sparse sorted slices, against brute force."""

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muntin.kernels.instances import instances, runs
from muntin.kernels.monoids import Array, Arrays, Monoid, Scanned, Ufuncs
from muntin.kernels.scans import Scans
from muntin.model.windows import Window

Slices = list[tuple[int, int]]

SLICES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(-40, 40)), min_size=1, max_size=60, unique=True
).map(sorted)


@st.composite
def small_windows(draw: st.DrawFn) -> Window:
    length = draw(st.integers(1, 30))
    slide = draw(st.integers(1, length))
    return Window(length, slide, draw(st.integers(0, slide - 1)))


def brute_force(slices: Slices, window: Window) -> list[tuple[int, int, list[int]]]:
    """(group, start, positions of its slices) of every instance that is not empty, in order."""
    found: dict[tuple[int, int], list[int]] = {}
    for position, (group, start) in enumerate(slices):
        for begin in window.instances_of(start):
            found.setdefault((group, begin), []).append(position)
    return [(group, begin, found[group, begin]) for group, begin in sorted(found)]


@given(SLICES, small_windows(), st.integers(1, 50))
def test_instances_come_once_in_order_with_their_first_and_last_slice(
    slices: Slices, window: Window, portion: int
) -> None:
    group, start = (np.array(column) for column in zip(*slices, strict=True))
    parts = list(instances(group, start, window, portion))
    assert all(len(part.start) <= portion for part in parts)
    found = [
        (int(group[first]), int(begin), int(first), int(last))
        for part in parts
        for begin, first, last in zip(part.start, part.first, part.last, strict=True)
    ]
    expected = [(g, b, inside[0], inside[-1]) for g, b, inside in brute_force(slices, window)]
    assert found == expected


@given(SLICES, small_windows(), st.sampled_from([2, 3, 1000]))
def test_runs_are_neighbours_that_hold_the_same_slices(
    slices: Slices, window: Window, longest: int
) -> None:
    group, start = (np.array(column) for column in zip(*slices, strict=True))
    found = runs(group, start, window, longest=longest)
    assert found.times is not None
    expected = brute_force(slices, window)
    told = [
        (int(group[first]), int(begin) + turn * window.slide, int(first), int(last))
        for begin, first, last, times in zip(
            found.start, found.first, found.last, found.times, strict=True
        )
        for turn in range(times)
    ]
    assert told == [(g, b, inside[0], inside[-1]) for g, b, inside in expected]
    same = [a[0] == b[0] and a[2] == b[2] for a, b in pairwise(expected)]
    apart = [b[1] - a[1] > window.slide for a, b in pairwise(expected)]
    new = sum(gap or not equal for equal, gap in zip(same, apart, strict=True))
    assert found.times.max() <= longest
    if longest >= len(expected):
        assert len(found.times) == 1 + new, "no run is cut in two"


def evaluated(
    group: Array, start: Array, values: Array, window: Window, monoid: Monoid
) -> list[Any]:
    """The answer for every instance, in order."""
    scans = Scans.of(group, start, window, ((values,),), (monoid,))
    return [
        answer
        for found in instances(group, start, window)
        for answer in scans.at(found)[0][0].tolist()
    ]


def concatenated(older: Arrays, newer: Arrays) -> Arrays:
    return (np.char.add(older[0], newer[0]),)


@given(SLICES, small_windows())
def test_partials_are_combined_in_order(slices: Slices, window: Window) -> None:
    """Text does not commute, so any slice out of place, missing or taken twice shows."""
    group, start = (np.array(column) for column in zip(*slices, strict=True))
    letters = np.array([f"<{i}>" for i in range(len(slices))], dtype="U400")
    answers = evaluated(group, start, letters, window, Scanned(concatenated, ("",)))
    expected = ["".join(f"<{i}>" for i in inside) for _, _, inside in brute_force(slices, window)]
    assert answers == expected


@given(SLICES, small_windows(), st.data())
def test_ufunc_scans_agree(slices: Slices, window: Window, data: st.DataObject) -> None:
    group, start = (np.array(column) for column in zip(*slices, strict=True))
    values = np.array(
        data.draw(st.lists(st.integers(-9, 9), min_size=len(slices), max_size=len(slices)))
    )
    for ufunc, nothing, fold in ((np.add, 0, sum), (np.maximum, -99, max)):
        answers = evaluated(group, start, values, window, Ufuncs((ufunc,), (nothing,)))
        assert answers == [fold(values[inside]) for _, _, inside in brute_force(slices, window)]


def test_few_slices_may_reach_very_many_instances() -> None:
    day, minute = 24 * 60, 1
    start = np.array([0, 3 * day])
    parts = list(instances(np.zeros(2, dtype=np.int64), start, Window(day, minute), portion=500))
    assert [len(part.start) for part in parts] == [500, 500, 500, 500, 500, 380]
    begins = np.concatenate([part.start for part in parts]).tolist()
    assert all(later > earlier for earlier, later in pairwise(begins))

"""Seats in rows of state: everyone has one, and who sits together ends together."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from muntin.model.windows import Window
from muntin.physical.operators.native import COLUMNS, places, seats


@st.composite
def windows(draw: st.DrawFn) -> Window:
    slide = draw(st.integers(1, 12))
    return Window(slide + draw(st.integers(0, 30)), slide, draw(st.integers(0, slide - 1)))


sets = st.lists(windows(), min_size=1, max_size=12)


@given(sets, st.integers(1, 5), st.randoms())
def test_every_window_has_a_seat_of_its_own_whatever_the_order(
    asked: list[Window], most: int, random: Random
) -> None:
    found = seats(asked, most)
    assert set(found) == set(asked)
    assert len(set(found.values())) == len(found)
    shuffled = random.sample(asked, len(asked))
    assert seats(shuffled, most) == found


@given(sets, st.integers(1, 5))
def test_places_are_filled_from_the_left_and_no_further_than_allowed(
    asked: list[Window], most: int
) -> None:
    rows: dict[int, set[int]] = {}
    for seat in seats(asked, most).values():
        rows.setdefault(seat.row, set()).add(seat.place)
    assert sorted(rows) == list(range(len(rows)))
    assert all(taken == set(range(len(taken))) and len(taken) <= most for taken in rows.values())


@given(sets, st.integers(1, 5))
def test_a_row_has_no_more_ends_than_its_first_window(asked: list[Window], most: int) -> None:
    found = seats(asked, most)
    first = {seat.row: w for w, seat in found.items() if seat.place == 0}
    for window, seat in found.items():
        finer = first[seat.row]
        ends = {(window.offset + window.range + i * window.slide) % finer.slide for i in range(12)}
        assert ends == {(finer.offset + finer.range) % finer.slide}


def test_rows_are_not_wider_than_generated_code_bears() -> None:
    assert places(4) * 4 <= COLUMNS
    assert places(1000) == 1

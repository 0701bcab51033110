"""Feeds are the inverse of pieces: p feeds start c exactly if p − c is one of the offsets."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from muntin.model.windows import Window
from muntin.plan.coverage import EdgePieces, Progression, covering_pieces, every, fewest_pieces
from muntin.plan.feeds import _WORD, feeds_of, identity_feed
from muntin_testing.windows import related_pair, starts, windows

progressions = st.builds(Progression, st.integers(-10, 40), st.integers(1, 20), st.integers(1, 12))


def fed(child: Window, pieces: EdgePieces, position: int) -> list[int]:
    return sorted(start for feed in feeds_of(3, child, pieces) for start in feed.starts(position))


def fed_by_definition(child: Window, pieces: EdgePieces, position: int) -> list[int]:
    offsets = list(pieces.offsets())
    reach = max(map(abs, offsets)) + child.slide
    return [
        start
        for start in starts(child, position - reach, position + reach + 1)
        for offset in offsets
        if position - start == offset
    ]


@given(windows(), st.lists(progressions, min_size=1, max_size=3), st.integers(-300, 300))
def test_any_progressions(child: Window, parts: list[Progression], position: int) -> None:
    pieces = EdgePieces(tuple(parts))
    for p in range(position, position + child.slide):
        assert fed(child, pieces, p) == sorted(fed_by_definition(child, pieces, p))


@given(windows(), st.integers(-300, 300))
def test_records_feed_the_instances_that_contain_them(child: Window, instant: int) -> None:
    assert fed(child, every(child.range), instant) == child.instances_of(instant)


def test_edges_between_windows() -> None:
    random, seen = Random(6), 0
    for _ in range(2_000):
        child, parent = related_pair(random)
        for disjoint in (True, False):
            for pieces_of in (covering_pieces, fewest_pieces):
                pieces = pieces_of(child, parent, disjoint=disjoint)
                if pieces is None:
                    continue
                seen += 1
                for position in starts(parent, -60, -60 + child.slide):
                    assert fed(child, pieces, position) == fed_by_definition(
                        child, pieces, position
                    )
    assert seen > 1_000


@given(windows(), st.integers(-100, 100))
def test_a_row_that_stays_feeds_itself_alone(window: Window, turn: int) -> None:
    start = window.offset + turn * window.slide
    assert list(identity_feed(1, window).starts(start)) == [start]


def test_every_feed_carries_its_node() -> None:
    pieces = EdgePieces((Progression(0, 1, 3), Progression(7, 2, 2)))
    assert [feed.node for feed in feeds_of(5, Window(12, 4), pieces)] == [5, 5]


def test_products_stay_within_a_word_or_pieces_are_written_out() -> None:
    # A slide of about a day and a stride of about an hour, both prime to each other in µs.
    child = Window(86_399_999_999 + 3_600_000_001, 86_399_999_999)
    pieces = EdgePieces((Progression(0, 3_600_000_001, 20),))
    feeds = feeds_of(0, child, pieces)
    assert all(feed.turns * feed.inverse < _WORD for feed in feeds)
    assert len(feeds) == 20
    for turn in (-3, 0, 5):
        for j in range(20):
            start = turn * child.slide
            assert fed(child, pieces, start + j * 3_600_000_001) == [start]
    assert fed(child, pieces, 1) == []


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 50), st.integers(-5, 5))
def test_lengths_in_microseconds(slide: int, stride: int, count: int, turn: int) -> None:
    child = Window(max(slide, stride * count), slide, slide // 3)
    pieces = EdgePieces((Progression(0, stride, count),))
    start = child.offset + turn * slide
    for offset in pieces.offsets():
        assert start in fed(child, pieces, start + offset)
    assert all(child.starts_at(c) for c in fed(child, pieces, start + stride))

"""Which columns are the key, and what is said where nobody can know."""

import pytest

import muntin as mt
from muntin.errors import SinkError
from muntin.upserts.columns import Column, flatten
from muntin.upserts.keys import check_key, find_key

WINDOW = Column("window", "struct<start:timestamp,end:timestamp>", ("window",))


def plain(name: str, marked: bool = False) -> Column:
    return Column(name, "bigint", (name,), marked)


def test_the_long_layout_knows_its_key() -> None:
    columns = flatten([plain("window_id", True), WINDOW, plain("device", True), plain("n")])
    assert find_key(columns, None) == ("window_id", "window_start", "window_end", "device")
    assert [c.path for c in columns if c.name == "window_end"] == [("window", "end")]


def test_a_struct_that_is_no_window_stays_as_it_is() -> None:
    other = Column("window", "struct<a:int,end:timestamp>", ("window",))
    nested = Column("window", "struct<start:struct<a:int>,end:timestamp>", ("window",))
    assert flatten([other]) == (other,)
    assert flatten([nested]) == (nested,)


def test_a_key_that_was_given_wins_and_may_name_the_window() -> None:
    columns = flatten([plain("window_id", True), WINDOW, plain("device", True), plain("n")])
    assert find_key(columns, ("n", "window")) == ("n", "window_start", "window_end")


@pytest.mark.parametrize(
    ("columns", "key", "words"),
    [
        ([plain("a")], None, "name them, key="),
        ([plain("window_id", True), plain("n")], None, "keep `window`"),
        ([plain("card")], ("cart",), "did you mean 'card'"),
    ],
)
def test_what_is_said(columns: list[Column], key: tuple[str, ...] | None, words: str) -> None:
    with pytest.raises(SinkError, match=words):
        find_key(flatten(columns), key)


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(SinkError, match="two columns named 'window_end'"):
        flatten([WINDOW, plain("window_end")])


@pytest.mark.parametrize("key", [[], [""], [1], ["a", "a"]])
def test_keys_that_cannot_be(key: list[str]) -> None:
    with pytest.raises(mt.MuntinError, match="key "):
        check_key(key)

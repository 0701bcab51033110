"""What errors show of a value is short and on one line, whatever the value is or does."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from muntin.errors import shown


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Long:
    def __repr__(self) -> str:
        return "Long" * 1000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        ("wyde", "'wyde'"),
        (10**12, "1000000000000"),
        (-(10**5000), "-10**5000"),
        (7 * 10**50, "about 10**50"),
        (Broken(), "<Broken>"),
        (pd.DataFrame({"a": range(9)}), "<DataFrame>"),
        (np.zeros((50, 50)), "<ndarray>"),
        ([10**5000], "[10**5000]"),
    ],
    ids=shown,
)
def test_a_value_is_shown_in_a_few_words(value: Any, text: str) -> None:
    assert shown(value) == text


LENGTHY = [Long(), "x" * 10**6, ["y" * 100] * 10**5, dict.fromkeys(range(99), "z" * 99)]


@pytest.mark.parametrize("value", LENGTHY, ids=lambda value: type(value).__name__)
def test_nothing_is_shown_at_length(value: Any) -> None:
    assert len(shown(value)) < 500
    assert "\n" not in shown(value)

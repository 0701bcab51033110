"""What is no table is told which kinds are taken, and how to make one."""

from typing import Any

import pandas as pd
import pytest

import muntin as mt

HOUR: Any = {"time": "ts", "windows": [mt.tumbling("1h")], "aggregates": [mt.count()]}


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        ([(1, 2)], r"got list: pandas.DataFrame\(...\) or pyarrow.table\(...\) makes"),
        ({"ts": [1]}, r"got dict: pandas.DataFrame\(...\) or pyarrow.table\(...\) makes"),
        ("events", r"got str: spark.table\('name'\) or pandas.read_parquet"),
        (pd.Series([1]), "got Series: give the DataFrame"),
        (5, "got int$"),
        (None, "got NoneType$"),
    ],
)
def test_what_is_no_table_is_told_what_is_taken(data: Any, remedy: str) -> None:
    kinds = "expected a Spark DataFrame, a pandas DataFrame, a pyarrow.Table or a DuckDB relation"
    with pytest.raises(mt.MuntinError, match=f"{kinds}, {remedy}"):
        mt.aggregate(data, **HOUR)


def test_a_condition_of_pandas_is_told_to_be_text() -> None:
    df = pd.DataFrame({"ts": pd.to_datetime(["2024-01-01"]), "v": [5]})
    with pytest.raises(mt.MuntinError, match=r"^where <Series> must be an SQL condition, as text"):
        mt.aggregate(df, **HOUR, where=df.v > 3)  # type: ignore[call-overload]
    with pytest.raises(mt.MuntinError, match=r"^filter <Series> must be an SQL predicate, as text"):
        mt.count().filter(df.v > 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"empty": True}, "empty must be 'omit' or 'fill', not True"),
        ({"layout": ["wide"]}, r"layout must be 'long' or 'wide', not \['wide'\]"),
        ({"layout": 10**5000}, r"layout must be 'long' or 'wide', not 10\*\*5000"),
        ({"layout": "wyde"}, r"unknown layout 'wyde': did you mean 'wide'\?"),
        ({"strategy": 3}, "strategy must be 'auto', .* or 'exhaustive', not 3"),
        ({"cost": None}, "cost must be 'seconds', 'rate', 'paper' or 'weave', not None"),
        ({"operator": b"kernel"}, "operator must be 'sql' or 'arrays', not b'kernel'"),
    ],
)
def test_a_value_that_is_no_word_is_told_the_words(options: Any, sentence: str) -> None:
    df = pd.DataFrame({"ts": pd.to_datetime(["2024-01-01"])})
    with pytest.raises(mt.MuntinError, match=f"^{sentence}$"):
        mt.aggregate(df, **HOUR, **options)

"""The table of the stream benchmark: what finished, what did not, and what then is a bound only."""

import re
from io import StringIO
from itertools import zip_longest

from rich.console import Console

from lab.benchmarks.stream import COLUMNS, Run, _table


def printed(**sides: list[Run]) -> dict[str, dict[str, str]]:
    """The cells of every side by the names of their columns."""
    page = StringIO()
    Console(width=200, file=page).print(_table("a set", 1_000, sides))
    rows = [re.split(r"  +", line.strip()) for line in page.getvalue().splitlines()[4:]]
    cells = [
        dict(zip_longest(("side", *COLUMNS), row, fillvalue="")) for row in rows if len(row) > 1
    ]
    return {row["side"]: row for row in cells}


def run(seconds: float, finished: bool = True, files: int = 0) -> Run:
    return Run(seconds, finished, state_rows=7_200, file_bytes=files, memory_bytes=2**24)


def test_times_rates_and_state() -> None:
    rows = printed(auto=[run(2), run(4, files=2**20), run(3)], direct=[run(9)])
    cells = ["auto", "3.0 s", "2.0 4.0 3.0", "333", "7,200", "1.0", "16", "3.0×"]
    assert list(rows["auto"].values()) == cells
    assert rows["direct"]["direct is"] == ""


def test_a_ratio_with_a_side_that_did_not_finish_is_a_bound() -> None:
    stopped = [run(20, finished=False)]
    rows = printed(auto=[run(2)], slow=stopped, direct=[run(5)])
    assert rows["slow"]["median"] == "> 20 s"
    assert rows["slow"]["events/s"] == "–"
    assert (rows["auto"]["direct is"], rows["slow"]["direct is"]) == ("2.5×", "< 0.2×")
    rows = printed(auto=[run(2)], slow=stopped, direct=[run(20), *stopped])
    assert (rows["auto"]["direct is"], rows["slow"]["direct is"]) == ("> 10.0×", "–")
    assert rows["direct"]["median"] == "> 20 s"

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
    times = {"first": seconds / 4, "batch": seconds / 8, "planned": 0.1}
    sizes = {"state_rows": 7_200, "file_bytes": files, "memory_bytes": 2**24}
    return Run(seconds, finished, **times, **sizes)  # type: ignore[arg-type]  # by name


def test_times_rates_and_state() -> None:
    three = [run(2), run(4, files=2**20), run(3)]
    rows = printed(floor=[run(2.5)], auto=three, direct=[run(9)])
    times = ["3.0 s", "2.0 4.0 3.0", "1.20×", "0.75 s", "0.38 s", "0.10 s", "333"]
    cells = ["auto", *times, "7,200", "1.0", "16", "3.00×"]
    assert list(rows["auto"].values()) == cells
    assert rows["direct"]["direct is"] == ""


def test_a_ratio_with_a_side_that_did_not_finish_is_a_bound() -> None:
    stopped = [run(20, finished=False)]
    rows = printed(floor=[run(2)], auto=[run(2)], slow=stopped, direct=[run(5)])
    assert rows["slow"]["median"] == "> 20 s"
    assert rows["slow"]["events/s"] == "–"
    assert (rows["auto"]["× floor"], rows["slow"]["× floor"]) == ("1.00×", "> 10.00×")
    assert (rows["auto"]["direct is"], rows["slow"]["direct is"]) == ("2.50×", "< 0.25×")
    rows = printed(floor=[run(2)], auto=[run(2)], slow=stopped, direct=[run(20), *stopped])
    assert (rows["auto"]["direct is"], rows["slow"]["direct is"]) == ("> 10.00×", "–")
    assert rows["direct"]["median"] == "> 20 s"

"""The sustained run: a rate is found, latency begins where the watermark could move, and the
figures say what was seen."""

import csv
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

import muntin as mt
from lab.benchmarks.sustained import (
    FIRST_RATE,
    SHARE,
    busy,
    display,
    figures,
    held_rate,
    report,
)
from lab.benchmarks.sustained_run import Moment, Seen, Stream, memory, watch
from muntin.errors import StrategyError

RATE = 1_000


def level_run(seconds: int, growth: float = 0.0) -> Seen:
    """A micro-batch every two seconds, slow at first; results every ten seconds."""
    seen = Seen()
    for batch, second in enumerate(range(2, seconds + 1, 2)):
        grown = round(1e9 * (1 + growth * second / seconds))
        slow = second < 60
        moment = Moment(second, batch, 2 * RATE, 9.0 if slow else 0.5, 500, 7, 0, grown, 1)
        seen.moments.append(moment)
        if second % 10 == 0:
            seen.delivered[batch] = [(30.0, 10)] if slow else [(3.0, 98), (5.0, 2)]
    return seen


def test_figures_leave_out_the_warm_up() -> None:
    text = "\n".join(figures(level_run(600), Stream(), RATE))
    assert "without the first 60 s" in text
    assert "1,000 events a second, 100.0% of those made" in text
    assert "p50 3.0 s, p99 5.0 s" in text
    assert "memory      1,000.0 and 1,000.0 MB: +0.0%" in text
    assert "late" not in "\n".join(figures(level_run(100), Stream(), RATE)).split("flat?")[1]


def test_growth_is_told() -> None:
    grown = next(x for x in figures(level_run(600, 0.5), Stream(), RATE) if "memory" in x)
    assert grown.endswith("1,203.3 and 1,401.7 MB: +16.5%")


def test_the_report_leaves_a_table_and_a_picture(tmp_path: Path) -> None:
    console = Console(file=StringIO(), width=200)
    seen = level_run(300)
    report(seen, Stream(), RATE, "a machine", tmp_path / "new", console)
    text = (tmp_path / "new/sustained.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == len(seen.moments)
    due = [row for row in rows if row["results"] != "0"]
    assert [row["second"] for row in due] == [f"{n}.000" for n in range(10, 301, 10)]
    assert (due[-1]["latency_p50"], due[-1]["latency_p99"]) == ("3.000", "5.000")
    assert (tmp_path / "new/sustained.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_without_results_says_so(tmp_path: Path) -> None:
    console = Console(file=(said := StringIO()), width=200)
    report(Seen(), Stream(), RATE, "a machine", tmp_path, console)
    assert "too short: results are due after some 19 s" in said.getvalue()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("capacity", [150, 4_000, 60_000, 130_000, 900_000])
def test_the_rate_leaves_room(capacity: int) -> None:
    console = Console(file=(said := StringIO()), width=200)
    rate = held_rate(lambda tried: 0.8 * tried / capacity, console)
    assert SHARE * capacity / 4 <= rate <= SHARE * capacity
    assert capacity < FIRST_RATE or rate >= SHARE * capacity / 1.5
    assert "too much" in said.getvalue()


def test_no_rate_at_all() -> None:
    with pytest.raises(StrategyError, match="does not hold 100 events a second: stop what else"):
        held_rate(lambda _: float("inf"), Console(file=StringIO()))


def test_too_few_batches_are_too_busy() -> None:
    assert busy(level_run(8), Stream()) == float("inf")
    assert busy(level_run(600), Stream()) == 0.25


def test_without_a_terminal_there_is_a_line_now_and_then() -> None:
    with display(Console(file=(said := StringIO()), width=200), "running", 100) as tell:
        for second in range(100):
            tell(second, "fine")
    assert said.getvalue().splitlines() == [f"running: {n} of 100 s, fine" for n in (30, 60, 90)]


@pytest.mark.skipif(not Path("/proc").exists(), reason="only Linux tells the memory of processes")
def test_memory_counts_what_was_started() -> None:
    before = memory()
    hold = "data = bytearray(b'x' * 64_000_000); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert memory()[1] - before[1] > 60e6
        child.communicate(b"\n")


class EnoughError(Exception):
    """There are results."""


@pytest.mark.long
def test_latency_begins_where_the_watermark_could_move(streams: SparkSession) -> None:
    stream = Stream((mt.tumbling("1 second"), mt.hopping("2 seconds", "1 second")), 3, 0.5, 1.0)
    seen = Seen()

    def tell(at: float, _: str) -> None:
        if seen.results and seen.moments:
            assert all(0 < late < at for some in seen.delivered.values() for late, _ in some)
            raise EnoughError

    with pytest.raises(EnoughError):
        watch(streams, stream, RATE, 120, tell, seen)
    assert seen.results % 3 == 0
    assert seen.moments[-1].java_bytes > 100e6
    assert not streams.streams.active


@pytest.mark.long
def test_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "muntin", "bench", "sustained", "--data", str(tmp_path)]
    done = subprocess.run(
        [*command, "--minutes", "1", "--rate", "500"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "holding 500 events a second of 1,000 keys, 1 min" in done.stdout
    assert "latency     p50" in done.stdout
    assert sorted(file.name for file in tmp_path.iterdir()) == ["sustained.csv", "sustained.png"]

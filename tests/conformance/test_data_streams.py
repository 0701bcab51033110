"""Sets, sketches and custom aggregates of windows that the data decides, on a stream.

Rows come late, and the query is stopped and started again. What is judged is what Spark gave
against brute force over the records that were not late: in append mode all rows, in update mode
each row against the records that the watermark had passed by then.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from conformance.comparison import EPOCH, microseconds, plain
from conformance.data_queries import ANY_ORDER, IN_ORDER, KEYS, PERIODIC, SECOND, records
from conformance.kept_aggregates import KEPT
from conformance.selection import SEED, many
from muntin.data_windows import LastRecords
from muntin.engines.spark.session_facts import version_of
from muntin.model.data_windows import DataWindow, Session, Snapshot
from muntin_testing.data_windows import Records, meaning
from muntin_testing.reached import Reached
from muntin_testing.streams import run_to_end, streamed, written

SCHEMA = (
    "ts timestamp, k string, n bigint, v bigint, km bigint, price double, go boolean, stop boolean"
)
BATCHES, DELAY, PAUSE = 5, 6 * SECOND, 3
LATER = 10**9 * SECOND
Found = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class Arrival:
    """A batch: its rows that are not late, and what the watermark has passed when it is taken."""

    rows: Records
    late: int
    watermark: int


def arriving(random: Random) -> list[Records]:
    """Records in about the order of their times, some late; the last one lets time pass."""
    rows = [{**row, "t": row["t"] + 1000 * SECOND} for row in records(random, 30)]
    rows.sort(key=lambda row: row["t"])
    batches: list[Records] = [[] for _ in range(BATCHES)]
    for i, row in enumerate(rows):
        later = random.choice([0, 0, 0, 1, 2, 2])
        batches[min(i * BATCHES // len(rows) + later, BATCHES - 1)].append(row)
    return [*batches, [{**rows[-1], "k": "end", "n": 10**6, "t": LATER}]]


def judge(batches: Sequence[Records]) -> list[Arrival]:
    """By Spark's rule: late is what the watermark of the batch before had passed.

    A run ends with a batch without rows, in which the watermark catches up with all before it.
    """
    found, last, watermark = [], 0, 0
    for number, rows in enumerate(batches):
        if number == PAUSE:
            found.append(Arrival([], 0, watermark))
            last = watermark
        kept = [row for row in rows if row["t"] >= last]
        found.append(Arrival(kept, len(rows) - len(kept), watermark))
        last, watermark = watermark, max([watermark, *(row["t"] - DELAY for row in rows)])
    return [*found, Arrival([], 0, watermark)]


def expected(windows: Sequence[Any], rows: Records, names: Sequence[str]) -> Found:
    """The rows of these windows over these records, by their meaning."""
    found: Found = Counter()
    for key in KEYS:
        own = sorted((r for r in rows if r["k"] == key), key=lambda r: (r["t"], r["n"]))
        for window in windows if own else ():
            for start, end, run in meaning(window, own):
                held = [own[i] for i in run]
                found[(window.id, start, end, key, *(KEPT[n][1](held) for n in names))] += 1
    return found


def rows_of(given: Sequence[Any], names: Sequence[str]) -> Found:
    """Rows of Spark, but those of the key that only lets time pass."""
    found: Found = Counter()
    for row in given:
        values = (tuple(v) if isinstance(v := plain(row[n]), list) else v for n in names)
        bounds = (microseconds(row["window"][side]) for side in ("start", "end"))
        if row["k"] != "end":
            found[(row["window_id"], *bounds, row["k"], *values)] += 1
    return found


def play(rows: DataFrame, checkpoint: Path, output: str) -> tuple[list[list[Any]], int]:
    """What each batch gave until all files were read, and how many rows were late."""
    found: list[list[Any]] = []
    _, dropped = run_to_end(rows, found.append, checkpoint, output)
    return found, dropped


def finished(window: Any, incomplete: bool) -> Any:
    """A window that the end of the data does not finish, or one that comes as far as it got."""
    if not isinstance(window, DataWindow) or isinstance(window, Session | Snapshot):
        return window
    more: Any = {"incomplete": incomplete}
    return replace(window, **more)


def stream_of(spark: SparkSession, batches: Sequence[Records], folder: Path) -> DataFrame:
    """The batches as a stream of files, one a micro-batch."""
    names = ("k", "n", "v", "km", "price", "go", "stop")
    script = [
        [(EPOCH + timedelta(microseconds=r["t"]), *(r[n] for n in names)) for r in rows]
        for rows in batches
    ]
    return streamed(spark, written(spark, script, SCHEMA, folder), SCHEMA)


def run(
    spark: SparkSession,
    folder: Path,
    batches: Sequence[Records],
    windows: Sequence[Any],
    names: Sequence[str],
    output: str,
) -> tuple[list[Found], int]:
    """Two runs, the second from the checkpoint of the first; what each batch gave."""
    found: list[Found] = []
    dropped = 0
    for part in (batches[:PAUSE], batches):
        stream = stream_of(spark, part, folder / "files")
        options: Any = {"watermark": f"{DELAY // SECOND} seconds", "output": output, "buckets": 2}
        aggregates = [KEPT[name][0].alias(name) for name in names]
        rows = mt.aggregate(stream, "ts", windows, aggregates, "k", order_by="n", **options)
        given, late = play(rows, folder / "checkpoint", output)
        found += [rows_of(each, names) for each in given]
        dropped += late
    return found, dropped


def names_on(spark: SparkSession) -> list[str]:
    """The aggregates that this Spark has partials for."""
    return [n for n, (a, _) in sorted(KEPT.items()) if a.function.since <= version_of(spark)]


def questions(mode: str, names: list[str]) -> list[tuple[Random, list[Any], list[str]]]:
    """Windows and aggregates to ask for: by default once, with every aggregate."""
    found = []
    for number in range(many(1, 6)):
        random = Random(f"{SEED}/kept/{mode}/{number}")
        known = [*ANY_ORDER, *IN_ORDER, *PERIODIC]
        windows = [finished(w, incomplete=False) for w in random.sample(known, 5)]
        found.append((random, windows, random.sample(names, len(names))))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("output", ["append", "update"])
def test_what_python_keeps_has_the_rows_of_brute_force(
    streams: SparkSession, tmp_path: Path, output: str
) -> None:
    reached, known = Reached(), names_on(streams)
    for number, (random, windows, names) in enumerate(questions(output, known)):
        batches = arriving(random)
        arrivals = judge(batches)
        found, dropped = run(streams, tmp_path / str(number), batches, windows, names, output)
        assert dropped == sum(each.late for each in arrivals)
        taken = [row for each in arrivals for row in each.rows if row["t"] < LATER]
        whole, ours = expected(windows, taken, names), sum(found, Counter())
        place = f"{SEED}/kept/{output}/{number}"
        assert not whole - ours, f"{place}: missing {list(whole - ours)[:3]}"
        if output == "append":
            assert not ours - whole, f"{place}: too many {list(ours - whole)[:3]}"
        else:
            reached["early"] += check_early(found, arrivals, windows, names, place)
        count(reached, names, ours, found)
        reached["late"] += dropped
    reached.at_least(5, "late", *known, *(["early"] if output == "update" else []))
    reached.at_least(1, "before the restart", "after it")


def check_early(
    found: list[Found],
    arrivals: list[Arrival],
    windows: Sequence[Any],
    names: Sequence[str],
    place: str,
) -> int:
    """Each row of a batch is that of a window over the records passed by then; how many grew."""
    assert len(found) <= len(arrivals)
    ends, known, early = [finished(w, incomplete=True) for w in windows], [], 0
    final = expected(windows, [row for each in arrivals for row in each.rows], names)
    for batch, arrival in zip(found, arrivals, strict=False):
        known += arrival.rows
        so_far = [row for row in known if row["t"] < arrival.watermark]
        allowed = expected([*ends, *windows], so_far, names)
        assert not batch.keys() - allowed.keys(), (
            f"{place}: {list(batch.keys() - allowed.keys())[:3]}"
        )
        early += (batch - final).total()
    return early


def count(reached: Reached, names: Sequence[str], ours: Found, found: list[Found]) -> None:
    """The census: in how many rows each aggregate gave something, and in which run."""
    for row in ours:
        reached.update(n for n, value in zip(names, row[4:], strict=True) if value)
    reached["before the restart"] += sum(each.total() for each in found[:PAUSE])
    reached["after it"] += sum(each.total() for each in found[PAUSE + 1 :])


@pytest.mark.slow
def test_a_policy_keeps_records_of_which_sets_and_sketches_are_made(
    streams: SparkSession, tmp_path: Path
) -> None:
    """Every 10 seconds the last 4 records: records leave one by one, so nothing is subtracted."""
    random, every = Random(f"{SEED}/kept/policy"), 10 * SECOND
    last = mt.user_window(lambda: LastRecords(4, every), id="last 4")
    batches, names = arriving(random)[:BATCHES], names_on(streams)
    found, _ = run(streams, tmp_path, batches, [last], names, "append")
    arrivals = judge(batches)
    end, wanted = arrivals[-1].watermark, Counter[tuple[Any, ...]]()
    taken = [row for each in arrivals for row in each.rows]
    for key in KEYS:
        own = sorted((r for r in taken if r["k"] == key), key=lambda r: (r["t"], r["n"]))
        due = own[0]["t"] // every * every
        while (due := due + every) <= end:
            held = [r for r in own if r["t"] < due][-4:]
            bounds = held[0]["t"], held[-1]["t"] + 1
            wanted[("last 4", *bounds, key, *(KEPT[n][1](held) for n in names))] += 1
    assert sum(found, Counter()) == wanted
    assert wanted.total() > 10

"""Controls of every kind, killed with -9 and started again: nothing lost, nothing twice."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import muntin as mt
from muntin_testing.control_kinds import KINDS, expected
from muntin_testing.control_query import SCHEMA, batches
from muntin_testing.killed_controls import play_and_kill
from muntin_testing.streams import written

SCRIPT = Path(__file__).with_name("control_run.py")
KILLS = (3, 6, 8)
"""Files at which the stream is killed, at any moment of their batch."""


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_windows_of_every_kind_survive_kills(
    streams: SparkSession, tmp_path: Path, kind: str
) -> None:
    aside = sorted(written(streams, batches(11), SCHEMA, tmp_path / "aside").iterdir())
    control, (narrow, wide) = mt.Control(tmp_path / "control"), KINDS[kind].registered
    commands: dict[int, Callable[[], object]] = {
        2: lambda: control.register(narrow, "x"),
        3: lambda: control.register(wide, "wide"),
        5: lambda: control.suspend("first"),
        6: lambda: control.suspend("x"),
        8: lambda: control.register(narrow, "first"),
    }
    play_and_kill(SCRIPT, tmp_path, aside, commands, KILLS, kind)
    out = streams.read.parquet(str(tmp_path / "out")).where("k <> 'end'").collect()
    found = Counter(map(KINDS[kind].read, out))
    rows = (
        streams.read.schema(SCHEMA).parquet(str(tmp_path / "files")).where("k <> 'end'").collect()
    )
    assert found == expected(kind, rows, control, found), control.list()
    counts = Counter(row[0] for row in found)
    assert all(counts[id] > 5 for id in ("first", "x", "wide")), counts
    again = [row.state for row in control.list() if row.id == "first"]
    assert again == ["suspended", "running"]
    print(f"{kind}: {found.total()} rows equal after {len(KILLS)} kills, {dict(counts)}")

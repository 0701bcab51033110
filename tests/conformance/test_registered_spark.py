"""Windows of every kind that come and go on Spark at random moments, with restarts."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

import muntin as mt
from conformance.selection import SEED
from muntin_testing.control_kinds import KINDS, expected
from muntin_testing.played_controls import Played

FILES = 9
IDS = ("first", "x", "y")


def turn_of(random: Random, control: mt.Control, texts: tuple[str, ...]) -> Callable[[], object]:
    """Some commands at random; what cannot be is refused at once."""

    def turn() -> None:
        for _ in range(random.choice([0, 1, 2])):
            with suppress(mt.MuntinError):  # an id that is taken, or unknown
                if random.random() < 0.4:
                    control.suspend(random.choice(IDS))
                else:
                    control.register(random.choice(texts), random.choice(IDS))

    return turn


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_windows_come_and_go(streams: SparkSession, tmp_path: Path, kind: str) -> None:
    random = Random(f"{SEED}/registered/{kind}")
    played = Played(streams, tmp_path, KINDS[kind].build, FILES)
    turns = [turn_of(random, played.control, KINDS[kind].registered) for _ in range(FILES)]
    restarts = random.sample(range(1, FILES), 2)
    played.play(*(None if i in restarts else turn for i, turn in enumerate(turns)))
    found = Counter(KINDS[kind].read(row) for row in played.found if row.k != "end")
    assert found == expected(kind, played.rows(), played.control, found), played.control.list()
    listed = played.control.list()
    assert [row.state for row in listed].count("suspended") >= 1, "other commands are needed"
    assert sum(row.effective is not None for row in listed) >= 2, listed
    assert len({row[0] for row in found}) >= 2

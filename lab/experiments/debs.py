"""The rows of the DEBS 2012 Grand Challenge, as far as they are at hand.

The papers use 33 million rows of it; only the first 17,000 may be in the folder that `--data`
names (debs2012_head.parquet). They are repeated as often as a run needs. Without them, seeded
random values stand in, and the experiment says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pyarrow.parquet as pq

from muntin.errors import ColumnError

FILE = "debs2012_head.parquet"
READING = "mf01"
"""The first of three energy readings, whole numbers."""
GENERATED = 17_000


def readings(data: Path | None) -> tuple[Sequence[int], str]:
    """The values, and in words where they come from."""
    if data is None:
        random = Random(1)
        values = [random.randrange(20_000) for _ in range(GENERATED)]
        return values, f"{GENERATED:,} generated values, repeated (--data has the papers' rows)"
    path = data / FILE if data.is_dir() else data
    if not path.exists():
        raise ColumnError(f"{path} does not exist: --data is a folder with {FILE}, or that file")
    column = pq.read_table(path, columns=[READING]).column(READING)
    values = [int(value) for value in column.to_pylist()]
    return values, f"{len(values):,} rows of DEBS 2012 ({READING}), repeated"

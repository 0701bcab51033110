"""Windows and streams of the subsumption experiments (section 5 of the subsumption paper).

Three classes by the longest slide: smooth (at most 10 timestamps), medium (20), abrupt (30); ranges
up to 60, always slide < range; pools of 1,000 to 10,000. The paper says no more about how they are
drawn: here slides are uniform, and ranges uniform between slide and 60. Windows end at multiples of
their slides, as the paper has them; `spark=True` lets them begin there instead.

The paper replays LBL-CONN-7, which is not available. Values are the bytes sent by TCP connections
derived from the archive's LBL-TCP-3 and LBL-PKT-4 traces, repeated to reach a rate; arrivals are
every tenth packet of LBL-PKT-4, at its own time. Without the files both are generated.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from muntin.model.windows import Window

CLASSES = {"smooth": 10, "medium": 20, "abrupt": 30}
"""The longest slide of each class."""
SIZES = (1_000, 2_000, 5_000, 10_000)
LONGEST = 60
SECOND = 1_000_000
THINNED = 10
"""Every so many packets one arrives: each moves up every stair, and only proportions matter."""
FILES = ("lbl_connections_derived.parquet", "lbl_pkt4_arrivals.parquet")


def pool(kind: str, size: int, seed: int, spark: bool = False) -> list[Window]:
    """Windows of a class; equal ones occur, as several users may ask for the same.

    >>> [str(w) for w in pool("smooth", 3, seed=1)]
    ['W(34, 3, 2)', 'W(14, 2)', 'W(30, 1)']
    """
    random = Random(f"{kind}/{size}/{seed}")
    windows = []
    for number in range(size):
        slide = random.randint(1, CLASSES[kind])
        length = random.randint(slide + 1, LONGEST)
        windows.append(Window(length, slide, 0 if spark else -length % slide, f"w{number}"))
    return windows


@dataclass(frozen=True, slots=True)
class Traffic:
    """Values of tuples, the timestamps (seconds) of arrivals, and where both come from."""

    values: NDArray[np.int64]
    arrivals: NDArray[np.int64]
    origin: str

    def tuples(self, timestamp: int, rate: int) -> NDArray[np.int64]:
        """The values of one timestamp at a rate, from the file repeated as often as needed."""
        at = np.arange(timestamp * rate, (timestamp + 1) * rate) % len(self.values)
        return self.values[at]


def traffic(data: Path | None, seed: int) -> Traffic:
    """The real traces if there is a folder with them, else generated ones."""
    if data is not None and all((data / name).exists() for name in FILES):
        connections, packets = (pq.read_table(data / name) for name in FILES)
        values = connections.column("bytes_orig").fill_null(0).to_numpy().astype(np.int64)
        arrivals = packets.column("t_us").to_numpy()[::THINNED] // SECOND
        origin = (
            f"bytes of {len(values):,} TCP connections derived from LBL-TCP-3 and LBL-PKT-4, and "
            f"{len(arrivals):,} packet arrivals of LBL-PKT-4, every tenth (LBL-CONN-7 itself is "
            "not available)"
        )
        return Traffic(values, arrivals, origin)
    random = np.random.default_rng(seed)
    values = np.exp(random.normal(6, 2, 10_000)).astype(np.int64)
    arrivals = np.sort(random.integers(0, 3_600, 470_000 // THINNED))
    return Traffic(values, arrivals, "generated tuples (give --data for the LBL traces)")

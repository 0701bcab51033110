"""What every benchmark can be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from muntin.model.choices import Strategy


@dataclass(frozen=True, slots=True)
class Options:
    """How many rows, how many rounds, which sets (none: all), where data is kept, for how long a
    stream runs, and with how many events a second (none: as many as it can hold)."""

    rows: int = 10_000_000
    repeat: int = 3
    sets: tuple[str, ...] = ()
    data: Path | None = None
    strategy: Strategy = "auto"
    minutes: float = 10.0
    rate: int | None = None

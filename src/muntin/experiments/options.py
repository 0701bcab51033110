"""What every experiment can be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """Where files go (None: nowhere), the seed of random window sets, and how many sets."""

    out: Path | None = None
    seed: int = 1
    sets: int | None = None

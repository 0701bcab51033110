"""What every experiment can be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """Where files go (None: nowhere), the seed of random window sets, and how many sets.

    An experiment of several parts runs those that are named (none: all); `data` is a file or a
    folder with the rows of the papers, for the experiments that can use them.
    """

    out: Path | None = None
    seed: int = 1
    sets: int | None = None
    parts: tuple[str, ...] = ()
    data: Path | None = None

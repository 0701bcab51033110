"""Memory of this process and all that it started: driver, JVM and Python workers.

Pages that processes share, as forked Python workers do, are counted once (proportional set size);
where Linux does not tell that, resident memory is taken.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of the JVM, and of all other processes: Python's driver and workers."""

    java: int = 0
    python: int = 0

    @property
    def total(self) -> int:
        """Both together.

        >>> Memory(2, 3).total
        5
        """
        return self.java + self.python


def memory() -> Memory:
    """The sums over the process tree, as Linux tells them; 0 where it does not."""
    java = python = 0
    for pid in _tree():
        try:
            used, name = _used(pid), (PROC / str(pid) / "comm").read_text().strip()
        except OSError:
            continue  # it has ended meanwhile
        if name == "java":
            java += used
        else:
            python += used
    return Memory(java, python)


def _tree() -> list[int]:
    """This process and its descendants."""
    children: dict[int, list[int]] = {}
    for folder in PROC.glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found = [os.getpid()] if PROC.exists() else []
    for pid in found:
        found += children.get(pid, [])
    return found


def _used(pid: int) -> int:
    folder = PROC / str(pid)
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024
    except OSError:
        pages = int((folder / "stat").read_text().rpartition(")")[2].split()[21])
        return pages * os.sysconf("SC_PAGE_SIZE")

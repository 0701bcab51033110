"""Resident memory of this process and all that it started: driver, JVM and Python workers."""

from __future__ import annotations

import os
from pathlib import Path


def resident_bytes() -> int:
    """The sum over the process tree, as Linux tells it; 0 where it does not."""
    children: dict[int, list[int]] = {}
    resident: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        pid = int(folder.name)
        children.setdefault(int(fields[1]), []).append(pid)
        resident[pid] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    found, total = [os.getpid()], 0
    while found:
        pid = found.pop()
        total += resident.get(pid, 0)
        found += children.get(pid, [])
    return total

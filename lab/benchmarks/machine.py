"""A line about the machine, so that a figure is never read without it."""

from __future__ import annotations

import os
import platform


def machine() -> str:
    """Cores, memory and Python."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{cores} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"
    )

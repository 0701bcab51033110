"""A stream with a control in a process of its own, told commands and killed with -9 as it runs."""

import os
import signal
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from random import Random

from muntin_testing.processes import PATIENCE, started

Commands = Mapping[int, Callable[[], object]]
"""What is done once a file has arrived, by the number of the file."""


def play_and_kill(
    script: Path,
    folder: Path,
    aside: Sequence[Path],
    commands: Commands,
    kills: Collection[int],
    *arguments: str,
) -> None:
    """Files arrive one by one, each in a batch of its own; at some the process dies and restarts.

    It is killed at any moment of the batch, and in the end asked to stop.
    """
    random, files = Random(f"kills {arguments}"), folder / "files"
    files.mkdir()
    process = started(script, folder, *arguments)
    for i, file in enumerate(aside):
        before = _committed(folder)
        file.rename(files / file.name)
        commands.get(i, lambda: None)()
        if i in kills:
            time.sleep(random.uniform(0, 1.5))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process = started(script, folder, *arguments)
        limit = time.monotonic() + PATIENCE
        while _committed(folder) <= before and i not in kills:
            assert process.poll() is None, (folder / "log").read_text()[-3000:]
            assert time.monotonic() < limit, "no batch was committed"
            time.sleep(0.05)
    (folder / "stop").touch()
    assert process.wait(PATIENCE) == 0, (folder / "log").read_text()[-3000:]


def _committed(folder: Path) -> int:
    return sum(1 for log in folder.glob("checkpoint/commits/*") if log.name.isdigit())

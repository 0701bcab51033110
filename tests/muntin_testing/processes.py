"""Streams in processes of their own, which tests may kill."""

import os
import subprocess
import sys
from pathlib import Path

PATIENCE = 300
"""Seconds to wait for such a process before something must be wrong with it."""

TESTS = Path(__file__).parents[1]


def started(script: Path, folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """A script at work on a folder; what it prints goes to the file `log` there."""
    return launched(folder, str(script), str(folder), *arguments)


def launched(folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """Python with these arguments; what it prints goes to the file `log` of the folder."""
    paths = [str(TESTS.parent / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(each for each in paths if each)
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, *arguments],
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
            start_new_session=True,  # so that its JVM and Python workers die with it
        )

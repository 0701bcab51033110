"""The same rows on Spark Connect and on a cluster of several processes, each in its own process."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from muntin_testing.engine_cases import CASES, NOT_ON_OLD_CONNECT

SCRIPT = Path(__file__).with_name("engine_run.py")
WORK = Path(pyspark.__file__).parent / "work"


@pytest.fixture
def clean_work() -> Iterator[None]:
    """Executors of local-cluster write into the installed package: remove what is new there."""
    before = set(WORK.iterdir()) if WORK.exists() else set()
    yield
    for left in set(WORK.iterdir()) - before if WORK.exists() else ():
        shutil.rmtree(left, ignore_errors=True)
    if WORK.exists() and not any(WORK.iterdir()):
        WORK.rmdir()


@pytest.mark.usefixtures("clean_work")
@pytest.mark.long
@pytest.mark.parametrize("kind", ["connect", "cluster"])
def test_a_selection_has_sparks_own_rows(kind: str, tmp_path: Path) -> None:
    path = os.pathsep.join([str(SCRIPT.parents[3] / "src"), str(SCRIPT.parents[2])])
    done = subprocess.run(
        [sys.executable, str(SCRIPT), kind],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = [line.split("\t") for line in done.stdout.splitlines()]
    old = kind == "connect" and pyspark.__version__.startswith("4.0")
    refused = NOT_ON_OLD_CONNECT if old else ()
    expected = [["refused" if name in refused else "equal", name] for name in CASES]
    if kind == "connect":
        expected.append(["sentences", "for wrong input"])
    assert [words[:2] for words in said] == expected, done.stdout
    assert all(int(rows) > 20 for what, _, rows in said if what != "refused"), done.stdout
    assert "QueryContextLogger" not in done.stderr

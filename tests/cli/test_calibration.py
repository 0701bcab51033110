"""calibrate from the runs to the file; what Spark would do is left out."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from muntin.cli import calibration as module
from muntin.cli.calibration_cases import CASES
from muntin.cost.calibration import load
from muntin.cost.spark import KINDS


def test_runs_become_constants_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []

    def runner(plan: Any, events: Any) -> Callable[[], int]:
        def run() -> int:
            runs.append(plan.operator.name)
            return 0

        return run

    monkeypatch.setattr(module, "CASES", [c for c in CASES if c.name == "ten thousand rows"])
    monkeypatch.setattr(module, "cores_of", lambda spark: 3)
    monkeypatch.setattr(module, "make_table", lambda *table: None)
    monkeypatch.setattr(module, "runner", runner)
    spark: Any = SimpleNamespace(version="4.3.0")
    found, deviation = module.calibrate(spark, "nowhere", "local", Console(file=StringIO()), 2)
    assert {"window", "expand", "kernel"} <= set(runs)
    assert deviation >= 0
    assert sum(getattr(found.constants, kind) for kind in KINDS) > 0
    found.save(tmp_path / "constants.toml")
    kept = load(tmp_path / "constants.toml")
    assert kept.cores == 3
    assert kept.origin.startswith("measured here, 20")
    for kind in KINDS:
        assert getattr(kept, kind) == pytest.approx(getattr(found.constants, kind), rel=1e-3), kind

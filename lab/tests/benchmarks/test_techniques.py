"""The benchmark of techniques: complete, and its figures are of the right things."""

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from lab.benchmarks import techniques as times
from lab.benchmarks.techniques import measure, measure_multi, write
from muntin.incremental import TECHNIQUES


@pytest.mark.parametrize("aggregate", times.AGGREGATES)
def test_every_structure_and_kernel_is_measured(aggregate: str) -> None:
    found = measure(aggregate, (16,), 5_000, 1, 0.02, Console(file=io.StringIO()))
    techniques = {t.__name__ for t in TECHNIQUES.values()}
    if aggregate == "max":
        techniques.remove("PanesInv")
    assert {m.what for m in found} == techniques | {"kernel sliding"}
    for m in found:
        assert m.mean > 0
        assert m.bytes > 0
        assert m.passes > 0
        if not m.what.startswith("kernel"):
            spread = [m.lowest, m.p25, m.p50, m.p75, m.p99, m.highest]
            assert spread == sorted(each for each in spread if each is not None)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 65, 100])
@pytest.mark.parametrize("aggregate", times.AGGREGATES)
def test_kernels_answer_as_the_structures_do(aggregate: str, n: int) -> None:
    function, ufunc = times.AGGREGATES[aggregate]
    values = np.random.default_rng(n).integers(-9, 9, 300).astype(np.float64)  # sums are exact
    for kernel in times.kernels_found().values():
        bulk = kernel(values, n, ufunc).tolist()
        for name, make in times.techniques_of(function).items():
            window, answers = make([n]), []
            for value in values.tolist():
                window.slide(value)
                answers.append(window.query())
            assert answers[n - 1 :] == bulk, name


def test_bytes_are_those_of_what_is_held() -> None:
    make = times.techniques_of(times.AGGREGATES["max"][0])["TwoStacks"]
    window = make([1000])
    for value in np.random.default_rng(1).random(1000).tolist():
        window.slide(value)
    assert 32_000 <= times.bytes_held(window) <= 45_000  # 24 for a float, 8 for its place


@pytest.mark.long
def test_csv_and_pictures(tmp_path: Path) -> None:
    console = Console(file=io.StringIO())
    found = measure("max", (4, 16), 1_000, 1, 0.01, console)
    multi = measure_multi((4, 8), 0.01, console)
    write(found, multi, tmp_path, console)
    assert len((tmp_path / "techniques.csv").read_text().splitlines()) == 1 + len(found)
    assert len(multi) == 5 * 2
    assert len(list(tmp_path.glob("techniques_*.png"))) == 4

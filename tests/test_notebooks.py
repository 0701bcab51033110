"""The notebooks of the examples run, and show what is stored in them.

To renew the stored output after a change:
MUNTIN_RENEW=1 make test ARGS="-m 'not long' tests/test_notebooks.py"
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from muntin_testing.notebooks import run_cell

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.rglob("*.ipynb"))


def run(path: Path) -> dict[str, Any]:
    """Run all cells, compare what they show with what is stored, and give what they defined."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    renew = bool(os.environ.get("MUNTIN_RENEW"))
    names: dict[str, Any] = {}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, 1):
        shown = run_cell("".join(cell["source"]), names, number)
        if renew:
            cell["outputs"], cell["execution_count"] = shown, number
        assert cell["outputs"] == shown, f"cell {number} shows something else"
    if renew:
        whole = json.dumps(notebook, indent=1, ensure_ascii=False)
        path.write_text(f"{whole}\n", encoding="utf-8")
    return names


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem == "dashboard" else ())
        for path in NOTEBOOKS
    ],
)
def test_the_notebook_shows_what_is_stored_in_it(
    path: Path, request: pytest.FixtureRequest
) -> None:
    if "SparkSession" in path.read_text(encoding="utf-8"):
        request.getfixturevalue("compiled")  # a year of flights
        request.getfixturevalue("streams")  # the cells then take the session of the tests
    CHECKS[path.stem](run(path))


def check_late(names: dict[str, Any]) -> None:
    shown = {name: tuple(int(each.rstrip("%")) for each in found) for name, *found in names["rows"]}
    honest, planned, itself = shown.values()
    assert honest[0] == honest[1], "what was known is what is known in use"
    assert itself[0] > planned[0] > honest[0], "the worse the leak, the better it looks"
    assert itself[1] < planned[1] < honest[1], "and the worse it is"


def check_muntin(names: dict[str, Any]) -> None:
    assert names["outcome"].equal
    assert len(names["week"]) == 37


def check_dashboard(names: dict[str, Any]) -> None:
    assert names["live"] == len(names["counted"]) > 300, "the stream gives the rows of a batch"
    assert {tenant for _, tenant, *_ in names["worse"]} == {"globex"}


def check_fraud(names: dict[str, Any]) -> None:
    alarms = names["features"][names["features"].alarm]
    assert len(alarms) > 20
    assert alarms.stolen.mean() > 0.9


def check_papers(names: dict[str, Any]) -> None:
    assert names["shares"][0] >= 0.25, "the bound holds"
    stacks, ladder = list(names["stack_reads"](17, 6)), names["ladder_reads"](17, 6)
    for row, (older, newer) in enumerate(stacks):
        assert (older[0], (newer or older)[1]) == (row, row + 5)
    assert [(older[0], newer[1]) for older, newer in ladder] == [(i, i + 5) for i in range(12)]


CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "late": check_late,
    "muntin": check_muntin,
    "dashboard": check_dashboard,
    "fraud": check_fraud,
    "papers": check_papers,
}
"""What must hold of what a notebook found, by its name."""

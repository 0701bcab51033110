"""Pages that are written from the code are current."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from muntin.aggregates import FUNCTIONS

ROOT = Path(__file__).parents[1]
TOOLS = sorted((ROOT / "tools").glob("*_page.py"))


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.stem)
def test_the_page_is_current(path: Path) -> None:
    tool = loaded(path)
    written = tool.PAGE.read_text(encoding="utf-8")
    assert written == tool.page(), f"run .venv/bin/python tools/{path.name}"


def test_there_are_such_pages() -> None:
    assert len(TOOLS) >= 1


def test_every_aggregate_is_on_its_page() -> None:
    written = (ROOT / "docs/aggregates.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in written for name in FUNCTIONS)

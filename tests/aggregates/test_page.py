"""docs/aggregates.md says what the code does."""

import importlib.util
from pathlib import Path

from muntin.aggregates import FUNCTIONS

ROOT = Path(__file__).parents[2]


def test_the_page_is_current_and_names_every_aggregate() -> None:
    spec = importlib.util.spec_from_file_location("page", ROOT / "tools/aggregates_page.py")
    assert spec
    assert spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = tool.PAGE.read_text(encoding="utf-8")
    assert written == tool.page(), "run .venv/bin/python tools/aggregates_page.py"
    assert all(f"| `{name}` |" in written for name in FUNCTIONS)

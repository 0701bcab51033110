"""Pages that are written from the code are current, and every link leads somewhere."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import muntin
from muntin.aggregates import FUNCTIONS

ROOT = Path(__file__).parents[1]
TOOLS = sorted((ROOT / "tools").glob("*_page.py"))
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)(?P<page>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


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


def test_every_public_name_is_in_the_reference_once() -> None:
    written = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^::: muntin\.(\w+)$", written, re.MULTILINE)) == sorted(
        muntin.__all__
    )


def anchors(page: Path) -> set[str]:
    """What a link may name in a page, as the site and git hosts make it of the headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    slugs = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in HEADING.findall(text)}
    return slugs | set(re.findall(r"^::: (\S+)$", text, re.MULTILINE))


def broken(page: Path, text: str) -> list[str]:
    """The relative links of a text that lead nowhere, if it stood in place of the page."""
    wrong = []
    for link in LINK.finditer(CODE.sub("", text)):
        target = page.parent / link["page"] if link["page"] else page
        if not target.exists() or (link["anchor"] and link["anchor"] not in anchors(target)):
            wrong.append(link[0])
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page, page.read_text(encoding="utf-8")) == []


def test_a_link_that_leads_nowhere_is_found() -> None:
    right = "[a](docs/data-windows.md#on-a-stream) [b](#try-it) [c](docs) [d](https://x.org/#y)"
    wrong = "[e](docs/nothing.md) [f](docs/data-windows.md#on-a-streak) [g](#nowhere)"
    assert broken(ROOT / "README.md", right + " `[h](in/code.md)`") == []
    assert len(broken(ROOT / "README.md", wrong)) == 3


def test_pages_that_the_code_names_are_there() -> None:
    sources = [
        path for top in ("src", "lab", "tests", "tools") for path in (ROOT / top).rglob("*.py")
    ]
    named = {
        (page, str(path.relative_to(ROOT)))
        for path in (ROOT / "CHANGELOG.md", *sources)
        if path != Path(__file__)
        for page in re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8"))
    }
    assert len(named) >= 5
    assert [(page, where) for page, where in named if not (ROOT / page).exists()] == []

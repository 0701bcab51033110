"""The site of the documentation can be read without a network."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ELSEWHERE = re.compile(r"\s*(?:https?:)?//")
CSS = re.compile(r"(?:url\(|@import)\s*['\"]?\s*(?:https?:)?//[^)'\";]*")
LOADING = {"src", "srcset", "poster", "data", "background"}
"""Attributes whose address a browser loads by itself, whatever the element."""


class Loads(HTMLParser):
    """What a browser would load from elsewhere to show a page; hyperlinks are not among it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            loads = name in LOADING or (name == "href" and tag not in ("a", "area"))
            if loads and ELSEWHERE.match(value or ""):
                self.found.append(f"{tag} {name}={value}")
            if name == "style":
                self.found += CSS.findall(value or "")
            if name == "class" and "mermaid" in (value or "").split():
                self.found.append("a Mermaid diagram, whose script the theme would load")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "style":
            self.found += CSS.findall(data)


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<script src="//cdn.example/x.js"></script>',
        '<link rel="preconnect" href="https://fonts.example" crossorigin>',
        '<link rel="stylesheet" href="http://fonts.example/css">',
        '<img src="https://images.example/x.png">',
        '<img srcset="https://images.example/x.png 2x">',
        "<style>@import 'https://fonts.example/css';</style>",
        '<p style="background: url(https://images.example/x.png)">',
        '<pre class="mermaid">graph</pre>',
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(page: str) -> None:
    assert len(Loads(page).found) == 1


def test_hyperlinks_and_own_files_may_be() -> None:
    page = '<a href="https://example.org">x</a><script src="assets/x.js"></script><svg xmlns="http://www.w3.org/2000/svg">'
    assert Loads(page).found == []


def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    pages = list(tmp_path.rglob("*.html"))
    styles = [*tmp_path.rglob("*.css"), *tmp_path.rglob("*.svg")]
    assert len(pages) > 20
    assert styles
    found = {page.name: Loads(page.read_text(encoding="utf-8")).found for page in pages}
    found |= {style.name: CSS.findall(style.read_text(encoding="utf-8")) for style in styles}
    assert {name: what for name, what in found.items() if what} == {}
    assert (tmp_path / "search" / "search_index.json").stat().st_size > 10_000

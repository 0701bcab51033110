"""Notebooks as pages of the site, with their stored outputs: a hook of mkdocs.

The notebooks lie in examples/; nothing of them is copied into docs/. A page of docs links to a
notebook as a file, which holds on git hosts, and on the site leads to the page made of it.
"""

from __future__ import annotations

import json
import re
from os.path import relpath
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
NOTEBOOKS = {
    f"notebooks/{path.stem}.md": path for path in sorted((ROOT / "examples").rglob("*.ipynb"))
}
"""Every notebook of the examples, by the page that it becomes."""
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(#[^)\s]+)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook, and its pictures beside it."""
    for name, notebook in NOTEBOOKS.items():
        text, pictures = render(notebook, name)
        files.append(File.generated(config, name, content=text))
        for picture, svg in pictures.items():
            files.append(File.generated(config, f"notebooks/{picture}", content=svg))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to notebooks lead to their pages."""
    if page.file.src_uri in NOTEBOOKS:
        return markdown
    return relink(markdown, ROOT / "docs" / page.file.src_uri, page.file.src_uri)


def render(notebook: Path, name: str) -> tuple[str, dict[str, str]]:
    """The notebook as Markdown, and its pictures by name."""
    parts: list[str] = []
    pictures: dict[str, str] = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(relink(source, notebook, name))
            continue
        parts.append(f"```py\n{source}\n```")
        for output in cell["outputs"]:
            shown = output.get("data", {"text/plain": output.get("text")})
            if "image/svg+xml" in shown:
                picture = f"{notebook.stem}-{len(pictures) + 1}.svg"
                pictures[picture] = "".join(shown["image/svg+xml"])
                parts.append(f"![{_caption(cell)}]({picture})")
            else:
                parts.append(_text(shown))
    where = notebook.relative_to(ROOT)
    parts.insert(1, f"*This page is the notebook `{where}`, with the output of its last run.*")
    return "\n\n".join(parts) + "\n", pictures


def _text(shown: dict[str, list[str]]) -> str:
    if "text/html" in shown:
        return f'<div class="notebook-output">{"".join(shown["text/html"])}</div>'
    return f"```text\n{''.join(shown['text/plain']).rstrip()}\n```"


def _caption(cell: dict[str, Any]) -> str:
    """What a cell says about its picture, in its metadata."""
    return str(cell["metadata"].get("caption", "a chart"))


def relink(text: str, at: Path, page: str) -> str:
    """The text of a file with links as they must be on a page of the site."""
    pages = {path: name for name, path in NOTEBOOKS.items()}

    def moved(link: re.Match[str]) -> str:
        target = (at.parent / link[1]).resolve()
        docs = ROOT / "docs"
        if target in pages:
            place = pages[target]
        elif at.suffix == ".ipynb" and target.is_relative_to(docs):
            place = target.relative_to(docs).as_posix()
        else:
            return link[0]
        return f"]({relpath(place, Path(page).parent)}{link[2] or ''})"

    return LINK.sub(moved, text)

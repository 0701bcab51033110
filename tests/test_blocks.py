"""Every block of code on a page is run, or at least read by a test."""

import re
from pathlib import Path

import pytest

from muntin_testing.page_blocks import (
    PAGES,
    ROOT,
    Block,
    blocks,
    unfenced,
    wrong_commands,
    wrong_keys,
    wrong_python,
    wrong_sql,
)

READ = {"py": wrong_python, "sh": wrong_commands, "toml": wrong_keys, "sql": wrong_sql}
"""What reads a block that nothing runs, by its language."""

FREE_TEXT = {
    "docs/control.md": "what examples/control/control.py prints",
    "docs/experiments.md": "what experiments of minutes printed",
    "docs/sharing.md": "a drawing",
    "docs/techniques.md": "what an experiment printed",
}
"""Pages with blocks of text that are not the output of the block before, and what these are."""


def is_run(block: Block) -> bool:
    """Whether tests/test_readme.py runs it: Python of the README and of docs."""
    return block.language == "python" and not block.page.startswith("examples/")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_is_run_or_read(page: Path) -> None:
    before: Block | None = None
    for block in blocks(page):
        where = f"{block.page}:{block.line}"
        if block.language in ("text", "sql") and before is not None and is_run(before):
            pass  # compared with what the block before prints
        elif block.language == "text":
            assert block.page in FREE_TEXT, f"{where}: nothing checks this text"
        elif not is_run(block):
            language = {"python": "py"}.get(block.language, block.language)
            assert language in READ, f"{where}: say what it is: python, py, sh, toml, sql, text"
            assert READ[language](block.code) == [], where
        before = block


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_is_fenced(page: Path) -> None:
    assert unfenced(page.read_text(encoding="utf-8")) == []


def test_commands_in_sentences_exist() -> None:
    found = {
        (command, str(page.relative_to(ROOT)))
        for page in PAGES
        for command in re.findall(r"`((?:make|muntin) [a-z][^`\n]*)`", page.read_text("utf-8"))
    }
    assert len(found) > 30
    assert [(wrong_commands(c), where) for c, where in found if wrong_commands(c)] == []


def test_what_is_wrong_is_found() -> None:
    assert wrong_python("mt.agregate(df, time='ts')") == ["there is no mt.agregate"]
    assert wrong_python("mt.sinks.postgres(dsn, 't', keys=['a'])") == [
        "mt.sinks.postgres takes no keys"
    ]
    assert wrong_python("mt.aggregate(df, time='ts', watermark='1 hour', rows=3)") == []
    assert wrong_python("query = results...start()")[0].startswith("no Python")
    assert wrong_commands("make tests && pip install '.[sparc]'") == [
        "make has no target tests",
        "there is no extra sparc",
    ]
    assert wrong_commands("muntin run job.toml --mastr local") == [
        "muntin run has no option --mastr"
    ]
    assert wrong_commands("muntin walk\npython examples/none.py") == [
        "muntin has no command walk",
        "there is no file examples/none.py",
    ]
    assert wrong_keys('[source]\nfromat = "csv"\n[drain]\n') == [
        "[source] has no key fromat",
        "a job has no section [drain]",
    ]
    assert wrong_sql("SELECT FROM WHERE (")[0].startswith("no SQL")
    assert unfenced("Text:\n\n    plan = mt.optimize(query)\n\nmore") == [
        "plan = mt.optimize(query)"
    ]
    assert unfenced("Text:\n\n    r = 3\n") == []

"""README and docs say what is true: their code runs, and prints what the page shows.

To renew the shown output after a change: MUNTIN_RENEW=1 make test ARGS=tests/test_readme.py
"""

import doctest
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").rglob("*.md")))]
BLOCK = re.compile(
    r"```python\n(?P<code>.*?)```\n(?:```(?:text|sql)\n(?P<shown>.*?)```\n)?", re.DOTALL
)
STATE = "spark.sql.streaming.stateStore.providerClass"
"""A page may say where streams keep their state."""


@pytest.fixture
def names(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """What the examples may use without making it: Spark, flights, files of them, a server."""
    import muntin as mt

    spark = request.getfixturevalue("spark")
    flights = mt.demo_flights(spark)
    folder = request.getfixturevalue("tmp_path") / "arriving"
    flights.where("to_date(departure) = '2013-07-04'").coalesce(1).write.parquet(str(folder))
    before = spark.conf.get(STATE)
    given = {"mt": mt, "spark": spark, "flights": flights, "folder": str(folder)}
    if request.node.callspec.params["page"] == "docs/sinks.md":
        given["dsn"] = request.getfixturevalue("postgres").dsn
    yield given
    spark.conf.set(STATE, before)


def printed(code: str, names: dict[str, Any]) -> str:
    out = StringIO()
    with redirect_stdout(out):
        exec(compile(code, "example", "exec"), names)
    return "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search((ROOT / p).read_text())])
def test_examples_print_what_the_page_shows(page: str, names: dict[str, Any]) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    renewed, done = "", 0
    for block in BLOCK.finditer(text):
        if block["code"].startswith(">>>"):
            continue  # checked as a doctest below
        answer = printed(block["code"], names)
        if not os.environ.get("MUNTIN_RENEW"):
            assert answer == (block["shown"] or "").strip()
        elif block["shown"] is not None:
            renewed += text[done : block.start("shown")] + answer + "\n"
            done = block.end("shown")
    if done:
        (ROOT / page).write_text(renewed + text[done:], encoding="utf-8")


@pytest.mark.parametrize("page", [p for p in PAGES if ">>> " in (ROOT / p).read_text()])
def test_sessions_in_pages_are_doctests(page: str) -> None:
    result = doctest.testfile(str(ROOT / page), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0

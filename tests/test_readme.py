"""README and docs say what is true: their code runs, and prints what the page shows.

Code that cannot run here, because it needs a lake or a broker, is a block of `py` instead of
`python`: tests/test_blocks.py reads it.

To renew the shown output after a change:
MUNTIN_RENEW=1 make test ARGS="-m 'not long' tests/test_readme.py"
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
SETTINGS = (
    "spark.sql.streaming.stateStore.providerClass",
    "spark.sql.shuffle.partitions",
    "spark.sql.session.timeZone",
)
"""A page may say where streams keep their state, and how its session is made."""
STREAMS = ("alerts", "as-of", "dashboards", "data-windows", "history", "sinks")
"""Pages that start several streams: `make test-slow` runs them."""


@pytest.fixture
def names(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """What the examples may use without making it: Spark, flights, files of them, a server."""
    import muntin as mt

    spark = request.getfixturevalue("compiled")  # flights are a year of rows
    flights = mt.demo_flights(spark)
    folder = request.getfixturevalue("tmp_path") / "arriving"
    flights.where("to_date(departure) = '2013-07-04'").coalesce(1).write.parquet(str(folder))
    before = {name: spark.conf.get(name) for name in SETTINGS}
    given = {"mt": mt, "spark": spark, "flights": flights, "folder": str(folder)}
    page = (ROOT / request.node.callspec.params["page"]).read_text(encoding="utf-8")
    if any("dsn" in block["code"] for block in BLOCK.finditer(page)):
        given["dsn"] = request.getfixturevalue("postgres").dsn
    yield given
    for name, setting in before.items():
        spark.conf.set(name, setting)


def printed(code: str, names: dict[str, Any]) -> str:
    out = StringIO()
    with redirect_stdout(out):
        exec(compile(code, "example", "exec"), names)
    return "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, marks=pytest.mark.slow if Path(p).stem in STREAMS else ())
        for p in PAGES
        if BLOCK.search((ROOT / p).read_text())
    ],
)
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

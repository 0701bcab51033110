"""Golden plans: every strategy over telling sets of windows, as explain() shows the tree.

A change of a plan is seen here as a change of text, and judged by whoever reads it. After a change
that is meant: `make golden` writes the texts anew. Statistics are pinned and no seconds printed, so
the texts are the same on every machine.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import muntin as mt
from muntin.api.optimize import optimize_with
from muntin.cost import Statistics
from muntin.model.choices import Engine
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.planner.options import Options
from muntin.planner.strategies import STRATEGIES
from muntin.report.text import tree

FIXTURES = Path(__file__).parent / "fixtures"
KNOWN = Statistics(rows=1e7, keys=100, rate=1000)
ENGINES: tuple[Engine, ...] = ("spark", "stream", "sql")


def w(*texts: str) -> list[Window]:
    """Windows as "range" or "range/slide", with "@offset"."""
    found = []
    for text in texts:
        lengths, _, offset = text.partition("@")
        length, _, slide = lengths.partition("/")
        found.append(mt.hopping(length, slide or length, offset=offset or "0 seconds"))
    return found


SUM, MAX = [mt.sum("v")], [mt.max("v")]
SETS: dict[str, Query] = {
    "one tumbling": mt.query("t", w("1 minute"), SUM),
    "one hopping": mt.query("t", w("1 day/1 minute"), SUM),
    "five everyday": mt.query(
        "t",
        w("1 minute", "5 minutes/1 minute", "1 hour/5 minutes", "1 day", "7 days/1 hour"),
        [mt.count(), mt.avg("v"), mt.max("v")],
        keys="k",
    ),
    "day of hours": mt.query("t", w("1 hour/5 minutes", "1 day"), SUM),
    "tumbling chain": mt.query("t", w("10 s", "20 s", "30 s", "40 s", "2 minutes"), MAX),
    "overlapping maxima": mt.query("t", w("10 s/2 s", "8 s/2 s", "30 s/4 s"), MAX),
    "same slide": mt.query("t", w("5 min/1 min", "15 min/1 min", "1 h/1 min", "24 h/1 min"), SUM),
    "uneven": mt.query("t", w("14 s/8 s", "12 s/4 s", "25 s/10 s"), SUM),
    "unrelated": mt.query("t", w("7 s/5 s", "11 s/3 s", "13 s"), SUM),
    "offsets": mt.query("t", w("1 h/10 min@5 min", "1 h/10 min", "2 h@30 min"), SUM),
    "weavable": mt.query("t", w("12 s/9 s", "10 s/6 s", "1 min/18 s", "50 s/7 s"), SUM),
    "nested": mt.query(
        "t", w("1 h/10 s", "100 min/10 s", "150 min/20 s", "250 min/20 s"), SUM, keys="k"
    ),
    "ladder": mt.query("t", w("1 day/1 min", "7 days/1 h", "28 days/1 day"), SUM, keys="k"),
}


def described(query: Query) -> str:
    """The trees of all strategies on every engine; strategies with one tree stand together."""
    parts = [", ".join(window.id for window in query.windows)]
    for engine in ENGINES:
        trees: dict[str, list[str]] = {}
        for name in ["auto", *STRATEGIES]:
            options = Options(name, KNOWN, engine=engine)
            plan = optimize_with(query, options)
            text = "\n".join([plan.operator.name, *tree(plan.explanation(), figures=False)])
            trees.setdefault(text, []).append(name)
        parts += [f"{engine}: {', '.join(names)} by {text}" for text, names in trees.items()]
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize("name", SETS)
def test_plans_are_those_that_were_read(name: str) -> None:
    file = FIXTURES / f"{name.replace(' ', '_')}.txt"
    text = described(SETS[name])
    if os.environ.get("MUNTIN_GOLDEN") == "write":
        FIXTURES.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), "see what changed, then `make golden`"


def test_no_text_is_left_over() -> None:
    assert {file.stem for file in FIXTURES.iterdir()} == {name.replace(" ", "_") for name in SETS}


def test_plans_do_not_depend_on_the_order_of_sets() -> None:
    """Python's hashes differ from process to process: no plan may."""
    code = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from plan.test_golden import SETS, described\n"
        "print(described(SETS['five everyday']) + described(SETS['weavable']))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1

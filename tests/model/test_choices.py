"""Words of options: types and registries agree, every option has its type, mypy refuses typos."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from inspect import Parameter
from pathlib import Path
from typing import get_args

import pytest

from muntin.api.engine import EMPTY, LAYOUTS
from muntin.cost.omega import PAPER
from muntin.dialects import WRITERS
from muntin.model import choices
from muntin.model.queries import DELIVERIES
from muntin.model.query import BOUNDS
from muntin.nesting.manager import GROUPINGS
from muntin.physical import BATCH, IN_PROCESS, OPERATORS, STREAM
from muntin.physical.due_techniques import TECHNIQUES
from muntin.plan.slicing import SLICINGS
from muntin.planner.strategies import STRATEGIES
from muntin_testing.public_api import public_calls

TYPES = {name: kind for name, kind in vars(choices).items() if get_args(kind)}
ROOT = Path(__file__).parents[2]

REGISTRIES = {
    "Strategy": {"auto", *STRATEGIES},
    "Technique": {"slick-deque", *PAPER},
    "DueTechnique": {"auto", *TECHNIQUES},
    "Slicing": set(SLICINGS),
    "Engine": set(OPERATORS),
    "BatchOperator": {o.name for o in BATCH if o.aggregates},
    "StreamOperator": {o.name for o in STREAM if o.aggregates},
    "InProcessOperator": {o.name for o in IN_PROCESS},
    "Layout": set(LAYOUTS),
    "Empty": set(EMPTY),
    "Deliver": set(DELIVERIES),
    "Bounds": set(BOUNDS),
    "Dialect": set(WRITERS),
    "Grouping": set(GROUPINGS),
}
NAMES = {"id", "origin", "result", "table"}
"""Options whose default is a text that users choose freely."""


@pytest.mark.parametrize("name", REGISTRIES)
def test_types_have_the_words_of_what_implements_them(name: str) -> None:
    assert set(get_args(TYPES[name])) == REGISTRIES[name]


def _options() -> Iterator[tuple[str, str, Parameter]]:
    """Every option of every public function, with a call in which it is wrong."""
    for call in public_calls():
        for name, parameter in call.options.items():
            required = [
                f"{other}=any"
                for other, each in call.options.items()
                if each.default is Parameter.empty
                and other != name
                and each.kind != each.VAR_KEYWORD
            ]
            given = ", ".join([*required, f'{name}="wyde"'])
            yield f"{call.typed}({given})", name, parameter


def _is_choice(parameter: Parameter) -> bool:
    return bool({*TYPES, "Literal"} & set(re.findall(r"\w+", str(parameter.annotation))))


def test_every_option_that_takes_a_word_has_its_type() -> None:
    plain = {
        call
        for call, name, parameter in _options()
        if isinstance(parameter.default, str)
        and re.search(r"\bstr\b", str(parameter.annotation))
        and name not in NAMES
    }
    assert not plain


@pytest.mark.slow
def test_mypy_refuses_a_misspelt_word_of_every_option_and_a_misspelt_name(tmp_path: Path) -> None:
    calls = [call for call, _, parameter in _options() if _is_choice(parameter)]
    assert len(calls) > 30
    calls.append('mt.tumblin("1 hour")')
    right = ['mt.optimize(query, "wcg", technique="panes")']
    parts = "time=any, windows=any, aggregates=any"
    right += [f'mt.aggregate(any, {parts}, layout="wide")', f"mt.explain(any, {parts})"]
    right += [f'mt.aggregate(any, {parts}, output="update", watermark="1 hour")']
    right += ['mt.aggregate(any, queries=any, deliver="dict", strategy="wcg")']
    head = ["from typing import Any", "import muntin as mt", "def f(any: Any, plan: mt.Plan,"]
    head[2] += " plans: mt.Plans, query: mt.Query) -> None:"
    snippet = tmp_path / "snippet.py"
    snippet.write_text("\n".join([*head, *(f"    {call}" for call in [*calls, *right])]))
    found = subprocess.run(  # from the root: what `make check` has analysed is known there
        [sys.executable, "-m", "mypy", str(snippet)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    lines = {int(n) for n in re.findall(r"snippet\.py:(\d+): error", found.stdout)}
    refused = {number for number, _ in enumerate(calls, start=len(head) + 1)}
    assert lines == refused, found.stdout + found.stderr

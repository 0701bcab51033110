"""Operators as objects: every one has both halves, what it runs is what it rewrote, and the docs'
matrix of strategies and operators says which rewrites change a plan."""

import importlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.api.optimize import optimize_with
from muntin.cli.calibration_cases import MIXED, OVERLAP, minute_windows
from muntin.cost import Statistics
from muntin.model.choices import Engine
from muntin.model.windows import Window
from muntin.physical import BATCH, OPERATORS, STREAM, Operator, Question, lower
from muntin.physical.operators.arrays import ARRAYS
from muntin.physical.operators.bucketed import BUCKETED
from muntin.physical.operators.controlled import CONTROLLED
from muntin.physical.operators.counted import Counted
from muntin.physical.operators.expand import EXPAND
from muntin.physical.operators.kernel import KERNEL
from muntin.physical.operators.native import NATIVE
from muntin.physical.operators.rows import ROWS
from muntin.physical.operators.sql import SQL
from muntin.physical.operators.window import WINDOW
from muntin.plan import check
from muntin.planner.options import Options
from muntin.planner.search import NOT_WORTH_IT
from muntin.planner.strategies import STRATEGIES, Problem
from muntin_testing.reached import Reached
from muntin_testing.windows import window_sets
from plan.test_golden import KNOWN, SETS

ROOT = Path(__file__).parents[2]
FORTY = minute_windows(*((slide * n, slide) for slide in (1, 2, 3, 5) for n in range(2, 12)))
ALL = {operator.name: operator for operator in (*BATCH, *STREAM)}
PERIODIC: tuple[Operator, ...] = (
    *(WINDOW, EXPAND, KERNEL, ROWS),
    *(NATIVE, BUCKETED, CONTROLLED),
    *(SQL, ARRAYS),
)
IN_WORDS = {
    "close": "slices closed",
    "refine": "fragments first",
    "slice_roots": "first level sliced",
    "unshare": "taken apart",
    "share_one_set": "one set of slices",
}


@pytest.mark.parametrize("name", ALL)
def test_an_operator_is_two_files_of_one_name(name: str) -> None:
    engine = importlib.import_module(f"muntin.engines.spark.operators.{name}")
    own = importlib.import_module(f"muntin.physical.operators.{name}")
    assert callable(engine.run)
    assert getattr(own, name.upper()) is ALL[name]
    assert ALL[name].card[0].islower() or ALL[name].card[0].isupper()
    assert ALL[name].card[-1] != "."


def test_names_of_operators_are_asked_for_nowhere_else() -> None:
    """What an operator does is asked of the object: no code compares its name."""
    compared = re.compile(r"\b(o|operator)\.name (==|in|!=)|\.reason ==")
    found = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in (ROOT / "src").rglob("*.py")
        for line in file.read_text(encoding="utf-8").split("\n")
        if compared.search(line)
    ]
    assert found == []


def rewritten_by(operator: Operator, strategy: str) -> set[str]:
    """The rewrites of an operator that change some plan of a strategy."""
    found = set()
    for name, query in SETS.items():
        if name == "one tumbling":
            continue  # where nothing is shared, native copies rows, as the docs say below the table
        question = Question(query, KNOWN)
        problem = Problem(query.windows, query.idempotent, operator.surrogate(question))
        plan = STRATEGIES[strategy](problem)
        for rewrite in operator.rewrites(question):
            after = rewrite(plan)
            check(after, query.windows)
            if after != plan:
                found.add(rewrite.__name__)
            plan = after
        assert operator.rewrite(plan, question) == plan, "rewrites are idempotent"
        assert lower(plan).plan == plan
    return found


def matrix() -> str:
    """The table of docs/operators.md."""
    lines = ["| strategy | " + " | ".join(f"`{o.name}`" for o in PERIODIC) + " |"]
    lines += ["|---" * (len(PERIODIC) + 1) + "|"]
    for strategy in STRATEGIES:
        cells = [rewritten_by(operator, strategy) for operator in PERIODIC]
        words = [
            ", ".join(sorted(IN_WORDS[each] for each in cell)) or "as planned" for cell in cells
        ]
        lines.append(f"| {strategy} | {' | '.join(words)} |")
    return "\n".join(lines)


def test_the_matrix_of_the_docs_is_true() -> None:
    page = (ROOT / "docs/operators.md").read_text(encoding="utf-8")
    assert matrix() in page, matrix()


def test_auto_predicts_no_more_than_any_pair_that_it_tried() -> None:
    reached = Reached()

    @given(
        asked=window_sets(most=5, longest=240),
        engine=st.sampled_from(["spark", "stream", "sql", "duckdb"]),
        keys=st.sampled_from([1, 100, 20_000]),
        rows=st.sampled_from([1e4, 1e7, 1e9]),
        idempotent=st.booleans(),
    )
    def each(
        asked: list[Window], engine: Engine, keys: float, rows: float, idempotent: bool
    ) -> None:
        seconds = [mt.Window(w.range * 10**6, w.slide * 10**6, w.offset * 10**6) for w in asked]
        aggregates = [mt.max("v")] if idempotent else [mt.avg("v"), mt.count()]
        query = mt.query("t", seconds, aggregates, keys="k")
        known = Statistics(rows, keys, 1000)
        options = Options("auto", known, engine=engine)
        chosen = optimize_with(query, options)
        unworthy = {a.strategy for a in chosen.alternatives if a.note == NOT_WORTH_IT}
        for operator in OPERATORS[engine]:
            for strategy in ("direct", "shared-pairs", "wcg", "steiner", "tri-weave"):
                try:
                    forced = Options(strategy, known, operator=operator.name, engine=engine)
                    other = optimize_with(query, forced)
                except mt.MuntinError:
                    continue
                least = operator.least(options.question(query)) * (1 - 1e-9)
                assert least <= other.seconds, (strategy, operator)
                reached["close to the least"] += other.seconds < 1.05 * least
                runs = operator.chosen and (operator.shares or strategy == "direct")
                if runs and strategy not in unworthy:
                    assert chosen.seconds <= other.seconds * (1 + 1e-9), (strategy, operator)
        reached["planned to the end"] += not unworthy
        tried = [a.seconds for a in chosen.alternatives if a.seconds is not None]
        assert chosen.seconds == min(tried)
        reached[chosen.operator.name] += 1

    each()
    reached.at_least(2, "kernel", "expand", "native", "bucketed", "sql")
    reached.at_least(1, "arrays", "planned to the end")
    reached.at_least(50, "close to the least")


@pytest.mark.parametrize("windows", [MIXED, OVERLAP], ids=["mixed", "overlap"])
def test_no_plan_is_predicted_to_take_less_than_the_least(windows: tuple[Window, ...]) -> None:
    """Planning leaves an operator out by its least, which must bound all of its plans."""
    query = mt.query("ts", windows, [mt.min("v"), mt.avg("v")], keys="k")
    bounded = 0
    for keys, rows in ((1, 1e5), (100, 5e6), (20_000, 5e6)):
        known = Statistics(rows, keys, 100.0)
        for strategy in ("direct", "shared-pairs", "wcg", "unshared-panes"):
            for operator in (EXPAND, WINDOW, KERNEL):
                plan = optimize_with(query, Options(strategy, known, operator=operator.name))
                least = operator.least(Question(query, known))
                assert 0 < least <= plan.seconds * (1 + 1e-9)
                bounded += least > 0.5 * plan.seconds
    assert bounded, "a bound that is never near bounds nothing"


def test_what_cannot_win_is_not_planned_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """With much overlap expand's results alone take longer than the kernel; the choice stays."""
    query = mt.query("ts", FORTY, [mt.avg("v")], keys="k")
    known = Statistics(5e9, 100, 1e5)  # so much that no strategy is left out
    pruned = mt.optimize(query, statistics=known)
    monkeypatch.setattr(Counted, "least", Operator.least)
    whole = mt.optimize(query, statistics=known)
    assert pruned.operator is whole.operator
    assert pruned.seconds < 1.005 * whole.seconds
    steps = [sum(each.steps for each in plan.alternatives) for plan in (pruned, whole)]
    assert steps[0] < steps[1]

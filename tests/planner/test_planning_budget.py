"""The planning budget: counted work bounds planning, whatever the windows, on every machine."""

import sys
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from lab.benchmarks.planning import HOSTILE, hostile_windows
from muntin.cost import RateCost
from muntin.errors import BudgetError
from muntin.model.durations import LONGEST
from muntin.plan.slicing.edges import forget
from muntin.planner.search import NOT_WORTH_IT
from muntin.planner.strategies import SHARES, STRATEGIES, Problem, budget_for
from muntin.planner.strategies.coverage.wcg import wcg
from muntin_testing.reached import drawn

MINUTE = 60_000_000
UNITS = (1, 7, 1_000, 999_983, 1_000_000, MINUTE, 3_600_000_000, 604_800_000_000, 10**12 + 39)
VAST = mt.Statistics(rows=1e15, keys=1e6, rate=1.0)
"""So much that no plan takes too long to find."""
CALLS_A_STEP = 4
"""Calls of Python functions for each step of the budget: a step is about a microsecond."""
WORST = (
    (124_994_923_200, 171_460_800, 164_920_315),
    (785_556_012_886_991, 636_061_301_828_625, 465_925_731_712_610),
    (13_068_000, 27_000, 17_013),
    (426_287_517_422, 60_000_000, 16_962_708),
    (665_400_000_000, 665_400_000_000, 0),
    (2_700_000, 1_350_000, 1_022_329),
    (1_180_852_589_376_473, 978_055_664_806_040, 553_784_876_053_932),
    (3_343_485_600_000, 51_438_240_000, 24_802_998_434),
    (586_314_002_303_897, 116_095_034_622_810, 90_856_721_755_566),
    (87_480_000, 180_000, 143_390),
    (13_288_212_000, 15_876_000, 8_394_465),
    (300_056_400_000, 396_900_000, 219_295_137),
    (373_086_852_129, 13_818_000_007, 7_841_249_061),
    (206_482_234_029_851, 26_329_603_185_361, 17_599_824_386_019),
    (1_225_406_914_683_052, 756_320_334_671_739, 694_432_525_244_038),
    (11_862_944_100_000, 16_074_450_000, 4_277_859_672),
    (1_363_920_258_740_620, 661_278_894_609_799, 203_498_342_716_023),
    (1_483_609_565_961_921, 773_319_984_067_382, 47_131_761_911_258),
    (5_592_091_115_520, 12_290_310_144, 10_279_777_455),
    (258_852_789_651_961, 218_705_375_316_594, 130_976_812_206_525),
)
"""Range, slide and offset of the twenty windows, of hundreds of sets, that take most steps."""


def worst() -> tuple[mt.Window, ...]:
    return tuple(mt.Window(*shape) for shape in WORST)


def query(windows: tuple[mt.Window, ...] | list[mt.Window], idempotent: bool = True) -> mt.Query:
    return mt.query("ts", list(windows), [mt.max("v") if idempotent else mt.sum("v")])


def limit(name: str, windows: int) -> float:
    return budget_for(windows, SHARES.get(name, 1)).limit


@st.composite
def adversarial(draw: st.DrawFn) -> mt.Window:
    """Any window: any unit, prime or not, uneven or not, an offset of microseconds or none."""
    slide = draw(st.sampled_from(UNITS)) * draw(st.integers(1, 720)) + draw(st.sampled_from((0, 1)))
    most = min(5_000, LONGEST // slide - 1)
    length = slide * draw(st.integers(1, most)) + draw(st.sampled_from((0, 0, 1, slide // 3)))
    return mt.Window(length, slide, draw(st.sampled_from((0, 0, 1, slide // 2, slide - 1))) % slide)


def adversarial_sets(count: int) -> st.SearchStrategy[list[mt.Window]]:
    return st.lists(adversarial(), min_size=count, max_size=count, unique=True)


def calls(work: Callable[[], mt.Plan]) -> tuple[mt.Plan, int]:
    """How many functions are called: a count of work that the budget knows nothing of."""
    counted = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        plan = work()
    finally:
        sys.setprofile(None)
    return plan, counted


def test_any_windows_keep_to_the_budget() -> None:
    seen: Counter[str] = Counter()

    @given(st.sampled_from((2, 6, 12, 20)).flatmap(adversarial_sets), st.booleans())
    @drawn(10)
    def keep_to_the_budget(windows: list[mt.Window], idempotent: bool) -> None:
        plan = mt.optimize(query(windows, idempotent))
        assert {a.strategy for a in plan.alternatives} == set(STRATEGIES)
        for a in plan.alternatives:
            assert 0 <= a.steps <= limit(a.strategy, len(windows))
            seen["planned" if a.cost is not None else a.note.split(":")[0]] += 1
        seen["ten or more"] += len(windows) >= 10

    keep_to_the_budget()
    assert seen["ten or more"] >= 3, seen
    assert seen["planned"] >= 60, seen
    assert seen["left out"] >= 3, seen


@pytest.mark.parametrize("kind", [*HOSTILE, "worst"])
def test_counted_steps_stand_for_the_work_that_is_done(kind: str) -> None:
    windows = worst() if kind == "worst" else hostile_windows(kind, 20, seed=2)
    forget()
    plan, made = calls(lambda: mt.optimize(query(windows, idempotent=False)))
    steps = sum(a.steps for a in plan.alternatives)
    assert steps <= sum(limit(name, 20) for name in STRATEGIES)
    assert made <= CALLS_A_STEP * (steps + 50_000), f"{made:,} calls for {steps:,} steps"


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("odd ranges", 300),
        pytest.param("odd ranges", 1_000, marks=pytest.mark.slow),
        *(pytest.param(k, 1_000, marks=pytest.mark.long) for k in HOSTILE if k != "odd ranges"),
    ],
)
def test_a_thousand_windows_keep_to_the_budget(kind: str, count: int) -> None:
    windows = hostile_windows(kind, count)
    plan = mt.optimize(query(windows), statistics=VAST)
    found = {a.strategy: a for a in plan.alternatives}
    assert all(a.steps <= limit(a.strategy, count) for a in plan.alternatives)
    assert all(found[name].cost for name in ("direct", "shared-pairs", "cutty", "wcg", "subsume"))
    left_out = [a.strategy for a in plan.alternatives if a.note.startswith("left out")]
    assert {"contiguous", "pairing", "local-search"} <= set(left_out)
    assert "left out: over the planning budget of 100,000 steps" in plan.explain()


def test_a_search_takes_no_longer_than_it_could_save() -> None:
    windows = hostile_windows("odd ranges", 100)
    small, large = (
        mt.optimize(query(windows), statistics=mt.Statistics(rows=rows, keys=10, rate=1))
        for rows in (1e4, 1e14)
    )
    steps = [sum(a.steps for a in plan.alternatives) for plan in (small, large)]
    assert steps[0] < steps[1] / 2
    left_out = [{a.strategy for a in p.alternatives if a.note} for p in (small, large)]
    assert left_out[1] < left_out[0], "what is worth more is planned for longer"
    assert NOT_WORTH_IT in small.explain()
    assert NOT_WORTH_IT not in large.explain()


def test_what_was_planned_before_changes_nothing() -> None:
    windows = hostile_windows("microsecond offsets", 12)

    def outcome() -> list[tuple[str, float | None, int, str]]:
        plan = mt.optimize(query(windows, idempotent=False))
        return [(a.strategy, a.cost, a.steps, a.note) for a in plan.alternatives]

    forget()
    cold = outcome()
    for seed in range(3):
        others = hostile_windows("microsecond offsets", 12, seed + 5)
        mt.optimize(query(list(dict.fromkeys(others[:6] + windows[:6]))))
    assert outcome() == cold


def test_a_named_strategy_over_its_budget_is_refused_with_a_sentence() -> None:
    windows = hostile_windows("microsecond offsets", 400)
    with pytest.raises(BudgetError, match=r"'contiguous' is over the planning budget of .* steps"):
        mt.optimize(query(windows), "contiguous")


def test_a_named_strategy_may_take_more_than_auto_allows() -> None:
    windows = hostile_windows("giants", 16)
    plan = mt.optimize(query(windows), statistics=VAST)
    tried = {a.strategy: a for a in plan.alternatives}
    assert tried["weave-plus"].note.startswith("left out: over the planning budget")
    named = mt.optimize(query(windows), "weave-plus")
    assert limit("weave-plus", 16) < {a.strategy: a.steps for a in named.alternatives}["weave-plus"]


@pytest.mark.parametrize("count", [5, 8, 20])
@pytest.mark.parametrize("idempotent", [True, False])
def test_everyday_windows_are_within_every_budget(count: int, idempotent: bool) -> None:
    random, found = Random(count), dict[mt.Window, None]()
    while len(found) < count:
        slide = random.choice((1, 2, 5, 10, 15, 30, 60, 120, 360, 1440)) * MINUTE
        shift = random.choice((0, 0, 0, slide // 2))
        found[mt.Window(slide * random.choice((1, 1, 2, 3, 4, 6, 12, 24)), slide, shift)] = None
    plan = mt.optimize(query(tuple(found), idempotent), statistics=VAST)
    missing = {a.strategy for a in plan.alternatives if a.cost is None}
    assert missing <= {"exhaustive"}
    assert missing == set() or count > 8


def test_long_chains_are_planned_flat() -> None:
    # Widest first: each could be computed from the one before it, 1,500 levels deep.
    windows = [mt.Window(n * MINUTE, MINUTE) for n in range(1_500, 0, -1)]
    assert len(wcg(Problem(tuple(windows), True, RateCost())).levels()) < 20

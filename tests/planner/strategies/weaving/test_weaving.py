"""Weaving: the merges that the written-out algorithm takes, and plans held against brute force."""

from collections.abc import Iterator
from itertools import combinations
from math import inf
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.weave_bound import gaps, savings, trees_of
from muntin.cost import CostModel, RateCost, WeaveCost, total
from muntin.errors import StrategyError
from muntin.model.windows import Window
from muntin.plan import check, close
from muntin.plan.coverage import EdgeKind
from muntin.plan.slicing import Slices, edge_rate, shared_pairs
from muntin.planner.strategies import STRATEGIES, Problem
from muntin.planner.strategies.weaving.contiguous import table_of
from muntin.planner.strategies.weaving.execution_trees import Tree, TreeCosts, plan_of, single_trees
from muntin.planner.strategies.weaving.exhaustive import best_trees
from muntin.planner.strategies.weaving.local_search import local_search
from muntin.planner.strategies.weaving.pairing import pair_windows
from muntin.planner.strategies.weaving.random_merge import random_merge
from muntin.planner.strategies.weaving.weave_share import weave_trees
from muntin_testing.reached import Reached, fewer
from muntin_testing.windows import window_sets

TECHNIQUES = ("panes", "flatfat", "flatfit", "slick-deque-inv", "slick-deque-non-inv")
MODELS: list[CostModel] = [WeaveCost(t, rate=0.7, unit_of_time=1) for t in TECHNIQUES]
MODELS += [RateCost(3e5)]
WEAVERS = list(STRATEGIES)[list(STRATEGIES).index("weave-share") :]


def name_of(model: CostModel) -> str:
    return str(getattr(model, "technique", model.name))


models = pytest.mark.parametrize("model", MODELS, ids=name_of)
sets = window_sets(least=2, most=6, longest=30)


def problem_of(asked: list[Window], model: CostModel, slicing: str = "pairs") -> Problem:
    return Problem(tuple(asked), False, model, slicing)


slicings = st.sampled_from(["pairs", "cutty"])


def divisions(items: tuple[int, ...]) -> Iterator[list[Tree]]:
    """Every division of the windows into trees."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = tuple(i for i in rest if i not in others)
            for division in divisions(left):
                yield [frozenset({first, *others}), *division]


def ends(trees: frozenset[Tree], costs: TreeCosts) -> set[frozenset[Tree]]:
    """Where the written-out algorithm may end, whichever way ties fall."""
    gains = {(a, b): costs.gain(a, b) for a, b in combinations(sorted(trees, key=sorted), 2)}
    best = max(gains.values(), default=0.0)
    if best <= 1e-9:
        return {trees}
    found = set()
    for (a, b), gain in gains.items():
        if gain > best - 1e-9:
            found |= ends(trees - {a, b} | {a | b}, costs)
    return found


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2], MODELS[5]], ids=name_of)
def test_weaving_ends_where_the_written_out_algorithm_does(model: CostModel) -> None:
    reached = Reached()

    @given(asked=window_sets(least=2, most=5, longest=30), slicing=slicings)
    def each(asked: list[Window], slicing: str) -> None:
        problem = problem_of(asked, model, slicing)
        single = frozenset(single_trees(problem))
        allowed = ends(single, TreeCosts(problem))
        assert frozenset(weave_trees(problem)) in allowed
        reached["merges"] += single not in allowed
        reached["merges, but not all"] += not {len(trees) for trees in allowed} & {1, len(single)}

    each()
    reached.at_least(10, "merges")
    reached.at_least(5, "merges, but not all")


def test_the_last_merge_looked_at_is_not_taken_when_it_costs() -> None:
    windows = [Window(3, 3, 2), Window(6, 6, 2), Window(7, 6, 1)]
    trees = weave_trees(problem_of(windows, WeaveCost("flatfit", 0.7, unit_of_time=1)))
    assert sorted(map(len, trees)) == [1, 2]


@models
def test_woven_trees_cost_what_their_plan_costs_and_no_merge_of_two_saves(
    model: CostModel,
) -> None:
    reached = Reached()

    @given(asked=sets, slicing=slicings)
    def each(asked: list[Window], slicing: str) -> None:
        problem = problem_of(asked, model, slicing)
        costs, trees = TreeCosts(problem), weave_trees(problem)
        assert all(costs.gain(a, b) <= 1e-9 for a, b in combinations(trees, 2))
        plan = plan_of(problem, trees)
        check(plan, asked)
        assert total(model, plan) == pytest.approx(costs.total(trees))
        assert sorted(map(sorted, trees_of(plan, problem.windows))) == sorted(map(sorted, trees))
        reached["several trees"] += len(trees) > 1
        reached["trees of several windows"] += any(len(tree) > 1 for tree in trees)

    each()
    reached.at_least(5, "several trees", "trees of several windows")


@models
@fewer
@given(asked=window_sets(least=1, most=5, longest=30))
def test_exhaustive_finds_the_best_of_all_divisions(model: CostModel, asked: list[Window]) -> None:
    problem = problem_of(asked, model)
    costs = TreeCosts(problem)
    best = min(costs.total(division) for division in divisions(tuple(range(len(asked)))))
    assert costs.total(best_trees(problem, costs)) == pytest.approx(best)


rates = st.sampled_from([0.05, 0.3, 1.0, 4.0, 20.0])


def test_pairing_is_the_best_division_into_ones_and_twos() -> None:
    reached = Reached()

    @given(asked=sets, technique=st.sampled_from(TECHNIQUES), rate=rates)
    def each(asked: list[Window], technique: str, rate: float) -> None:
        problem = problem_of(asked, WeaveCost(technique, rate, unit_of_time=1))
        costs = TreeCosts(problem)
        every = divisions(tuple(range(len(asked))))
        best = min(costs.total(d) for d in every if max(map(len, d)) <= 2)
        trees = pair_windows(problem, costs)
        assert costs.total(trees) == pytest.approx(best)
        reached.update({"ones" if len(tree) == 1 else "twos" for tree in trees})

    each()
    reached.at_least(10, "ones", "twos")


@given(asked=sets, rate=rates)
def test_contiguous_is_the_best_division_into_runs_and_stays_so_as_queries_expire(
    asked: list[Window], rate: float
) -> None:
    problem = problem_of(asked, WeaveCost("panes", rate, unit_of_time=1))
    costs = TreeCosts(problem)
    table = table_of(problem, costs)
    for first in range(len(asked)):
        left = tuple(range(first, len(asked)))
        runs = (d for d in divisions(left) if all(max(t) - min(t) < len(t) for t in d))
        assert table.costs[first] == pytest.approx(min(costs.total(d) for d in runs))
        assert costs.total(table.trees(first)) == pytest.approx(table.costs[first])


@models
@fewer
@given(asked=sets)
def test_weave_plus_is_never_worse_than_weave_share_nor_better_than_the_best(
    model: CostModel, asked: list[Window]
) -> None:
    problem = problem_of(asked, model)
    cost = {n: total(model, STRATEGIES[n](problem)) for n in ("weave-share", "weave-plus")}
    best = TreeCosts(problem).total(best_trees(problem, TreeCosts(problem)))
    assert best * (1 - 1e-9) <= cost["weave-plus"] <= cost["weave-share"] * (1 + 1e-9)


def test_random_merges_and_local_moves_end_where_none_saves() -> None:
    reached = Reached()

    @given(asked=sets, seed=st.integers(0, 5), rate=rates)
    def each(asked: list[Window], seed: int, rate: float) -> None:
        problem = problem_of(asked, WeaveCost("panes", rate, unit_of_time=1))
        costs = TreeCosts(problem)
        trees = trees_of(random_merge(problem, seed), problem.windows)
        assert all(costs.gain(a, b) <= 0 for a, b in combinations(trees, 2))
        reached["merged, several trees"] += 1 < len(trees) < len(asked)
        trees = trees_of(local_search(problem, seed), problem.windows)
        now = costs.total(trees)
        for home in trees:
            for window in home:
                one, rest = frozenset({window}), home - {window}
                for target in (*(t for t in trees if t is not home), frozenset[int]()):
                    kept = [t for t in (*trees, rest) if t and t not in (home, target)]
                    assert costs.total([*kept, target | one]) >= now - 1e-6 * now
        reached["moved, several trees"] += 1 < len(trees) < len(asked)
        assert random_merge(problem, seed) == random_merge(problem, seed)
        assert local_search(problem, seed) == local_search(problem, seed)

    each()
    reached.at_least(5, "merged, several trees", "moved, several trees")


def test_triweave_has_three_levels() -> None:
    windows = (Window(8, 4), Window(24, 8), Window(14, 7))
    plan = STRATEGIES["tri-weave"](Problem(windows, False, WeaveCost("panes", 1, unit_of_time=1)))
    check(plan, windows)
    (root,) = plan.children(None)
    assert root.shape == shared_pairs(windows)
    assert all(isinstance(node.shape, Slices) for node in plan.children(root.id))
    assert {n.id for n in plan.nodes if not n.hidden} == {w.id for w in windows}


@given(
    st.lists(st.integers(1, 60), min_size=3, max_size=7, unique=True),
    st.sampled_from([1.0, 1.5, 4.0]),
    st.randoms(use_true_random=False),
)
def test_lemma_1(slides: list[int], factor: float, random: Random) -> None:
    """2·r([a], [b]) ≥ r([S - c], [c]) for tumbling windows and λ ≥ 2·E of any two."""
    windows = tuple(Window(s, s) for s in slides)
    least = 2 * max(float(edge_rate(shared_pairs(p))) for p in combinations(windows, 2))
    model = WeaveCost("panes", least * factor, unit_of_time=1)
    costs = TreeCosts(Problem(windows, False, model))
    members = frozenset(range(len(slides)))
    a, b = random.sample(range(len(slides)), 2)
    for c in members:
        diluted = costs.gain(members - {c}, frozenset({c}))
        assert 2 * costs.gain(frozenset({a}), frozenset({b})) >= diluted - 1e-9


def test_theorem_1_holds_with_room_to_spare() -> None:
    found = [s for s in savings(60, seed=7) if s.within]
    assert len(found) > 50
    assert all(s.woven >= s.best / 4 - 1e-9 for s in found)
    assert sum(s.ratio for s in found) / len(found) > 0.9


def test_weave_plus_is_within_half_a_percent_on_average() -> None:
    found = list(gaps(12, seed=3))
    assert sum(g.weave_plus / g.best - 1 for g in found) / len(found) < 0.005


def test_exhaustive_ends_even_where_every_cost_is_infinite() -> None:
    problem = Problem((Window(4, 4), Window(6, 6), Window(9, 9)), False, RateCost(rate=inf))
    trees = best_trees(problem, TreeCosts(problem))
    assert sorted(i for tree in trees for i in tree) == [0, 1, 2]


def test_exhaustive_refuses_what_would_take_for_ever() -> None:
    windows = tuple(Window(n, n) for n in range(1, 14))
    with pytest.raises(StrategyError, match=r"2\^13 trees .* at most 12, or 'weave-plus'"):
        STRATEGIES["exhaustive"](Problem(windows, False, RateCost()))


@pytest.mark.parametrize("name", WEAVERS)
def test_ids_of_the_user_are_left_alone(name: str) -> None:
    windows = (Window(12, 9, id="tree 1"), Window(10, 6, id="slices of all"))
    plan = STRATEGIES[name](Problem(windows, False, RateCost()))
    check(plan, windows)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_thousand_different_queries_in_seconds(technique: str) -> None:
    random, second = Random(1), 1_000_000
    factors = [d for d in range(1, 86_401) if 86_400 % d == 0]
    found: dict[Window, None] = {}
    while len(found) < 1_000:
        slide = random.choice(factors)
        found[Window(slide * second * random.randrange(1, 100), slide * second)] = None
    problem = Problem(tuple(found), False, WeaveCost(technique))
    trees = weave_trees(problem)
    assert sorted(i for tree in trees for i in tree) == list(range(1_000))
    costs = TreeCosts(problem)
    assert costs.total(trees) < costs.total(single_trees(problem))
    assert costs.total(trees) <= costs.total([frozenset(range(1_000))]) * (1 + 1e-9)


UNEVEN = (Window(14, 8), Window(10, 6), Window(12, 4), Window(9, 9))


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_cutty_never_has_more_edges_than_pairs_nor_pairs_than_panes(technique: str) -> None:
    model = WeaveCost(technique, rate=0.5, unit_of_time=1)
    everything = frozenset(range(len(UNEVEN)))
    costs = [
        TreeCosts(Problem(UNEVEN, False, model, slicing))(everything)
        for slicing in ("cutty", "pairs", "panes")
    ]
    assert costs == sorted(costs)
    assert costs[0] < costs[2]


def test_an_unknown_slicing_gets_the_closest_known_one() -> None:
    with pytest.raises(StrategyError, match="unknown slicing 'pair': did you mean 'pairs'"):
        Problem(UNEVEN, False, RateCost(), "pair")


@pytest.mark.parametrize("name", ["weave-share", "tri-weave"])
def test_trees_of_cutty_read_open_slices(name: str) -> None:
    model = WeaveCost("panes", rate=0.5, unit_of_time=1)
    plan = STRATEGIES[name](Problem(UNEVEN, False, model, "cutty"))
    kinds = {node.id: node.pieces.kind for node in plan.nodes if not node.hidden}
    assert kinds == {w.id: EdgeKind.PREFIX if w.range % w.slide else EdgeKind.WHOLE for w in UNEVEN}
    assert total(model, plan) < total(model, STRATEGIES[name](Problem(UNEVEN, False, model)))
    rates = [
        [edge_rate(p) for p, node in made.edges() if isinstance(p, Slices)]
        for made in (plan, close(plan))
    ]
    assert sum(rates[0]) < sum(rates[1])

"""The weave cost on the papers' examples, its parts, and its closed forms."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import CostModel, PaperCost, RateCost, WeaveCost, node_costs, total
from muntin.cost.arrays import WindowArrays, source_costs
from muntin.cost.members import Members
from muntin.cost.omega import counted_omega, load_of, paper_omega
from muntin.cost.tree_forms import final_of
from muntin.errors import StrategyError
from muntin.model.windows import Window
from muntin.plan import SharingPlan
from muntin.plan.coverage import SOURCE, EdgeKind, every, fewest_pieces
from muntin.plan.slicing import Slices, cuts_ends, edge_rate, shared_pairs, shared_slices
from muntin.plan.tree import slices_node, window_node
from muntin.planner.strategies.coverage.edge_costs import edge_costs
from muntin_testing.reached import fewer
from muntin_testing.windows import window_sets

TECHNIQUES = ("panes", "flatfat", "flatfit", "slick-deque-inv", "slick-deque-non-inv")
MIXED = WeaveCost("slick-deque", 0.1, 3, ("slick-deque-inv", "slick-deque-non-inv", "flatfat"), 1)
MANY_KEYS = [WeaveCost(t, rate=0.1, keys=50, unit_of_time=1) for t in TECHNIQUES]
MODELS = [WeaveCost(t, rate=1, unit_of_time=1) for t in TECHNIQUES] + [RateCost(1e6)]
MODELS += [MIXED, *MANY_KEYS]
PAIR = (Window(12, 9), Window(10, 6))


def two_levels(*trees: tuple[Window, ...]) -> SharingPlan:
    nodes = []
    for number, windows in enumerate(trees):
        root = slices_node(shared_pairs(windows), f"tree {number}")
        nodes += [root, *(window_node(w, root.id) for w in windows)]
    return SharingPlan.build(nodes, idempotent=False)


def test_example_1_of_the_bound_paper() -> None:
    # Edge rates 2/9 and 2/6 apart, 8/18 together; Ω = r/s.
    model = WeaveCost("panes", rate=1, unit_of_time=1)
    apart = 2 + 2 / 9 * 12 / 9 + 2 / 6 * 10 / 6
    together = 1 + 8 / 18 * (12 / 9 + 10 / 6)
    assert total(model, two_levels(PAIR[:1], PAIR[1:])) == pytest.approx(apart)
    assert total(model, two_levels(PAIR)) == pytest.approx(together)


def test_triweave_reads_the_source_once_and_the_finest_slices_for_each_tree() -> None:
    model = WeaveCost("flatfit", rate=5, unit_of_time=18)
    everything = slices_node(shared_pairs(PAIR), "all")
    nodes = [everything]
    for i, window in enumerate(PAIR):
        root = slices_node(shared_pairs([window]), f"tree {i}", "all")
        nodes += [root, window_node(window, root.id)]
    plan = SharingPlan.build(nodes, idempotent=False)
    assert total(model, plan) == pytest.approx(5 + 2 * 8 + 4 * 3 + 6 * 3)


@pytest.mark.parametrize("technique", TECHNIQUES)
@fewer
@given(asked=window_sets(most=5))
def test_the_parts_of_a_family_are_its_edges_times_omega(
    technique: str, asked: list[Window]
) -> None:
    model = WeaveCost(technique, rate=7, unit_of_time=1)
    slices = shared_pairs(asked)
    omega = paper_omega(technique, load_of(asked))
    assert sum(model.family(slices, asked)) == pytest.approx(float(edge_rate(slices)) * omega)
    costs = node_costs(model, two_levels(tuple(asked)))
    assert sum(costs.values()) == pytest.approx(7 + float(edge_rate(slices)) * omega)


@given(
    asked=window_sets(most=5), more=st.lists(st.sampled_from(TECHNIQUES), min_size=1, max_size=4)
)
def test_several_aggregates_cost_the_sum(asked: list[Window], more: list[str]) -> None:
    slices = shared_pairs(asked)
    finest = slices_node(slices, "finest")
    nodes = [finest, slices_node(slices, "again", "finest")]
    nodes += [window_node(w, "again") for w in asked[1:]]
    nodes.append(window_node(asked[0]))
    plan = SharingPlan.build(nodes, idempotent=False)
    each = [total(WeaveCost(t, rate=7, unit_of_time=1), plan) for t in more]
    model = WeaveCost(rate=7, unit_of_time=1, variants=tuple(more))
    assert total(model, plan) == pytest.approx(sum(each))


@pytest.mark.parametrize("technique", TECHNIQUES)
@given(asked=window_sets(most=4), rate=st.floats(1, 1e3))
def test_more_keys_never_cost_more_than_the_records_fill(
    technique: str, asked: list[Window], rate: float
) -> None:
    plan, slices = two_levels(tuple(asked)), shared_pairs(asked)
    costs = []
    for keys in (1, 2, 10, 1e3, 1e6, 1e9, 1e12):
        model = WeaveCost(technique, rate, keys, unit_of_time=1)
        assert model.edges(slices) <= rate * (1 + 1e-9)
        costs.append(total(model, plan))
    highest = rate * len(asked) * max(8.0, *(w.overlap for w in asked))
    assert all(cost <= rate + highest for cost in costs)
    assert costs[-1] == pytest.approx(costs[-2])


@pytest.mark.parametrize("keys", [1, 40, 1e9])
def test_windows_are_priced_alike_one_by_one_and_as_a_matrix(keys: float) -> None:
    parent, child = Window(4, 2), Window(12, 4)
    pieces = fewest_pieces(child, parent, disjoint=True)
    assert pieces is not None
    model = WeaveCost("panes", 0.5, keys, ("panes", "panes"), unit_of_time=1)
    of = WindowArrays.of
    costs = edge_costs(model, of([parent]), of([child]), idempotent=False, fewest=True)
    assert costs.tolist() == [[pytest.approx(model.edge(parent, child, pieces))]]
    alone = model.edge(SOURCE, child, every(child.range))
    assert source_costs(model, of([child])).tolist() == [alone]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_counted_omega_can_be_charged_instead(technique: str) -> None:
    model = WeaveCost(technique, rate=1, unit_of_time=18, counted=True)
    expected = 8 * float(counted_omega(technique, load_of(PAIR)))  # 8 edges in 18
    assert sum(model.family(shared_pairs(PAIR), PAIR)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "model", MODELS, ids=lambda m: f"{getattr(m, 'technique', m.name)} {m.keys:g}"
)
@fewer
@given(
    asked=window_sets(most=6), more=window_sets(most=6), slicing=st.sampled_from(["pairs", "cutty"])
)
def test_closed_forms_equal_the_model_and_their_bounds_hold(
    model: WeaveCost | RateCost, asked: list[Window], more: list[Window], slicing: str
) -> None:
    def members(windows: list[Window]) -> Members:
        ends = [cuts_ends(w, slicing) for w in windows]
        return Members.of(windows, [EdgeKind.WHOLE if cut else EdgeKind.PREFIX for cut in ends])

    together = [*asked, *(w for w in more if w not in asked)]
    rest = together[len(asked) :] or [asked[0]]
    form, slices = final_of(model), shared_slices(together, slicing)
    one, other = members(asked), members(rest)
    edges = float(edge_rate(slices))
    if len(together) > len(asked):
        kinds = [EdgeKind.WHOLE if cuts_ends(w, slicing) else EdgeKind.PREFIX for w in together]
        exact = edge_by_edge(model, slices, together, kinds)
        assert form.cost(edges, one.join(other), slices) == pytest.approx(exact)
    few = max(float(edge_rate(shared_slices(part, slicing))) for part in (asked, rest))
    bound = form.bound(np.array([few, edges]), np.array([edges, edges]), one, [other, other])
    assert (bound <= form.cost(edges, one.join(other), slices) * (1 + 1e-9)).all()


def edge_by_edge(
    model: CostModel, slices: Slices, windows: Sequence[Window], kinds: Sequence[EdgeKind]
) -> float:
    """What the windows cost on the slices, by the model itself."""
    reading = [window_node(w, "slices", kind=k) for w, k in zip(windows, kinds, strict=True)]
    plan = SharingPlan.build([slices_node(slices), *reading], idempotent=False)
    costs = node_costs(model, plan)
    return sum(costs[node.id] for node in reading)


def test_the_papers_cost_has_a_closed_form_too() -> None:
    model, slices = PaperCost(PAIR, rate=5), shared_pairs(PAIR)
    edges = float(edge_rate(slices))
    expected = edge_by_edge(model, slices, PAIR, [EdgeKind.WHOLE] * len(PAIR))
    assert final_of(model).cost(edges, Members.of(PAIR), slices) == pytest.approx(expected)


@given(st.floats(1, 5_000), st.floats(1, 3), st.floats(0, 1))
def test_the_bound_of_equation_4_holds_between_its_ends(
    partials: float, more: float, part: float
) -> None:
    from muntin.cost.finals import _least, _looked_up

    bound = _least(np.array([partials]), np.array([partials * more]))[0]
    between = partials * (1 + (more - 1) * part)
    assert bound <= _looked_up(np.array([between]))[0] + 1e-6
    powers = [2.0**k for k in range(14) if partials <= 2.0**k <= partials * more]
    assert all(bound <= _looked_up(np.array([p]))[0] + 1e-9 for p in powers)


@pytest.mark.parametrize("technique", ["two-stacks", "daba", "panes-inv"])
def test_a_technique_that_serves_one_query_is_refused(technique: str) -> None:
    with pytest.raises(StrategyError, match="serves one query, so it has no Ω"):
        WeaveCost(technique)


def test_rates_must_make_sense() -> None:
    with pytest.raises(StrategyError, match="rate 0 must be positive"):
        WeaveCost(rate=0)
    with pytest.raises(StrategyError, match=r"keys 0\.5 must be at least 1"):
        WeaveCost(keys=0.5)

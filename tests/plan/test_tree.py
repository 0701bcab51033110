"""The sharing tree: order, levels, and what cannot be a tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.errors import PlanError
from muntin.model.windows import Window
from muntin.plan import Node, SharingPlan
from muntin.plan.coverage import SOURCE, every, fewest_pieces
from muntin.plan.slicing import shared_pairs
from muntin.plan.tree import slices_node, window_node

TEN, TWENTY, FORTY = (Window(n, n, id=str(n)) for n in (10, 20, 40))


def child(window: Window, parent: Window) -> Node:
    pieces = fewest_pieces(window, parent, disjoint=True)
    assert pieces is not None
    return Node(window.id, window, parent.id, pieces)


CHAIN = [window_node(TEN), child(TWENTY, TEN), child(FORTY, TWENTY)]


@given(st.permutations(CHAIN))
def test_parents_come_first_whatever_the_order_given(nodes: list[Node]) -> None:
    plan = SharingPlan.build(nodes, idempotent=False)
    assert [node.id for node in plan.nodes] == ["10", "20", "40"]
    assert [[n.id for n in level] for level in plan.levels()] == [["10"], ["20"], ["40"]]


def test_navigation() -> None:
    slices = shared_pairs([TEN, TWENTY])
    nodes = [
        window_node(TEN, "slices"),
        slices_node(slices),
        window_node(FORTY),
        child(TWENTY, TEN),
    ]
    plan = SharingPlan.build(nodes, idempotent=True)
    assert plan.node("20").parent == "10"
    assert (plan.shape(None), plan.shape("slices"), plan.shape("10")) == (SOURCE, slices, TEN)
    assert [n.id for n in plan.children(None)] == ["slices", "40"]
    assert [n.id for n in plan.children("10")] == ["20"]
    assert [[n.id for n in level] for level in plan.levels()] == [["slices", "40"], ["10"], ["20"]]
    edges = [(parent, node.id) for parent, node in plan.edges()]
    assert edges == [(SOURCE, "slices"), (SOURCE, "40"), (slices, "10"), (TEN, "20")]
    assert plan.node("slices").hidden


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([window_node(TEN), window_node(TEN)], r"two nodes have the same id: \['10', '10'\]"),
        ([window_node(TEN, "nowhere")], r"no path from the source to \['10'\]"),
        ([child(TWENTY, TEN), child(TEN, TEN)], r"no path from the source to \['10', '20'\]"),
        (
            [Node("a", TEN, "b", every(10)), Node("b", TEN, "a", every(10)), window_node(FORTY)],
            r"no path from the source to \['a', 'b'\]",
        ),
    ],
)
def test_what_is_no_tree_is_refused(nodes: list[Node], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        SharingPlan.build(nodes, idempotent=True)

"""Execution trees: windows in groups, each on the coarsest slices that serve it.

    weaving              source ─▶ slices of tree i ─▶ its windows
    three-level weaving  source ─▶ slices of all ─▶ slices of tree i ─▶ its windows

All strategies that divide windows into trees minimise the cost of these plans under the problem's
own cost model, whichever it is. Under cost "weave" that is Equation 1 of both papers.

Windows of a tree are cut by panes, pairs or Cutty (`Problem.slicing`). Pairs are the default: Cutty
has fewer edges where ranges are no multiples of slides, and its windows then read a slice that is
open (edges of kind `prefix`), which saves something only on operators that keep open partials.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.cost.members import Members
from muntin.cost.tree_forms import tree_form
from muntin.plan import Node, SharingPlan
from muntin.plan.coverage import SOURCE, Source
from muntin.plan.slicing import SLICINGS, Slices, edge_rate, shared_slices
from muntin.plan.slicing.cuts import cut_everywhere
from muntin.plan.slicing.edges import edge_work
from muntin.plan.tree import slices_node, unused_id, window_node
from muntin.planner.strategies.problem import Problem

Tree = frozenset[int]
"""The numbers of its windows in the problem."""
TREE = 60
"""Steps to compute the cost of a tree, beside its edge rate."""


class TreeCosts:
    """The cost of any tree of a problem, each computed once.

    >>> from muntin.cost import WeaveCost
    >>> from muntin.model.windows import Window
    >>> pair = (Window(12, 9), Window(10, 6))
    >>> costs = TreeCosts(Problem(pair, False, WeaveCost("flatfit", rate=40, unit_of_time=18)))
    >>> costs.total([frozenset({0}), frozenset({1})]), costs.total([frozenset({0, 1})])
    (110.0, 88.0)
    """

    def __init__(self, problem: Problem, root: Slices | Source = SOURCE) -> None:
        self._windows, self._budget = problem.windows, problem.budget
        self._kinds = [problem.kind(window) for window in problem.windows]
        self._cuts = [SLICINGS[problem.slicing](window).cuts for window in problem.windows]
        self._slicing, self._final = tree_form(problem.cost, root)
        self._known: dict[Tree, float] = {}

    def __call__(self, tree: Tree) -> float:
        """The cost of one tree: its slices and its windows."""
        self._budget.spend(2)
        if tree not in self._known:
            self._known[tree] = self._compute(tree)
        return self._known[tree]

    def require(self, trees: int) -> None:
        """Stop now if so many different trees, which are sure to be asked for, are too many."""
        self._budget.require(TREE * trees)

    def _compute(self, tree: Tree) -> float:
        self._budget.spend(TREE + 5 * len(tree) + len(tree) ** 2 // 20)
        slices = cut_everywhere(cut for i in tree for cut in self._cuts[i])
        self._budget.spend(edge_work(slices))
        numbers = sorted(tree)
        members = Members.of([self._windows[i] for i in numbers], [self._kinds[i] for i in numbers])
        return self._slicing + self._final.cost(float(edge_rate(slices)), members, slices)

    def total(self, trees: Iterable[Tree]) -> float:
        return sum(self(tree) for tree in trees)

    def gain(self, one: Tree, other: Tree) -> float:
        """What is saved when two trees are merged."""
        return self(one) + self(other) - self(one | other)


def single_trees(problem: Problem) -> list[Tree]:
    """Every window a tree of its own."""
    return [frozenset({i}) for i in range(len(problem.windows))]


def plan_of(problem: Problem, trees: Iterable[Tree], three_levels: bool = False) -> SharingPlan:
    """The sharing plan of these trees, in the order of their first windows."""
    problem.budget.spend(50 * len(problem.windows))
    taken = {window.id for window in problem.windows}
    nodes: list[Node] = []
    root = None
    if three_levels:
        finest = shared_slices(problem.windows, problem.slicing)
        everything = slices_node(finest, unused_id("slices of all", taken))
        nodes, root = [everything], everything.id
    for number, tree in enumerate(sorted(map(sorted, trees)), 1):
        windows = [problem.windows[i] for i in tree]
        cuts = shared_slices(windows, problem.slicing)
        slices = slices_node(cuts, unused_id(f"tree {number}", taken), root)
        nodes += [slices, *(window_node(w, slices.id, kind=problem.kind(w)) for w in windows)]
    return SharingPlan.build(nodes, problem.idempotent)

"""weave-share, tri-weave: trees merged greedily, each on its own slices.

time  O(n²) a merge, n different cuts; 1,000 different windows in seconds      space  O(n²)

    weave-share   source ─▶ slices of tree i ─▶ its windows              C = m·λ + Σ E_i·Ω_i
    tri-weave     source ─▶ slices of all ─▶ slices of tree i ─▶ its windows
                                                                         C = λ + m·E_all + Σ E_i·Ω_i

Selective sharing: one more tree costs one more pass over the source, one tree for all costs many
short slices. Section 2.4 of the bound paper, section 3.1.1 of the multi-query paper;
`greedy_merging` says how it is made fast. It saves at least a quarter of what the best division
saves, for tumbling windows at rates of at least twice the edges of any two (Theorem 1 of the bound
paper). Under tri-weave one more tree costs E_all, which is less than λ unless records are rare:
more trees, longer slices. The multi-query paper gives no formula for it (`muntin.cost.weave`).
Under cost "weave" both minimise the papers' C; under any other cost, that cost of the same trees.
"""

from __future__ import annotations

from muntin.cost.members import Members
from muntin.cost.tree_forms import tree_form
from muntin.plan import SharingPlan
from muntin.plan.coverage import SOURCE, Source
from muntin.plan.slicing import SLICINGS, Cut, Slices, shared_slices
from muntin.plan.slicing.edges import edge_work
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.execution_trees import Tree, plan_of
from muntin.planner.strategies.weaving.greedy_merging import Loom, Strand


def weave_share(problem: Problem) -> SharingPlan:
    """The woven trees under the source."""
    return plan_of(problem, weave_trees(problem))


def tri_weave(problem: Problem) -> SharingPlan:
    """The woven trees under slices that serve all windows."""
    finest = shared_slices(problem.windows, problem.slicing)
    problem.budget.spend(edge_work(finest))
    return plan_of(problem, weave_trees(problem, finest), three_levels=True)


def weave_trees(problem: Problem, root: Slices | Source = SOURCE) -> list[Tree]:
    """What weaving divides the windows into, as trees under the root.

    >>> from muntin.cost import WeaveCost
    >>> from muntin.model.windows import Window
    >>> windows = (Window(4, 4), Window(8, 8), Window(7, 7), Window(21, 7))
    >>> model = WeaveCost("panes", rate=0.5, unit_of_time=1)
    >>> [sorted(tree) for tree in weave_trees(Problem(windows, False, model))]
    [[0, 1], [2, 3]]
    """
    return [strand.numbers for strand in loom_over(problem, root).weave()]


def loom_over(problem: Problem, root: Slices | Source = SOURCE) -> Loom:
    """A run of weaving, to be begun: windows with equal cuts are one strand."""
    slicing, final = tree_form(problem.cost, root, results=False)
    cut, by_cuts = SLICINGS[problem.slicing], dict[frozenset[Cut], list[int]]()
    for number, window in enumerate(problem.windows):
        by_cuts.setdefault(frozenset(cut(window).cuts), []).append(number)
    strands = []
    for numbers in by_cuts.values():
        windows = [problem.windows[i] for i in numbers]
        members = Members.of(windows, [problem.kind(w) for w in windows])
        strands.append(Strand(cut(windows[0]), members, frozenset(numbers)))
    return Loom(strands, slicing, final, budget=problem.budget)

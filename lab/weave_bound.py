"""Theorem 1 of the bound paper, and `weave-plus`, against the best division into trees.

Theorem 1: WeaveShare saves at least a quarter of what the optimum saves, R(Q) ≥ R(Q*)/4, if windows
tumble, λ is at least twice the edge rate of any two windows, and WeaveShare makes at least half the
optimum's merges. Sets are drawn at the least λ that is allowed, and above it.

The gap of a plan is (C - C*)/C*, over windows of all kinds and rates, where nothing is guaranteed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from lab.multi_query.run import TECHNIQUES
from muntin.cost import WeaveCost
from muntin.model.windows import Window
from muntin.plan import SharingPlan
from muntin.plan.slicing import edge_rate, shared_pairs
from muntin.planner.strategies import Problem
from muntin.planner.strategies.weaving.execution_trees import Tree, TreeCosts, single_trees
from muntin.planner.strategies.weaving.exhaustive import best_trees
from muntin.planner.strategies.weaving.weave_plus import weave_plus
from muntin.planner.strategies.weaving.weave_share import weave_trees

FACTORS = (1, 1, 1, 1.2, 2, 5)
"""λ, as a multiple of the least that Theorem 1 allows."""


@dataclass(frozen=True, slots=True)
class Savings:
    """What WeaveShare and the optimum save on one set of tumbling windows."""

    slides: str
    rate: float
    woven: float
    best: float
    merges: int
    best_merges: int

    @property
    def within(self) -> bool:
        """Whether the third condition of Theorem 1 holds."""
        return 2 * self.merges >= self.best_merges

    @property
    def ratio(self) -> float:
        """R(Q)/R(Q*); 1 where nothing can be saved."""
        return self.woven / self.best if self.best > 1e-9 else 1.0


@dataclass(frozen=True, slots=True)
class Gap:
    """Costs of one set by one technique."""

    technique: str
    windows: str
    rate: float
    best: float
    weave_share: float
    weave_plus: float


def savings(count: int, seed: int) -> Iterator[Savings]:
    """Random tumbling sets under the conditions of Theorem 1."""
    random = Random(f"theorem 1 {seed}")
    for _ in range(count):
        slides = random.sample(range(2, random.choice((12, 40, 200))), random.randrange(3, 9))
        windows = tuple(Window(s, s) for s in slides)
        pairs = [(a, b) for a in windows for b in windows if a != b]
        least = 2 * max(float(edge_rate(shared_pairs(pair))) for pair in pairs)
        yield saved(windows, least * random.choice(FACTORS))


def saved(windows: tuple[Window, ...], rate: float) -> Savings:
    """Both savings on one set."""
    problem = Problem(windows, False, WeaveCost("panes", rate, unit_of_time=1))
    costs = TreeCosts(problem)
    alone = costs.total(single_trees(problem))
    woven, best = weave_trees(problem), best_trees(problem, costs)
    text, count = " ".join(str(w.slide) for w in windows), len(windows)
    gained = (alone - costs.total(woven), alone - costs.total(best))
    return Savings(text, rate, *gained, count - len(woven), count - len(best))


def gaps(count: int, seed: int) -> Iterator[Gap]:
    """Random windows, tumbling and hopping, at rates from a tenth to ten times their edges."""
    random = Random(f"gaps {seed}")
    for _ in range(count):
        windows = _any_windows(random, 8)
        rate = 10 ** random.uniform(-1, 1)
        for title, technique in TECHNIQUES.items():
            problem = Problem(windows, False, WeaveCost(technique, rate, unit_of_time=1))
            costs = TreeCosts(problem)
            best = costs.total(best_trees(problem, costs))
            greedy = costs.total(weave_trees(problem))
            plus = costs.total(trees_of(weave_plus(problem), windows))
            yield Gap(title, " ".join(map(str, windows)), rate, best, greedy, plus)


def _any_windows(random: Random, count: int) -> tuple[Window, ...]:
    found: dict[Window, None] = {}
    while len(found) < count:
        slide = random.choice((2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 24, 30, 36, 60))
        rest = random.randrange(slide) if random.random() < 0.2 else 0
        offset = random.randrange(slide) if random.random() < 0.2 else 0
        found[Window(slide * random.choice((1, 1, 2, 3, 5, 10)) + rest, slide, offset)] = None
    return tuple(found)


def trees_of(plan: SharingPlan, windows: tuple[Window, ...]) -> list[Tree]:
    """The trees of a two-level plan."""
    number = {window.id: i for i, window in enumerate(windows)}
    roots = plan.children(None)
    return [frozenset(number[node.id] for node in plan.children(root.id)) for root in roots]

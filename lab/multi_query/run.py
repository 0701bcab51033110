"""What the weave experiment computes: plan costs, the time to plan, and how well slides weave.

`runs` varies one parameter of Table 4 at a time (experiments 1 to 5). `timings` is Figure 16:
slides are drawn from the 448 factors of 8,648,640, the smallest number with so many, and planned

    ungrouped    every query begins as a tree; edges by bit set, one composite slide a look
    bit set      queries with equal slides begin as one tree
    F1           the same, edges by `by_residues`, which is not shown the composite slide

All three give the same plan. The paper reaches 550 queries by bit set and 1,000,000 by F1; here
few edges are counted at all, as gains are bounded first (`weaving.greedy_merging`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter

from lab.multi_query.workload import MIDDLE, Setting, Workload, workload
from muntin.cost import WeaveCost
from muntin.cost.tree_forms import final_of
from muntin.plan.slicing import Slices, edge_rate, weavability
from muntin.plan.slicing import edges as counting
from muntin.plan.slicing.cuts import cut_everywhere
from muntin.planner.strategies.weaving.greedy_merging import EdgeRate, Loom, planning_rate

TECHNIQUES = {
    "Panes": "panes",
    "FlatFAT": "flatfat",
    "FlatFIT": "flatfit",
    "SlickDeque (Inv)": "slick-deque-inv",
    "SlickDeque (Non-Inv)": "slick-deque-non-inv",
}
OPTIMIZERS = {"WeaveShare": "weave-share", "TriWeave": "tri-weave"}
"""The paper's names, and our strategies."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """One experiment: the parameter that it varies, and what the paper says of it."""

    number: int
    parameter: str
    field: str
    values: tuple[float, ...]
    claim: float
    """The most that SlickDeque is better than Panes, by the paper's text."""

    @property
    def title(self) -> str:
        """The number and what is varied."""
        return f"{self.number}: {self.parameter}"


SWEEPS = (
    Sweep(1, "Q_num", "queries", (1, 10, 100, 1_000, 10_000), 5_000),
    Sweep(2, "S_max", "s_max", (10, 100, 1_000, 10_000, 100_000), 4_300),
    Sweep(3, "O_max", "o_max", (100, 1_000, 10_000, 100_000, 1_000_000), 270_000),
    Sweep(4, "λ", "rate", (0.01, 0.1, 1, 10, 100), 3_000),
    Sweep(5, "Z_skew", "skew", (-1, -0.5, 0, 0.5, 1), 4_200),
)


@dataclass(frozen=True, slots=True)
class Run:
    """The plan of one workload."""

    experiment: int
    parameter: str
    value: float
    set: int
    optimizer: str
    technique: str
    cost: float
    trees: int


def runs(sets: int, seed: int) -> Iterator[Run]:
    """All runs of the five experiments."""
    for sweep in SWEEPS:
        for value in sweep.values:
            setting = replace(MIDDLE, **{sweep.field: value})  # type: ignore[arg-type]
            for index in range(sets):
                queries = workload(setting, seed * 1_000 + index)
                for optimizer in OPTIMIZERS:
                    for title, technique in TECHNIQUES.items():
                        cost, trees = weave(queries, setting.rate, technique, optimizer)
                        key = (sweep.number, sweep.parameter, value, index + 1)
                        yield Run(*key, optimizer, title, cost, trees)


def weave(
    queries: Workload,
    rate: float,
    technique: str,
    optimizer: str = "WeaveShare",
    grouped: bool = True,
    edges: EdgeRate = planning_rate,
) -> tuple[float, int]:
    """Cost and number of trees of an optimizer's plan.

    >>> cost, trees = weave(workload(Setting(queries=5, s_max=12, o_max=4), 1), 1.0, "panes")
    >>> round(cost, 3), trees
    (10.667, 2)
    """
    strands = queries.strands(grouped)
    everything = cut_everywhere(cut for s in strands for cut in s.slices.cuts)
    three_levels = optimizer == "TriWeave"
    slicing = float(edge_rate(everything)) if three_levels else rate
    final = final_of(WeaveCost(technique, rate, unit_of_time=1))
    trees = Loom(strands, slicing, final, edges).weave()
    finals = sum(final.cost(edges(t.slices), t.members, t.slices) for t in trees)
    return (rate if three_levels else 0.0) + len(trees) * slicing + finals, len(trees)


NUMBER = 8_648_640
SIZES = (10, 100, 300, 1_000, 10_000, 100_000, 1_000_000)
UNGROUPED = 300
"""Most queries planned without grouping: the whole bit set is marked for every look."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds to plan so many queries one way."""

    queries: int
    way: str
    seconds: float
    trees: int
    cost: float


def bit_set(slices: Slices) -> float:
    """Edges by marking the composite slide."""
    return float(counting.by_bit_set(slices.cuts))


def f1(slices: Slices) -> float:
    """Edges by formula."""
    return float(counting.by_residues(slices.cuts))


WAYS = {"ungrouped": (False, bit_set), "bit set": (True, bit_set), "F1": (True, f1)}


def timings(seed: int, sizes: tuple[int, ...] = SIZES) -> Iterator[Timing]:
    """Plan each number of queries each way, from scratch."""
    for size in sizes:
        queries = workload(Setting(size, NUMBER, o_max=10), seed)
        for way, (grouped, edges) in WAYS.items():
            if grouped or size <= UNGROUPED:
                counting.forget()
                begun = perf_counter()
                cost, trees = weave(queries, 10.0, "panes", grouped=grouped, edges=edges)
                yield Timing(size, way, perf_counter() - begun, trees, cost)


@dataclass(frozen=True, slots=True)
class Weave:
    """One tree of more than one slide; technique "all in one tree" is the whole workload."""

    set: int
    technique: str
    slides: int
    weavability: float


def weaves(sets: int, seed: int, middle: Setting = MIDDLE) -> Iterator[Weave]:
    """How well the slides of WeaveShare's trees weave: common edges over all (section 3.1.1).

    Each different slide counts once, since queries with equal slides weave perfectly. Weaving does
    not look at this number; it shows what weaving has done.

    >>> [round(w.weavability, 3) for w in weaves(1, 1, Setting(20, 12, 5))][:2]
    [0.667, 0.5]
    """
    for index in range(sets):
        strands = workload(middle, seed * 1_000 + index).strands()
        slices = {next(iter(s.numbers)): s.slices for s in strands}
        together = float(weavability(list(slices.values())))
        yield Weave(index + 1, "all in one tree", len(slices), together)
        for title, technique in TECHNIQUES.items():
            final = final_of(WeaveCost(technique, middle.rate, unit_of_time=1))
            for tree in Loom(strands, middle.rate, final).weave():
                if len(tree.numbers) > 1:
                    common = weavability([slices[i] for i in sorted(tree.numbers)])
                    yield Weave(index + 1, title, len(tree.numbers), float(common))

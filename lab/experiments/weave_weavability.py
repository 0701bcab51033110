"""How well the slides of a tree weave: common edges over all edges (section 3.1.1).

Each different slide of a workload counts once: queries with equal slides weave perfectly. Weaving
does not look at this number; it shows what weaving has done. Trees of one slide have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lab.experiments.weave_runs import TECHNIQUES
from lab.experiments.weave_workload import Setting, workload
from muntin.cost import WeaveCost
from muntin.cost.tree_forms import final_of
from muntin.plan.slicing import weavability
from muntin.planner.strategies.weaving.greedy_merging import Loom


@dataclass(frozen=True, slots=True)
class Weave:
    """One tree of more than one slide; technique "all in one tree" is the whole workload."""

    set: int
    technique: str
    slides: int
    weavability: float


def weaves(sets: int, seed: int, setting: Setting | None = None) -> Iterator[Weave]:
    """The trees of WeaveShare in the middle point of the experiments.

    >>> [round(w.weavability, 3) for w in weaves(1, 1, Setting(20, 12, 5))][:2]
    [0.667, 0.5]
    """
    middle = setting or Setting()
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

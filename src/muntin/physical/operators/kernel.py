"""kernel: sorted pieces through NumPy, two scans and one combine a result, whatever the overlap.

The engine groups the source into the first level; its pieces go to Python once, split by key and by
chunks of time, and only results come back. The whole tree below is evaluated there, node by node
(`kernels.tree`): slices of slices are cut, windows of disjoint pieces scanned, and windows of
windows that overlap themselves gathered.
"""

from __future__ import annotations

from muntin.aggregates import Aggregate
from muntin.cost import CostModel, KernelCost
from muntin.cost.spark import Work
from muntin.cost.statistics import SECOND
from muntin.cost.surrogates import HALO, SCANS
from muntin.model.windows import Window
from muntin.physical.lowering import FROM_SOURCE, PhysicalNode, PhysicalPlan
from muntin.physical.operators.base import Rewrite, Works
from muntin.physical.operators.counted import Counted, first_level
from muntin.physical.operators.expand import EXPAND
from muntin.physical.question import Question
from muntin.plan import SharingPlan, close
from muntin.plan.slicing import Slices

NODE = 0.1
"""What one more node costs, as a part of what a level costs expand: calls of NumPy."""
CHUNK_RANGES = 4
"""A chunk of time is this many times the widest range."""


class Kernel(Counted):
    """The operator for much overlap and many results."""

    name = "kernel"
    card = "sorted pieces through NumPy: two scans and one combine a result, whatever the overlap"

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """What only the engine merges runs beside it, if something else must run in Python."""
        if question.in_engine and question.in_python is None:
            return f"{question.in_engine[0].name} is merged only by the engine itself"
        return None if question.in_python else question.stranger

    def rewrites(self, question: Question) -> tuple[Rewrite, ...]:
        """A row is in one piece: open slices are closed."""
        return (close,)

    def surrogate(self, question: Question) -> CostModel:
        """2 · pieces of the parent + results, in seconds."""
        q = question
        return KernelCost(q.statistics, q.constants, q.partials, q.width)

    def work(self, physical: PhysicalPlan, question: Question) -> Works:
        """Pieces of the first level are sent; each node scans its parent's, results come back."""
        if physical.depth == 1 and question.in_python is None:
            return EXPAND.work(physical, question)  # nothing is left for Python to do
        works, idle = first_level(physical, question), _idle(physical, question)
        works[FROM_SOURCE] = Work(1, stage=2, worker=1, read=works[FROM_SOURCE].read)
        held, width = question.statistics.held, question.width
        for node in physical.nodes:
            rows = held(node.shape)
            scanned = 0.0 if node.parent == FROM_SOURCE else read(physical, node, question)
            sent = rows * width * HALO if node.parent == FROM_SOURCE else 0.0
            first = works.get(node.number, Work(plan=0))
            works[node.number] = Work(
                0,
                level=0 if node.parent == FROM_SOURCE else NODE,
                copied=first.copied,
                grouped=first.grouped,
                shipped=sent * idle,
                scanned=scanned / SCANS * question.partials * idle,
                returned=0.0 if node.hidden else rows * width * idle,
            )
        return works

    def beside(self, question: Question) -> tuple[Aggregate, ...]:
        """What only the engine merges is expanded beside what must run in Python."""
        return question.in_engine if question.in_python else ()

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        """Slices are cut, windows scanned or gathered."""
        if node.parent == FROM_SOURCE or isinstance(node.shape, Slices):
            return (
                "kernel: cut"
                if node.parent != FROM_SOURCE
                else super().how(node, physical, question)
            )
        return "kernel: scan" if physical.nodes[node.parent].disjoint else "kernel: gather"


def read(physical: PhysicalPlan, node: PhysicalNode, question: Question) -> float:
    """Steps to make a node: each piece once to cut, twice to scan and once for each result."""
    parent, held = physical.nodes[node.parent], question.statistics.held
    if isinstance(node.shape, Slices):
        return held(parent.shape)
    scanned = 2 * held(parent.shape) + held(node.shape)
    if parent.disjoint:
        return scanned
    return min(scanned, physical.plan.nodes[node.number].pieces.count * held(node.shape))


def widest(physical: PhysicalPlan) -> int:
    """The longest range below the first level: what a piece may reach."""
    below = [n.shape for n in physical.nodes if n.parent != FROM_SOURCE]
    return max((shape.range for shape in below if isinstance(shape, Window)), default=1)


def _idle(physical: PhysicalPlan, question: Question) -> float:
    """How many cores there are for one that has work: groups of few keys cannot use all."""
    known, cores = question.statistics, question.constants.cores
    chunks = max(known.span * SECOND / (CHUNK_RANGES * widest(physical)), 1.0)
    lanes = min(float(cores), known.keys * chunks * len(physical.roots))
    return cores / max(lanes, 1.0)


KERNEL = Kernel()

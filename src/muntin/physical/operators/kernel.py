"""kernel: sorted pieces through NumPy, two scans and one combine a result, whatever the overlap.

The engine groups the source into the first level; its pieces go to Python once, split by key and,
where keys are few, by chunks of time (`whole_keys`), and only results come back. The whole tree
below is evaluated there, node by node (`kernels.tree`): slices of slices are cut, windows of
disjoint pieces scanned, and windows of windows that overlap themselves gathered. Of a slice that is
open where a window ends, the running partial is read, so there are as many slices to scan as
instances begin, not as begin and end; what the engine sends are still the fragments between all
begins and ends. A stream keeps the pieces of first-level nodes as state, so there they must be
disjoint: `Base`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from muntin.aggregates import Aggregate
from muntin.cost import CostModel, KernelCost
from muntin.cost.spark import Work
from muntin.cost.statistics import SECOND, Statistics
from muntin.cost.surrogates import GATHER, HALO, OPEN, SCANS, opened
from muntin.kernels.tree import Branch
from muntin.model.durations import duration_text
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.physical.held_parts import held_parts
from muntin.physical.lowering import (
    FROM_SOURCE,
    Congruence,
    PhysicalNode,
    PhysicalPlan,
    Prefix,
    Suffix,
)
from muntin.physical.operators.base import Rewrite, Works
from muntin.physical.operators.counted import (
    Counted,
    begun,
    copied_work,
    fewest_pieces,
    first_level,
    sum_works,
)
from muntin.physical.operators.expand import EXPAND
from muntin.physical.question import Question, in_engine, in_python
from muntin.physical.repeated_results import results_sent, windows_in_runs
from muntin.physical.whole_keys import stay_whole
from muntin.plan import SharingPlan, refine
from muntin.plan.coverage import delta_window
from muntin.plan.feeds import Feed
from muntin.plan.slicing import Slices, begins

NODE = 0.1
"""What one more node costs, as a part of what a level costs expand: calls of NumPy."""
STAGES = 1.35
"""Shuffles: that of the pieces costs a third of one, since Spark joins its small parts."""
IN_CHUNKS = "time is split into chunks of {}, which workers share"
IN_RUNS = "results that equal their neighbours are computed once and sent as one: of {}"
SORTED_BY_SPARK = "Spark sorts: a worker might not hold all rows of its part"
CHUNK_RANGES = 4
"""A chunk of time is this many times the widest range."""


class Kernel(Counted):
    """The operator for much overlap and many results."""

    name = "kernel"
    card = "sorted pieces through NumPy: two scans and one combine a result, whatever the overlap"

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """What only the engine merges runs beside it, if something else must run in Python."""
        return None if in_python(question.query) else question.not_in_python

    def rewrites(self, question: Question) -> tuple[Rewrite, ...]:
        """A row is in one piece: open slices are made of finer ones."""
        return (refine,)

    def surrogate(self, question: Question) -> CostModel:
        """2 · pieces of the parent + results, in seconds."""
        q = question
        return KernelCost(q.statistics, q.constants, q.partials, q.width)

    def work(self, physical: PhysicalPlan, question: Question) -> Works:
        """Pieces of the first level are sent; each node scans its parent's, results come back."""
        if physical.depth == 1 and in_python(question.query) is None:
            return EXPAND.work(physical, question)  # nothing is left for Python to do
        chunk = self.chunk(physical, question.query, question.statistics)
        works, idle = first_level(physical, question), idle_cores(physical, question, chunk)
        works[FROM_SOURCE] = Work(1, stage=STAGES, worker=1, read=works[FROM_SOURCE].read)
        known, width = question.statistics, question.width
        in_runs = self.in_runs(physical, known)
        for node in physical.nodes:
            rows = known.held(node.shape)
            returned = 0.0
            if isinstance(node.shape, Window) and not node.hidden:
                returned = results_sent(known, node.shape, node.number in in_runs) * width * idle
            if node.parent == FROM_SOURCE:
                shipped = rows * width * sent_times(chunk) * idle
                works[node.number] = replace(works[node.number], shipped=shipped, returned=returned)
            else:
                scanned = read(physical, node, question) / SCANS * question.partials * idle
                works[node.number] = Work(0, level=NODE, scanned=scanned, returned=returned)
        return works

    def bounds(self, question: Question) -> tuple[Work, ...]:
        """Pieces are sent, scanned for every window that overlaps itself, and all results return.

        Where nothing must run in Python, a plan of one level copies rows as expand does.
        """
        pieces = fewest_pieces(question) * question.width
        read = question.statistics.rows
        sent = Work(1, stage=STAGES, worker=1, read=read, grouped=pieces, shipped=pieces)
        below = sum_works([sent, least_below(question)])
        return (below,) if in_python(question.query) else (below, copied_work(question))

    def parts(self, physical: PhysicalPlan, query: Query, parts: int) -> int | None:
        """How many parts pieces are shuffled into, for workers to sort; None where Spark does."""
        known = physical.planned_for
        if known is None:
            return None
        chunk = self.chunk(physical, query, known)
        rows = sent_times(chunk) * self.sent_rows(physical, query, known)
        return held_parts(rows, known, chunk, parts)

    def chunk(self, physical: PhysicalPlan, query: Query, known: Statistics | None) -> int | None:
        """How long the chunks of time are that keys are cut into; None where they stay whole."""
        if known is not None:
            results = sum(known.held(node.shape) for node in physical.outputs)
            work = results + self.sent_rows(physical, query, known)
            if stay_whole(known, work, self.sent_rows(physical, query, replace(known, keys=1))):
                return None
        return CHUNK_RANGES * widest(physical)

    def in_runs(self, physical: PhysicalPlan, known: Statistics | None) -> frozenset[int]:
        """The windows whose equal neighbours are made once, and sent as one, if that pays."""
        made = {n.number: n.shape for n in physical.outputs if isinstance(n.shape, Window)}
        repeated = frozenset() if known is None else windows_in_runs(known, tuple(made.values()))
        # what others are made of is laid out, one by one
        return frozenset(n for n in made if made[n] in repeated and not physical.children(n))

    def sent_rows(self, physical: PhysicalPlan, query: Query, known: Statistics) -> float:
        """How many rows go to Python: pieces, or all rows, which some pieces hold in lists."""
        if in_python(query):
            return known.rows
        return sum(known.held(root.shape) for root in physical.roots)

    def notes(self, physical: PhysicalPlan, question: Question) -> tuple[str, ...]:
        """Whether time is split, and who sorts where it is not the workers."""
        if physical.depth == 1 and in_python(question.query) is None:
            return ()
        chunk = self.chunk(physical, question.query, physical.planned_for)
        notes = [] if chunk is None else [IN_CHUNKS.format(duration_text(chunk))]
        repeated = self.in_runs(physical, physical.planned_for)
        if repeated:
            names = ", ".join(physical.nodes[number].id for number in sorted(repeated))
            notes.append(IN_RUNS.format(names))
        if self.parts(physical, question.query, 1) is None:
            notes.append(SORTED_BY_SPARK)
        return tuple(notes)

    def left_to_engine(self, question: Question) -> tuple[Aggregate, ...]:
        """What only the engine merges is expanded beside what must run in Python."""
        return in_engine(question.query) if in_python(question.query) else ()

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        """Slices are cut, windows scanned or gathered."""
        if node.parent == FROM_SOURCE:
            return super().how(node, physical, question)
        return f"{self.name}: {way_of(node, physical)}"


def least_below(question: Question) -> Work:
    """The least that is done below the first level, by a core for each task.

    A window is made of as many pieces as it has begins, or more; one that does not overlap itself
    may be the first level.
    """
    known, windows = question.statistics, question.query.windows
    held, in_runs = known.held, windows_in_runs(known, windows)
    made = [w for w in windows if not w.tumbling]
    scanned = sum(2 * held(begun(w)) + held(w) for w in made) / SCANS * question.partials
    returned = sum(results_sent(known, w, w in in_runs) for w in windows) * question.width
    return Work(0, level=NODE * len(made), scanned=scanned, returned=returned)


def way_of(node: PhysicalNode, physical: PhysicalPlan) -> str:
    """How the kernels make a node below the first level."""
    if isinstance(node.shape, Slices):
        return "cut"
    if isinstance(node.program, Prefix):
        return "open"
    if isinstance(node.program, Suffix):
        return "stair"
    return "scan" if physical.nodes[node.parent].disjoint else "gather"


def read(physical: PhysicalPlan, node: PhysicalNode, question: Question) -> float:
    """Steps to make a node: each piece once to cut, twice to scan and once for each result.

    Running partials of open slices take more. Steps along the chains of a parent that overlaps
    itself take longer.
    """
    parent, held = physical.nodes[node.parent], question.statistics.held
    if isinstance(node.shape, Slices):
        below = physical.children(node.number)
        is_open = any(isinstance(child.program, Prefix) for child in below)
        return held(parent.shape) * (OPEN if is_open else 1)
    if isinstance(node.program, Suffix):
        assert isinstance(parent.shape, Window), "stairs are windows"
        assert isinstance(node.shape, Window), "stairs are windows"
        foot = physical.nodes[node.program.foot].shape
        delta, share = delta_window(node.shape, parent.shape)
        return share * (2 * held(foot) + held(delta)) + GATHER * held(node.shape)
    scanned = 2 * held(parent.shape) + held(node.shape)
    if parent.disjoint:
        if isinstance(node.program, Prefix) and isinstance(parent.shape, Slices):
            return scanned + opened(parent.shape, held(parent.shape), held(node.shape))
        return scanned
    pieces = physical.plan.nodes[node.number].pieces.count * held(node.shape)
    return GATHER * min(scanned, pieces)


def widest(physical: PhysicalPlan) -> int:
    """The longest range below the first level: what a piece may reach."""
    below = [n.shape for n in physical.nodes if n.parent != FROM_SOURCE]
    return max((shape.range for shape in below if isinstance(shape, Window)), default=1)


def sent_times(chunk: int | None) -> float:
    """How often a row is sent: some go to two chunks of time."""
    return 1.0 if chunk is None else HALO


def idle_cores(physical: PhysicalPlan, question: Question, chunk: int | None) -> float:
    """How many cores there are for one that has work: groups of few keys cannot use all."""
    known, cores = question.statistics, question.constants.cores
    chunks = 1.0 if chunk is None else max(known.span * SECOND / chunk, 1.0)
    lanes = min(float(cores), known.keys * chunks * len(physical.roots))
    return cores / max(lanes, 1.0)


KERNEL = Kernel()


@dataclass(frozen=True, slots=True)
class Base:
    """Disjoint pieces under the number of their first-level node, and what is made of them.

    Where all of that is made of one set of `coarse` slices, pieces may be merged into these as soon
    as no window ends within one.
    """

    node: int
    slices: Slices
    branches: tuple[Branch, ...]
    coarse: Slices | None = None

    @property
    def windows(self) -> dict[int, Window]:
        """The windows asked for that are made of these pieces, by number."""
        return {number: w for branch in self.branches for number, w in branch.windows.items()}

    @property
    def readers(self) -> tuple[Branch, ...]:
        """What reads the pieces, merged or not."""
        return self.branches if self.coarse is None else self.branches[0].branches

    def only(self, readers: tuple[Branch, ...]) -> Base:
        """The base with just some of its readers."""
        if self.coarse is None:
            return replace(self, branches=readers)
        return replace(self, branches=(replace(self.branches[0], branches=readers),))


def trees(physical: PhysicalPlan) -> dict[int, tuple[Branch, ...]]:
    """The branches below each first-level node, by its number."""
    return {root.number: branches_below(physical, root) for root in physical.roots}


def bases(physical: PhysicalPlan) -> tuple[Base, ...]:
    """The bases of a plan whose first level is disjoint; a root asked for is emitted as it is."""
    return tuple(_base(physical, root) for root in physical.roots)


def _base(physical: PhysicalPlan, root: PhysicalNode) -> Base:
    below = branches_below(physical, root)
    if isinstance(root.shape, Slices):
        made = below[0].shape if len(below) == 1 else None
        coarse = made if isinstance(made, Slices) else None
        return Base(root.number, root.shape, below, coarse)
    assert isinstance(root.shape, Window), "windows that the data decides have no bases"
    assert root.disjoint, "first-level windows that overlap themselves are put on slices"
    own = () if root.hidden else (Branch(root.number, root.shape, asked=True),)
    return Base(root.number, Slices((begins(root.shape),), "instances"), (*own, *below))


def branches_below(physical: PhysicalPlan, node: PhysicalNode) -> tuple[Branch, ...]:
    """What is computed from a node; feeds only where its pieces overlap, or are not all read."""
    found = []
    for child in physical.children(node.number):
        assert isinstance(child.shape, Window | Slices), "the kernel's pieces are periodic"
        feeds: tuple[Feed, ...] = ()
        delta = child.program.length if isinstance(child.program, Suffix) else 0
        if not node.disjoint and not delta:
            assert isinstance(child.program, Congruence), "slices are never made of windows"
            feeds = child.program.feeds
        below = branches_below(physical, child)
        is_open = isinstance(child.program, Prefix)
        found.append(
            Branch(child.number, child.shape, not child.hidden, below, feeds, is_open, delta)
        )
    return tuple(found)

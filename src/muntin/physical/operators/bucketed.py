"""bucketed: columnar state for each bucket of keys, evaluated by NumPy.

    rows ─ pieces of the first level ─ state of a bucket ─ the tree below, for what is due ─ results
           in Python                   columns, all keys together

A bucket pays for each batch, and little for a key or a result. Where windows read slices while
they are open, the first level are fragments of these; the state merges them when no window that is
still to fire ends within the slice, so it keeps as many pieces as instances begin.
"""

from __future__ import annotations

from collections.abc import Iterator

from muntin.kernels.tree import Branch
from muntin.model.durations import duration_text
from muntin.model.history import instant_text
from muntin.model.windows import Window, kept_from
from muntin.physical.due_techniques import STEP, TECHNIQUES, Kept, choose_technique
from muntin.physical.lowering import FROM_SOURCE, PhysicalPlan
from muntin.physical.operators.base import Rewrite
from muntin.physical.operators.kernel import Base, bases
from muntin.physical.operators.streamed import (
    BATCHES,
    Streamed,
    over_all,
    price_evaluation,
    price_grouping,
)
from muntin.physical.question import Question
from muntin.plan import SharingPlan, refine, slice_roots
from muntin.plan.slicing import Slices, edge_rate

BATCH = 0.65
"""Seconds for one more batch, however few its rows: Python runs in two stages of it."""
EMITTED = 1.5e-6
"""Seconds to hand a result back."""


def _shown(partials: float) -> str:
    return f"{partials:,.0f}" if partials >= 100 else f"{partials:.3g}"


def _kept_longer(question: Question) -> tuple[str, ...]:
    """What is kept and emitted besides windows that are due for the first time."""
    notes = []
    if question.lateness is not None:
        longer = f"{duration_text(question.lateness)} longer"
        again = f"fired windows are kept {longer}, and emitted again when late rows change them"
        notes.append(f"windows stay open {longer}" if question.update else again)
    if question.fill_for is not None:
        longest = duration_text(question.fill_for)
        notes.append(f"keys that are known get empty windows until they are silent for {longest}")
    return tuple(notes)


def kept_by(base: Base) -> Kept:
    """What a stream keeps of a base, and which windows a technique answers."""
    alone = tuple(w for b in base.readers if b.is_flight for w in _cores(b))
    others = tuple(w for b in base.readers if not b.is_flight for w in b.windows.values())
    widest = max(b.widest for b in base.readers)
    if base.coarse is None:
        return Kept(base.slices, alone, others, widest=widest)
    return Kept(base.coarse, alone, others, base.slices, widest)


def _cores(branch: Branch) -> Iterator[Window]:
    """A window of slices, and the deltas of the stairs on it: what is read when they are due."""
    assert isinstance(branch.shape, Window), "stairs are windows"
    yield branch.shape
    for stair in branch.branches:
        for window in _cores(stair):
            if window is not stair.shape:
                yield window
            elif stair.delta:
                yield Window(max(stair.delta, window.slide), window.slide, window.offset)


def _merging(physical: PhysicalPlan) -> tuple[str, ...]:
    """What becomes of fragments once the slices that they make are complete."""
    merged = [base for base in bases(physical) if base.coarse is not None]
    if not merged:
        return ()
    pairs = [(_hourly(b.coarse), _hourly(b.slices)) for b in merged if b.coarse is not None]
    kept = " and ".join(f"{few} an hour instead of {many}" for few, many in pairs)
    return (f"fragments are merged once no open window ends within their slice: {kept} are kept",)


def _hourly(slices: Slices) -> str:
    return _shown(float(edge_rate(slices)) * 3_600_000_000)


def _history(physical: PhysicalPlan, until: int, fill_for: int | None) -> str:
    """What a stream that starts from history reads of it, and into which slices."""
    held = bases(physical)
    windows = [w for base in held for w in base.windows.values()]
    since = kept_from(windows, until - (fill_for or 0))
    slices = " and ".join(dict.fromkeys(_in_words(base.slices) for base in held))
    return (
        f"starts from history: one batch job groups the table's rows from {instant_text(since)} "
        f"until {instant_text(until)} into {slices}; windows that ended by then are not emitted"
    )


def _in_words(slices: Slices) -> str:
    """Slices of one length by that, others by where they are cut."""
    if len(slices.cuts) == 1:
        return f"{slices.kind} of {duration_text(slices.cuts[0].step)}"
    return f"{slices.kind} between the begins and ends of windows"


class Bucketed(Streamed):
    """For many keys: a key costs a few array elements."""

    name = "bucketed"
    card = "state in columns for each bucket of keys, evaluated by NumPy when windows are due"

    def due_technique(self, physical: PhysicalPlan, given: str) -> tuple[str, dict[str, float]]:
        """The technique that was given, or for "auto" the one that reads least; what each reads.

        It depends on the plan alone, so that a stream has the same wherever it is planned.
        """
        best, read = choose_technique([kept_by(base) for base in bases(physical)])
        return (best if given == "auto" else given), read

    def notes(self, physical: PhysicalPlan, question: Question) -> tuple[str, ...]:
        """By what the windows that are due are answered, and what the other techniques read."""
        until, due = question.until, (*_merging(physical), *self._due(physical, question))
        return due if until is None else (_history(physical, until, question.fill_for), *due)

    def _due(self, physical: PhysicalPlan, question: Question) -> tuple[str, ...]:
        if question.update:
            how = "windows that changed are answered from all slices that open windows hold"
            return (how, *_kept_longer(question))
        technique, read = self.due_technique(physical, question.technique)
        others = ", ".join(f"{name} {_shown(read[name])}" for name in read if name != technique)
        how = f"windows that are due are answered by {technique}: {TECHNIQUES[technique]}"
        if not read:
            return (how, *_kept_longer(question))
        return (
            how,
            *_kept_longer(question),
            f"{technique} is predicted to read {_shown(read[technique])} partials a result, "
            f"at a step every {duration_text(STEP)}; {others}",
        )

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """All partials are merged in Python."""
        return question.not_in_python

    def rewrites(self, question: Question) -> tuple[Rewrite, ...]:
        """Its state keeps disjoint pieces."""
        return (refine, slice_roots)

    def seconds(self, physical: PhysicalPlan, question: Question) -> dict[int, float]:
        """Grouping, evaluating what is due, and handing it back."""
        held, found = over_all(question).held, price_grouping(physical, question)
        found[FROM_SOURCE] += BATCHES * BATCH
        for node in physical.nodes:
            if node.parent != FROM_SOURCE:
                found[node.number] = price_evaluation(physical, node, question, kept=True)
            if not node.hidden:
                found[node.number] += EMITTED * held(node.shape)
        return found


BUCKETED = Bucketed()

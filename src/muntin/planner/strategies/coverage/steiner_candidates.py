"""Candidate factor windows for a whole set of windows, for `steiner` to choose among.

time  O(candidates · windows), vectorised      space  at most `limits.candidates`

Windows W(a·slide + rest, slide) of every class that serves some asked windows (`window_classes`).
The lengths a are those at which some member needs one piece less (`fewer_pieces`), or the divisors
of a member's length where pieces must be disjoint; the shortest, a = 1, always stays. A longer one
stays if it would save something for the asked windows when computed from the shortest of its class;
if too many do, those that save most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from muntin.cost.arrays import Floats, Ints, WindowArrays
from muntin.planner.strategies.budget import Budget
from muntin.planner.strategies.coverage.divisors import divisors, trials
from muntin.planner.strategies.coverage.edge_costs import edge_costs
from muntin.planner.strategies.coverage.factor_candidates import fewer_pieces
from muntin.planner.strategies.coverage.window_classes import classes_for, members
from muntin.planner.strategies.problem import Problem


@dataclass(frozen=True, slots=True)
class Limits:
    """How many classes, lengths in each, and candidates in all are looked at.

    `sizes` bounds of how many different members the lengths are looked up, in all classes.
    """

    classes: int
    lengths: int
    candidates: int
    sizes: int = 2_000


def steiner_candidates(problem: Problem, limits: Limits) -> WindowArrays:
    """Windows that may be worth computing though nobody asked for them."""
    asked, budget = WindowArrays.of(problem.windows), problem.budget
    classes = classes_for(asked, problem.idempotent, limits.classes, budget)
    serves = members(classes, asked)
    roots = WindowArrays(classes[:, 0] + classes[:, 2], classes[:, 0], classes[:, 1])
    share = replace(limits, sizes=max(limits.sizes // len(classes), 10))
    lengths = [
        _lengths(asked.range[served] // slide, problem.idempotent, share, budget)
        for slide, served in zip(classes[:, 0], serves, strict=True)
    ]
    base = np.repeat(np.arange(len(classes)), [len(each) for each in lengths])
    slides = classes[base, 0]
    steps = np.array([a for each in lengths for a in each], dtype=np.int64)
    longer = WindowArrays(steps * slides + classes[base, 2], slides, classes[base, 1])
    budget.spend((len(roots) + 2 * len(longer)) * len(asked) // 25)
    gains = _gains(problem, asked, roots, longer, base)
    kept = np.flatnonzero(gains > 0)
    kept = kept[np.argsort(-gains[kept], kind="stable")]
    room = max(0, limits.candidates - len(roots))
    return _not_asked(roots.joined(longer.take(kept[:room])), problem)


def _lengths(sizes: Ints, idempotent: bool, limits: Limits, budget: Budget) -> list[int]:
    """Lengths beyond one slide that help members of these sizes, the most helpful ones first."""
    shorter = fewer_pieces if idempotent else divisors
    helped: Counter[int] = Counter()
    for size, times in Counter(sizes.tolist()).most_common(limits.sizes):
        found = shorter(size)
        budget.spend(trials(size) + len(found) // 5)
        helped.update(dict.fromkeys(found, times))
    del helped[1]
    return [length for length, _ in helped.most_common(limits.lengths)]


def _gains(
    problem: Problem, asked: WindowArrays, roots: WindowArrays, longer: WindowArrays, base: Ints
) -> Floats:
    """What each longer window saves beside the shortest window of its class."""
    cost, idempotent = problem.cost, problem.idempotent
    before = edge_costs(cost, roots, asked, idempotent, fewest=True)[base]
    after = edge_costs(cost, longer, asked, idempotent, fewest=True)
    better = after < before
    saved = np.where(better, before, 0.0) - np.where(better, after, 0.0)
    # The shortest window of a class makes a longer one from as many pieces as it has steps.
    own = [
        edge_costs(cost, roots.take(base[i : i + 1]), longer.take(at), idempotent, fewest=True)[0]
        for i, at in _runs(base)
    ]
    gains: Floats = saved.sum(axis=1) - (np.concatenate(own) if own else 0.0)
    return gains


def _runs(base: Ints) -> Iterable[tuple[int, Ints]]:
    """Where each class begins, and the positions of its windows."""
    if not len(base):
        return ()
    starts = np.flatnonzero(np.diff(base, prepend=-1))
    return zip(starts.tolist(), np.split(np.arange(len(base)), starts[1:]), strict=True)


def _not_asked(found: WindowArrays, problem: Problem) -> WindowArrays:
    asked = {(w.range, w.slide, w.offset) for w in problem.windows}
    return WindowArrays.rows(row for row in dict.fromkeys(found.triples()) if row not in asked)

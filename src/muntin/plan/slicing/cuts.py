"""Slices as sets of cuts: time is cut wherever an instance begins or ends.

A cut is a residue class of instants, phase modulo step. Slices are the consecutive intervals
between the cuts of a few classes; the slice of an instant begins at the latest cut at or before it.
No period is ever written out: the least common multiple of many slides is astronomically large,
the set of classes never larger than twice the number of windows.

    panes         gcd(range, slide) apart                 "No pane, no gain", Li et al. 2005
    pairs         at every begin and every end            "On-the-fly sharing", Krishnamurthy 2006
    cutty         at every begin only: an instance may    "Cutty", Carbone et al. 2016
                  end within a slice that is still open
    shared …      the same for several windows together

Pairs are numbered by their edges: a slide of W(14, 8) begins with the fragment r mod s = 6, then
the rest, 2 (one paper numbers the fragments the other way round).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd, lcm
from typing import NamedTuple

from muntin.errors import WindowError
from muntin.model.windows import Window


class ResidueClass(NamedTuple):
    """Step and phase, unchecked: searches make, sort and look up millions of these."""

    step: int
    phase: int


class Cut(ResidueClass):
    """A cut at every instant that is `phase` modulo `step`."""

    __slots__ = ()

    def __new__(cls, step: int, phase: int) -> Cut:
        if step <= 0 or not 0 <= phase < step:
            raise WindowError(f"a cut needs 0 ≤ phase < step, not {phase} and {step}")
        return super().__new__(cls, step, phase)

    def before(self, instant: int) -> int:
        """The latest cut at or before the instant."""
        return instant - (instant - self.phase) % self.step


@dataclass(frozen=True)
class Slices:
    """The intervals between consecutive cuts.

    >>> slices = shared_pairs([Window(12, 9), Window(10, 6)])
    >>> [t for t in range(1, 19) if slices.start_of(t) == t]
    [3, 4, 6, 9, 10, 12, 16, 18]
    """

    cuts: tuple[Cut, ...]
    kind: str = field(default="slices", compare=False)

    def __post_init__(self) -> None:
        if not self.cuts:
            raise WindowError("slices need at least one cut: give at least one window")

    @cached_property
    def _hash(self) -> int:
        return hash(self.cuts)

    def __hash__(self) -> int:
        return self._hash  # edge rates are looked up by slices of thousands of cuts

    @cached_property
    def _phases(self) -> dict[int, set[int]]:
        """The phases of the cuts by their steps, in the order of the cuts."""
        found: dict[int, set[int]] = {}
        for step, phase in self.cuts:
            found.setdefault(step, set()).add(phase)
        return found

    def start_of(self, instant: int) -> int:
        """Where the slice that holds the instant begins."""
        return max(cut.before(instant) for cut in self.cuts)

    def cuts_at(self, cut: Cut) -> bool:
        """Whether these slices are cut at every instant of the class.

        One class usually contains it. If not, several may do so together: each that meets it has
        every m-th of its instants. Where these parts can add up to all, the instants are counted
        off over their common period, if that is short.

        time  O(d) for d different steps, mostly; O(n) where parts can add up

        >>> Slices((Cut(4, 0), Cut(6, 2), Cut(12, 10))).cuts_at(Cut(2, 0))
        False
        >>> Slices((Cut(4, 0), Cut(4, 2))).cuts_at(Cut(2, 0))
        True
        """
        if self._contains(cut):
            return True
        if self._most_covered(cut) < 1 - 1e-9:
            return False
        parts = [part for own in self.cuts if (part := _met(own, cut)) is not None]
        period = 1
        for step, _ in parts:
            period = lcm(period, step)
            if period > 10_000:
                return False
        if sum(period // step for step, _ in parts) < period:
            return False
        covered = bytearray(period)
        for step, first in parts:
            covered[first::step] = b"\1" * len(range(first, period, step))
        return all(covered)

    def _contains(self, cut: Cut) -> bool:
        """Whether one of the classes contains this one, which is most often one of them."""
        step, phase = cut
        if phase in self._phases.get(step, ()):
            return True
        dividing = [own for own in self._phases if not step % own]
        return any(phase % own in self._phases[own] for own in dividing)

    def _most_covered(self, cut: Cut) -> float:
        """What part of the class can be cut, at most, by classes of which none contains it.

        One whose step divides its step meets it everywhere or nowhere, so here nowhere.
        """
        apart, _ = cut
        some = ((step, len(at)) for step, at in self._phases.items() if apart % step)
        return sum(count * gcd(step, apart) / step for step, count in some)

    def __str__(self) -> str:
        return " ∪ ".join(f"{c.phase} mod {c.step}" if c.phase else f"{c.step}ℤ" for c in self.cuts)


def _met(own: Cut, cut: Cut) -> tuple[int, int] | None:
    """Which instants of a class are cut: every how manyth, and the first; None if none is."""
    common = gcd(own.step, cut.step)
    apart, left = divmod(own.phase - cut.phase, common)
    if left:
        return None
    step = own.step // common
    return step, apart * pow(cut.step // common, -1, step) % step


def begins(window: Window) -> Cut:
    return Cut(window.slide, window.offset)


def ends(window: Window) -> Cut:
    return Cut(window.slide, (window.offset + window.range) % window.slide)


def cut_everywhere(cuts: Iterable[Cut], kind: str = "slices") -> Slices:
    """Slices with all these cuts; a class within another is left out."""
    return Slices(tuple(Cut(step, phase) for step, phase in coarsest(cuts)), kind)


def coarsest(classes: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The classes (step, phase) that lie within no other, in order.

    time  O(n log n + d²) for d different steps

    >>> coarsest([(6, 1), (4, 0), (3, 1), (8, 4), (4, 0)])
    [(3, 1), (4, 0)]
    """
    phases: dict[int, set[int]] = {}
    kept, last, dividing = [], 0, list[tuple[int, set[int]]]()
    for step, phase in sorted(set(classes)):
        if step != last:
            dividing = [(s, known) for s, known in phases.items() if not step % s]
            last = step
        if not any(phase % s in known for s, known in dividing):
            phases.setdefault(step, set()).add(phase)
            kept.append((step, phase))
    return kept


def panes(window: Window) -> Slices:
    """Equal slices of gcd(range, slide)."""
    step = gcd(window.range, window.slide)
    return Slices((Cut(step, window.offset % step),), "panes")


def pairs(window: Window) -> Slices:
    """One slice or two a slide: cut where instances begin and where they end."""
    return cut_everywhere((begins(window), ends(window)), "pairs")


def cutty(window: Window) -> Slices:
    """Cut where instances begin: ⌈r/s⌉ slices an instance, the last of them perhaps still open."""
    return Slices((begins(window),), "Cutty slices")


def shared_panes(windows: Sequence[Window]) -> Slices:
    """Equal slices of the gcd of all ranges, slides and offsets."""
    step = gcd(*(n for w in windows for n in (w.range, w.slide, w.offset)))
    return Slices((Cut(step, 0),), "shared panes")


def shared_pairs(windows: Sequence[Window]) -> Slices:
    """Cut wherever any instance begins or ends: the coarsest slices that serve all windows."""
    return cut_everywhere((cut for w in windows for cut in (begins(w), ends(w))), "shared pairs")


SLICINGS: dict[str, Callable[[Window], Slices]] = {"panes": panes, "pairs": pairs, "cutty": cutty}
"""How one window is cut, by name."""


def cuts_ends(window: Window, slicing: str) -> bool:
    """Whether slices made for the window are cut where its instances end.

    >>> cuts_ends(Window(14, 8), "pairs"), cuts_ends(Window(14, 8), "cutty")
    (True, False)
    """
    return SLICINGS[slicing](window).cuts_at(ends(window))


def shared_slices(windows: Sequence[Window], slicing: str) -> Slices:
    """Cut wherever any of the windows is cut, each in the same way: the composite slide.

    >>> windows = [Window(14, 8), Window(12, 4)]
    >>> [str(shared_slices(windows, slicing)) for slicing in SLICINGS]
    ['2ℤ', '4ℤ ∪ 6 mod 8', '4ℤ']
    """
    cut = SLICINGS[slicing]
    kind = f"shared {cut(windows[0]).kind}"
    return cut_everywhere((c for w in windows for c in cut(w).cuts), kind)

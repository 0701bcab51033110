"""The cost of the factor-windows paper: events processed in a common period (section 3.2, Table 1).

    R     lcm of the ranges (windows alone), S: lcm of the slides (slices); plans of both kinds are
          compared over lcm(R, S), as in section 5.2: pass it as `period`
    n_i   1 + (R - r_i)/s_i, the recurrence count (Equation 1)
    c_i   n_i·η·r_i from the source, n_i·M(i, j) from window j (Observation 1, whose text has n_1
          twice where it means the instance cost M alone)

Table 1 for slices in a period S with T = ηS events: T for each set of slices, and for the final
aggregates (S/s_i)·(r_i/g) by panes, (S/s_i)·⌈2r_i/s_i⌉ by unshared pairs (a bound: pairs really
take 2⌊r/s⌋ + 1), E·(r_i/s_i) by shared slices with E edges in S.

The two counts of instances differ: n_i counts only instances that lie within R, so W(3600, 300) has
one in R = 3600, where Table 1 counts S/s_i = 12. The paper compares them as they are; so do we,
under this cost only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from numbers import Real

from muntin.cost.partials import partials
from muntin.coverage import Pieces, Source
from muntin.errors import StrategyError
from muntin.plan import Shape
from muntin.slicing import Slices, edge_rate
from muntin.windows import Window

LONGEST = 1e200
"""Longest period in which events are counted; products beyond it would overflow a float."""


@dataclass(frozen=True, slots=True)
class PaperCost:
    """Cost over a period, for `rate` events in each unit of the windows' numbers (η)."""

    windows: tuple[Window, ...]
    rate: float = 1.0
    period: int | None = None
    name: str = "paper"
    unit: str = "events"
    fewest: bool = False
    range_period: int = field(init=False, repr=False, compare=False)
    """R, which the user's windows alone decide: factor windows do not change it."""
    slide_period: int = field(init=False, repr=False, compare=False)
    """S, the period of Table 1."""

    def __post_init__(self) -> None:
        if not isinstance(self.rate, Real) or not self.rate > 0:
            raise StrategyError(f"rate {self.rate!r} must be positive: events per unit of time")
        ranges = self.period or lcm(*(w.range for w in self.windows))
        slides = self.period or lcm(*(w.slide for w in self.windows))
        if max(ranges, slides) > LONGEST:
            raise StrategyError(
                f"{len(self.windows)} windows have a common period of more than {LONGEST:.0e} "
                f"units, beyond what the paper's cost can count: use cost='rate'"
            )
        object.__setattr__(self, "range_period", ranges)
        object.__setattr__(self, "slide_period", slides)

    def recurrence(self, window: Window) -> Fraction:
        """n_i of Equation 1; a fraction where the range is no multiple of the slide.

        >>> PaperCost((Window(3600, 300),)).recurrence(Window(3600, 300))
        Fraction(1, 1)
        """
        return 1 + Fraction(self.range_period - window.range, window.slide)

    def edge(self, parent: Shape, child: Slices | Window, pieces: Pieces) -> float:
        """Section 3.2 for windows, Table 1 for slices."""
        match parent, child:
            case Source(), Slices():
                return self.rate * self.slide_period
            case Source(), Window():
                return self._instances(child) * self.rate * child.range
            case Slices(), Slices():
                return float(self.slide_period * edge_rate(parent))
            case Slices(), Window():
                instances = Fraction(self.slide_period, child.slide)
                return float(instances * _slices_in(child, parent, pieces))
            case _:
                assert isinstance(child, Window), "slices are never made of windows"
                return self._instances(child) * pieces.count

    def _instances(self, window: Window) -> float:
        """n_i as a float: searches ask for it once an edge, and a Fraction is slow."""
        return (self.range_period - window.range + window.slide) / window.slide


def _slices_in(child: Window, parent: Slices, pieces: Pieces) -> Fraction:
    if parent.kind == "pairs":
        return Fraction(-(-2 * child.range // child.slide))
    return partials(child, parent, pieces.kind)

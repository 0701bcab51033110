"""The cost of the factor-windows paper: events processed in a common period (section 3.2, Table 1).

    P     the period, lcm(R, S): R the lcm of the ranges (section 3.2), S that of the slides (Table
          1). The paper's Equation 1 is over R and its Table 1 over S; section 5.2 extends both to
          lcm(R, S) to compare plans on windows with plans on slices. Here every plan is priced over
          it: over their own periods, shared pairs of W(40, 8), W(20, 4), W(10, 2) at η = 10 would
          cost 140 against 520 for wcg-fw, where over one period they cost 700. Where every slide
          divides R, as in all of the paper's examples, P is R.
    n_i   1 + (P - r_i)/s_i, the recurrence count (Equation 1)
    c_i   n_i·η·r_i from the source, n_i·M(i, j) from window j (Observation 1, whose text has n_1
          twice where it means the instance cost M alone)

Table 1 for slices in a period with T = ηP events: T for each set of slices, and for the final
aggregates (P/s_i)·(r_i/g) by panes, (P/s_i)·⌈2r_i/s_i⌉ by unshared pairs (a bound: pairs really
take 2⌊r/s⌋ + 1), E·(r_i/s_i) by shared slices with E edges in P.

The two counts of instances differ: n_i counts only instances that lie within P, so W(3600, 300) has
one in P = 3600, where Table 1 counts P/s_i = 12. The paper compares them as they are; so do we,
under this cost only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from numbers import Real

from muntin.errors import StrategyError
from muntin.model.windows import Window
from muntin.plan import Shape
from muntin.plan.coverage import EdgePieces, Source
from muntin.plan.slicing import Slices, edge_rate, mean_slices

LONGEST = 10**200
"""Longest period in which events are counted; products beyond it would overflow a float."""


@dataclass(frozen=True, slots=True)
class PaperCost:
    """Cost over one period, for `rate` events in each unit of the windows' numbers (η).

    The period is lcm(R, S) of the user's windows unless another is given; factor windows do not
    change it.

    >>> PaperCost((Window(14, 8), Window(9, 9))).period       # R = 126, S = 72
    504
    """

    windows: tuple[Window, ...]
    rate: float = 1.0
    period: int = 0
    name: str = "paper"
    unit: str = "events"
    fewest: bool = False
    level: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.rate, Real) or not self.rate > 0:
            raise StrategyError(f"rate {self.rate!r} must be positive: events per unit of time")
        if not self.period:
            object.__setattr__(self, "period", common_period(self.windows))

    def recurrence(self, window: Window) -> Fraction:
        """n_i of Equation 1; a fraction where the range is no multiple of the slide.

        >>> PaperCost((Window(3600, 300),)).recurrence(Window(3600, 300))
        Fraction(1, 1)
        """
        return 1 + Fraction(self.period - window.range, window.slide)

    def edge(self, parent: Shape, child: Slices | Window, pieces: EdgePieces) -> float:
        """Section 3.2 for windows, Table 1 for slices."""
        match parent, child:
            case Source(), Slices():
                return self.rate * self.period
            case Source(), Window():
                return self._instances(child) * self.rate * child.range
            case Slices(), Slices():
                return float(self.period * edge_rate(parent))
            case Slices(), Window():
                slices = mean_slices(child, parent, pieces.kind)
                if parent.kind == "pairs":
                    slices = Fraction(-(-2 * child.range // child.slide))
                return float(Fraction(self.period, child.slide) * slices)
            case _:
                assert isinstance(child, Window), "slices are never made of windows"
                return self._instances(child) * pieces.count

    def _instances(self, window: Window) -> float:
        """n_i as a float: searches ask for it once an edge, and a Fraction is slow."""
        return (self.period - window.range + window.slide) / window.slide


def common_period(windows: Iterable[Window]) -> int:
    """lcm(R, S), or an error where it is beyond counting: it is computed, never walked.

    >>> common_period([Window(40, 8), Window(20, 4), Window(10, 2)])
    40
    """
    period = 1
    for number, window in enumerate(windows, 1):
        period = lcm(period, window.range, window.slide)
        if period > LONGEST:
            raise StrategyError(
                f"the first {number} windows have a common period of more than 1e200 units, "
                "beyond what the paper's cost can count: use cost='rate'"
            )
    return period

"""The cost of weaving: partial and final aggregations a second (Equation 1 of both papers).

    m trees, each on its own slices             C = m·λ + Σ E_i·Ω_i
    trees on one set of finer slices            C = λ + m·E_all + Σ E_i·Ω_i       (TriWeave)

λ is the input rate, E_i the edge rate of tree i, Ω_i what its windows cost at each edge by the
technique that answers them (`muntin.cost.omega`). The second line is not spelled out in any paper:
one pass makes the finest slices, and each tree aggregates these again into its own.

As a sum over the edges of a sharing plan:

    source → slices  λ              slices → slices  E of the finer        slices → windows  E·Ω
    source → window  λ·r/s          window → window  pieces/s

Ω belongs to all windows of a tree together: SlickDeque shares its running aggregates and its deque.
`family` gives each window its part: by Panes, FlatFAT and FlatFIT what it adds, by SlickDeque (Inv)
an equal part of the running aggregate that it reads, by SlickDeque (Non-Inv) an equal part of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

from muntin.cost.omega import Load, omega_name, paper_omega
from muntin.cost.omega_counted import counted_omega
from muntin.cost.rate import SECOND
from muntin.coverage import EdgeKind, Pieces, Source
from muntin.errors import StrategyError
from muntin.plan import Shape
from muntin.slicing import Slices, edge_rate
from muntin.windows import Window


@dataclass(frozen=True, slots=True)
class WeaveCost:
    """Aggregations in each `unit_of_time` of the windows' numbers, for `rate` events in it.

    `counted` takes Ω as techniques really do it instead of the paper's estimate.

    >>> from muntin.slicing import shared_pairs
    >>> pair = [Window(12, 9), Window(10, 6)]
    >>> WeaveCost("flatfit", unit_of_time=18).family(shared_pairs(pair), pair)  # 8 edges, Ω = 6
    [24.0, 24.0]
    """

    technique: str = "panes"
    rate: float = 100.0
    keys: float = 1.0
    invertible: bool = False
    unit_of_time: int = SECOND
    counted: bool = False
    name: str = "weave"
    unit: str = "aggregations/s"
    fewest: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.rate, Real) or not self.rate > 0:
            raise StrategyError(f"rate {self.rate!r} must be positive: events per second")
        if not isinstance(self.keys, Real) or not self.keys >= 1:
            raise StrategyError(f"keys {self.keys!r} must be at least 1: distinct keys")
        omega_name(self.technique, self.invertible)

    @property
    def row(self) -> str:
        """The row of Table 3 that applies."""
        return omega_name(self.technique, self.invertible)

    def edges(self, slices: Slices) -> float:
        """Partials of all keys in a unit of time."""
        return self.keys * self.unit_of_time * float(edge_rate(slices))

    def edge(self, parent: Shape, child: Slices | Window, pieces: Pieces) -> float:
        """What a node costs alone; windows on slices may share (`family`)."""
        match parent, child:
            case Source(), Slices():
                return self.rate
            case Source(), Window():
                return self.rate * child.overlap
            case Slices(), Slices():
                return self.edges(parent)
            case Slices(), Window():
                return self.family(parent, [child], [pieces.kind])[0]
            case _:
                assert isinstance(child, Window), "slices are never made of windows"
                return self.keys * self.unit_of_time * pieces.count / child.slide

    def family(
        self, parent: Slices, windows: Sequence[Window], kinds: Sequence[EdgeKind] = ()
    ) -> list[float]:
        """Each window's part of E·Ω."""
        edges = self.edges(parent)
        load = Load(tuple(windows), parent, tuple(kinds))
        if self.row == "slick-deque-inv" and not self.counted:
            sharing = Counter(load.partials)
            return [2 * edges / sharing[p] for p in load.partials]
        if self.row == "slick-deque-non-inv" or self.counted:
            return [edges * self.omega(load) / len(windows)] * len(windows)
        each = [Load((w,), parent, load.kinds[i : i + 1]) for i, w in enumerate(windows)]
        return [edges * self.omega(alone) for alone in each]

    def omega(self, load: Load) -> float:
        """Ω of the windows together."""
        estimate = counted_omega if self.counted else paper_omega
        return estimate(self.technique, load, invertible=self.invertible)

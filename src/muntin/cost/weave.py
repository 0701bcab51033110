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

The papers have one aggregate and no keys; what more of them cost follows from what is counted.

    aggregates   each has a structure of its own (`muntin.cost.variants`), which every record is
                 folded into: a query costs the sum of Equation 1 over its aggregates
    keys         K keys have K·E edges, but λ records fill at most λ slices: E counts min(K·E, λ)
                 partials over all keys, and an instance of one key as many fewer. One key has all
                 of E, as in the papers, even where records are rarer than edges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from muntin.cost.omega import Load, counted_omega, omega_name, paper_omega
from muntin.cost.rate import check_rates
from muntin.cost.statistics import SECOND
from muntin.model.windows import Window
from muntin.plan import Shape
from muntin.plan.coverage import EdgeKind, EdgePieces, Source
from muntin.plan.slicing import Slices, edge_rate


@dataclass(frozen=True, slots=True)
class WeaveCost:
    """Aggregations in each `unit_of_time` of the windows' numbers, for `rate` events in it.

    `variants` has the row of Table 3 for each aggregate (`muntin.cost.variants`); without it there
    is one aggregate, which `technique` serves. `counted` takes Ω as techniques really do it instead
    of the paper's estimate.

    >>> from muntin.plan.slicing import shared_pairs
    >>> pair = [Window(12, 9), Window(10, 6)]
    >>> WeaveCost("flatfit", unit_of_time=18).family(shared_pairs(pair), pair)  # 8 edges, Ω = 6
    [24.0, 24.0]
    """

    technique: str = "panes"
    rate: float = 100.0
    keys: float = 1.0
    variants: tuple[str, ...] = ()
    unit_of_time: int = SECOND
    counted: bool = False
    name: str = "weave"
    unit: str = "aggregations/s"
    fewest: bool = True
    level: float = 0.0

    def __post_init__(self) -> None:
        check_rates(self.rate, self.keys)
        one = omega_name(self.technique, invertible=False)
        object.__setattr__(self, "variants", self.variants or (one,))

    @property
    def aggregates(self) -> int:
        """How many structures every record is folded into."""
        return len(self.variants)

    def filled(self, edges: float) -> float:
        """Of so many edges in a unit of the windows' numbers, those that end a slice with records
        of one key."""
        return min(edges, max(self.rate / self.unit_of_time, edges) / self.keys)

    def edges(self, slices: Slices) -> float:
        """Partials of all keys in a unit of time."""
        return self.keys * self.unit_of_time * self.filled(float(edge_rate(slices)))

    def instances(self, window: Window) -> float:
        """Instances of all keys that have records, in a unit of time."""
        every = self.keys * self.unit_of_time / window.slide
        return every if self.keys == 1 else min(every, self.rate * window.overlap)

    def edge(self, parent: Shape, child: Slices | Window, pieces: EdgePieces) -> float:
        """What a node costs alone; windows on slices may share (`family`)."""
        match parent, child:
            case Source(), Slices():
                return self.aggregates * self.rate
            case Source(), Window():
                return self.aggregates * self.rate * child.overlap
            case Slices(), Slices():
                return self.aggregates * self.edges(parent)
            case Slices(), Window():
                return self.family(parent, [child], [pieces.kind])[0]
            case _:
                assert isinstance(parent, Window), "slices are never made of windows"
                assert isinstance(child, Window), "slices are never made of windows"
                each = pieces.count * parent.slide / child.slide
                return self.aggregates * self.instances(parent) * each

    def family(
        self, parent: Slices, windows: Sequence[Window], kinds: Sequence[EdgeKind] = ()
    ) -> list[float]:
        """Each window's part of E·Ω, summed over the aggregates."""
        edges, load = self.edges(parent), self._load(tuple(windows), parent, tuple(kinds))
        parts = [0.0] * len(windows)
        for row, times in Counter(self.variants).items():
            shares = self._shares(row, load)
            parts = [
                part + times * edges * share for part, share in zip(parts, shares, strict=True)
            ]
        return parts

    def _load(
        self, windows: tuple[Window, ...], slices: Slices, kinds: tuple[EdgeKind, ...]
    ) -> Load:
        every = edge_rate(slices)
        if self.counted or self.filled(float(every)) >= float(every):
            return Load(windows, slices, kinds)
        filled = max(Fraction(self.rate) / self.unit_of_time, every) / Fraction(self.keys)
        return Load(windows, slices, kinds, filled)

    def _shares(self, row: str, load: Load) -> list[float]:
        """Each window's part of Ω for one aggregate."""
        count = len(load.windows)
        if row == "slick-deque-inv" and not self.counted:
            sharing = Counter(load.partials)
            return [2 / sharing[p] for p in load.partials]
        if row == "slick-deque-non-inv" or self.counted:
            return [self._omega(row, load) / count] * count
        alone = (
            Load((w,), load.slices, load.kinds[i : i + 1], load.most)
            for i, w in enumerate(load.windows)
        )
        return [self._omega(row, each) for each in alone]

    def _omega(self, row: str, load: Load) -> float:
        return (counted_omega if self.counted else paper_omega)(row, load)

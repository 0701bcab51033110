"""Seconds on Spark: what a plan makes Spark do, times what each thing costs on this machine.

The work of a plan is counted in a few kinds of things; a prediction is their sum, each times its
constant. Counts come from the plan and the statistics (`Counted.work`), constants are
measured (`muntin calibrate`): the model is linear, and so can be fitted. All constants are seconds
with all cores at work; work that few groups share out among fewer cores counts as more of it.

    plan      once for every plan: analysis, scheduling, the last task
    stage     each shuffle
    level     each level that expand explodes: its expressions are analysed and compiled
    worker    once for a plan that hands rows to Python
    read      each row read from the source and folded into its group
    copied    each copy of a row that our explode makes, and its folding
    windowed  each copy of a row that Spark's own window() makes, and its folding
    grouped   each value of a group that leaves a grouping: shuffle and merge
    entered   each partial that a level of expand looks at, for every node that it may feed
    exploded  each value of a partial that is exploded into an instance and merged there
    shipped   each value of a partial that is shuffled, sorted and handed to Python
    scanned   each partial column of a piece, for every window that is made of it in Python
    returned  each value of a result that comes back from Python
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter, mul


@dataclass(frozen=True, slots=True)
class Work:
    """How many things of each kind a plan makes Spark do."""

    plan: float = 1.0
    stage: float = 0.0
    level: float = 0.0
    worker: float = 0.0
    read: float = 0.0
    copied: float = 0.0
    windowed: float = 0.0
    grouped: float = 0.0
    entered: float = 0.0
    exploded: float = 0.0
    shipped: float = 0.0
    scanned: float = 0.0
    returned: float = 0.0


KINDS = tuple(kind.name for kind in fields(Work))
_COUNTS = attrgetter(*KINDS)


@dataclass(frozen=True, slots=True)
class Constants:
    """Seconds for one thing of each kind; `origin` says where they come from."""

    plan: float = 0.035
    stage: float = 0.059
    level: float = 0.0033
    worker: float = 0.012
    read: float = 1.8e-8
    copied: float = 2.0e-8
    windowed: float = 4.7e-8
    grouped: float = 7.9e-8
    entered: float = 1.4e-8
    exploded: float = 1.1e-8
    shipped: float = 9.3e-8
    scanned: float = 1.0e-8
    returned: float = 2.0e-8
    cores: int = 2
    origin: str = "shipped"

    def seconds(self, work: Work) -> float:
        """The prediction.

        >>> Constants(plan=1, read=0.5).seconds(Work(read=4))
        3.0
        """
        return float(sum(map(mul, _COUNTS(self), _COUNTS(work))))


SHIPPED = Constants()
"""Fitted on two cores to one run of the experiment `cost-model`; another run judges them."""

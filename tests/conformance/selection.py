"""How much runs, from which seeds, and which of a question's many plans.

By default the same questions every time. `make test-long` takes many more from a seed of the day,
which it prints; MUNTIN_SEED=… takes that seed's.
"""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

from conformance.cases import Case, cases_of
from conformance.census import Census
from conformance.everyday import question

T = TypeVar("T")

LONG = os.environ.get("MUNTIN_HYPOTHESIS") == "long"
SEED = os.environ.get("MUNTIN_SEED", f"{datetime.now(UTC):%Y-%m-%d}" if LONG else "everyday")


def many(default: T, long: T) -> T:
    """How many, or which: in the default run, and in the long one."""
    return long if LONG else default


def worth_trying(cases: Sequence[Case], census: Census, count: int) -> list[Case]:
    """The plans with the rarest kinds of edges, as far as the census has counted."""
    return sorted(cases, key=lambda case: census.rarest(case.plan, case.query))[:count]


def most_telling(seed: str, census: Census, rows: int, turns: int = 4) -> list[Case]:
    """Of several questions the one with the rarest plan: for where running one is expensive."""
    drawn = [cases_of(question(f"{seed}/{turn}", rows)) for turn in range(turns)]
    return min(drawn, key=lambda cases: min(census.rarest(c.plan, c.query) for c in cases))

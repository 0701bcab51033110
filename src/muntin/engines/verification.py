"""What a comparison with an engine's own rows found, as a value and in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from muntin.errors import printable
from muntin.report import Outcome

TOLERANCE = 1e-9
"""Relative, for floating-point values: the order of addition differs."""

SAMPLE = 20
"""Rows that differ which are shown."""

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True, repr=False)
class Verification(Outcome):
    """The outcome: how many rows were compared, how many differ, and some that do.

    `words` say how those differ, and `judge` whose rows ours were compared with. `rounded` rows are
    equal only within the tolerance for floating-point values.
    """

    rows: int
    different: int
    sample: tuple[object, ...]
    words: tuple[str, ...]
    judge: str
    rounded: int = 0

    def __repr__(self) -> str:
        if self.equal:
            within = f" ({self.rounded:,} within {TOLERANCE:g} of rounding)" if self.rounded else ""
            return f"equal: all {self.rows:,} rows are {self.judge}{within}"
        lines = [f"different: {self.different:,} of {self.rows:,} rows"]
        return "\n".join([*lines, *(f"  {printable(each)}" for each in self.words)])


def describe(
    ours: Sequence[Row],
    theirs: Sequence[Row],
    engine: str,
    note: Callable[[object, object], str] = lambda ours, theirs: "",
) -> str:
    """How our rows of one window and key differ from an engine's own; `note` adds to a pair."""
    if not ours or not theirs:
        return f"only {'Muntin' if ours else engine} has it"
    if len(ours) > 1 or len(theirs) > 1:
        return f"{len(ours)} rows against {engine}'s {len(theirs)}"
    pairs = [(name, value, theirs[0][name]) for name, value in ours[0].items()]
    return "; ".join(
        f"{name} = {own!r}, {engine}'s {other!r}{note(own, other)}"
        for name, own, other in pairs
        if own != other
    )

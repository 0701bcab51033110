"""Trailing windows in process: the features are those of brute force over explicit intervals."""

from itertools import cycle

import pytest

from conformance.selection import SEED, many
from conformance.trailing import trailing_question
from conformance.trailing_runners import IN_PROCESS, KINDS, differences, note
from muntin_testing.reached import Reached

EACH = 60
"""Questions in a part; parts can run in several processes."""


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, many(3, 30)))]
)
def test_features_are_those_of_brute_force(part: int) -> None:
    reached, runners = Reached(), cycle(IN_PROCESS)
    for number in range(part * EACH, (part + 1) * EACH):
        asked = trailing_question(f"{SEED}/trailing/{number}")
        runner = next(runners)
        wrong = differences(asked, IN_PROCESS[runner](asked))
        assert not wrong, "\n".join([f"{asked.seed} by {runner}: {asked}", *wrong[:5]])
        note(asked, reached)
    reached.at_least(2, *KINDS)

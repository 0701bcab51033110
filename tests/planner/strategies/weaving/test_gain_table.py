"""The table of gains against a search through all of it."""

from random import Random

import numpy as np
import pytest

from muntin.planner.strategies.weaving.gain_table import GainTable


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_is_that_of_a_full_search(seed: int) -> None:
    random, size = Random(seed), 9
    table, full = GainTable(size), np.full((size, size), -np.inf)
    alive, compared = list(range(size)), 0
    for _ in range(60):
        i, j = random.sample(alive, 2)
        match random.randrange(8):
            case 0 if len(alive) > 3:
                alive.remove(i)
                table.drop(i)
                full[i] = full[:, i] = -np.inf
            case 1 | 2:
                others = [k for k in alive if k != i]
                gains = np.array([float(random.randrange(6)) for _ in others])
                table.set_row(i, np.array(others), gains)
                full[i, others] = full[others, i] = gains
            case _ if np.isfinite(full[i, j]):
                full[i, j] = full[j, i] = full[i, j] - random.randrange(3)
                table.lower(i, j, full[i, j])
        first, second = divmod(int(full.argmax()), size)
        if np.isfinite(full.max()):
            assert table.largest() == (first, second, full.max())
            compared += 1
    assert compared > 40

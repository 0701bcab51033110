"""A worker is given no more rows than it can hold, as far as is known."""

from hypothesis import given, settings
from hypothesis import strategies as st

from muntin.cost.statistics import SECOND, Statistics
from muntin.physical.held_parts import FEWEST, MOST_HELD, UNEVEN, held_parts
from muntin_testing.reached import Reached

UNKNOWN = st.sampled_from([(), (), (), ("rows",), ("keys",), ("rate",), ("keys", "rate")])
CHUNKS = st.sampled_from([None, 60 * SECOND, 86_400 * SECOND])


def test_a_part_and_the_largest_group_fit_a_worker() -> None:
    reached = Reached()

    @settings(max_examples=4 * settings().max_examples)
    @given(
        rows_of_a_key=st.one_of(st.floats(1e2, 1e10), st.floats(MOST_HELD / 8, 2 * MOST_HELD)),
        keys=st.sampled_from([1.0, 50.0, 1e4, 1e7]),
        chunk=CHUNKS,
        parts=st.integers(1, 400),
        unknown=UNKNOWN,
    )
    def compare(
        rows_of_a_key: float, keys: float, chunk: int | None, parts: int, unknown: tuple[str, ...]
    ) -> None:
        rows = rows_of_a_key * keys
        known = Statistics(rows, keys, rate=100.0, unknown=unknown)
        found = held_parts(rows, known, chunk, parts)
        if "rows" in unknown:
            assert found is None
            return
        groups = 1.0 if "keys" in unknown else keys
        if chunk is not None and "rate" not in unknown:
            groups *= max(rows / 100.0 * SECOND / chunk, 1.0)
        largest = min(UNEVEN * rows / groups, rows)
        if found is None:
            assert largest > MOST_HELD
            reached["left to Spark"] += 1
            reached["only an uneven key is too large"] += rows / groups <= MOST_HELD
            return
        assert largest <= MOST_HELD
        assert rows / found <= MOST_HELD
        if found > parts:
            assert found == -(-rows // MOST_HELD)
            reached["more parts than shuffles have"] += 1
        elif found > 1:
            assert rows / found > FEWEST / 2
            reached["parts of a shuffle"] += 1

    compare()
    reached.at_least(4, "left to Spark", "more parts than shuffles have", "parts of a shuffle")
    reached.at_least(4, "only an uneven key is too large")

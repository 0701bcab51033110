"""Keys stay whole only where a worker can hold each, and none has too much to do."""

from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.cost.statistics import Statistics
from muntin.model.choices import BatchOperator
from muntin.physical.held_parts import MOST_HELD
from muntin.physical.operators.kernel import KERNEL, Kernel
from muntin.physical.operators.rows import ROWS
from muntin.physical.whole_keys import LARGEST, WORTH
from muntin_testing.reached import Reached

ASKED = mt.query("ts", [mt.hopping("1 hour", "1 minute")], [mt.sum("v")], "k")
NAMES: dict[Kernel, BatchOperator] = {KERNEL: "kernel", ROWS: "rows"}
UNKNOWN = st.sampled_from([(), (), (), ("rows",), ("keys",), ("rate",)])


def test_a_key_is_cut_where_it_is_too_much_for_a_task() -> None:
    reached = Reached()

    @given(
        digits=st.floats(4, 9),
        keys=st.sampled_from([1.0, 1.0, 50.0, 1e4]),
        days=st.sampled_from([1, 30, 3_000, 30_000]),
        unknown=UNKNOWN,
        operator=st.sampled_from([KERNEL, ROWS]),
    )
    def compare(
        digits: float, keys: float, days: int, unknown: tuple[str, ...], operator: Kernel
    ) -> None:
        rows = 10.0**digits
        known = Statistics(rows, keys, rows / (days * 86_400), unknown=unknown)
        plan = mt.optimize(ASKED, "shared-pairs", operator=NAMES[operator], statistics=known)
        physical = plan.choice.physical
        chunk = operator.chunk(physical, ASKED, known)
        minutes = days * 1440
        largest = rows if operator is ROWS else min(rows, minutes)
        results = min(keys * (minutes + 60), rows * 60)
        sent = rows if operator is ROWS else min(rows, keys * minutes)
        if chunk is None:
            assert not unknown
            assert largest <= 1.01 * LARGEST
            assert sent + results <= 2 * WORTH * keys
            reached["whole"] += 1
            assert operator.parts(physical, ASKED, 4) is not None or keys > 1
        else:
            assert chunk == 4 * ASKED.windows[0].range
            assert unknown or largest > 0.5 * LARGEST or sent + results > 0.5 * WORTH * keys
            reached["too large"] += not unknown and largest > LARGEST
            reached["too much to do"] += not unknown and largest < 0.5 * LARGEST
            reached["unknown"] += bool(unknown)

    compare()
    reached.at_least(5, "whole", "too large", "unknown")
    reached.at_least(3, "too much to do")


def test_a_worker_holds_its_part_of_keys_that_stay_whole() -> None:
    known = Statistics(rows=5e6, keys=20_000, rate=100)
    plan = mt.optimize(ASKED, "shared-pairs", operator="rows", statistics=known)
    parts = ROWS.parts(plan.choice.physical, ASKED, 4)
    assert parts is not None
    assert known.rows / parts <= MOST_HELD

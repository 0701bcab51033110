"""What came too late, with the windows that it missed: with the results, a batch of all rows."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from muntin.model.windows import Window
from muntin.state.store import MemoryStore
from muntin_testing.buckets import STRATEGIES, Row, late_script, spec_of, stepped
from muntin_testing.reached import Reached
from muntin_testing.windows import window_sets

At = tuple[str, str | None, int]


def of_all_rows(windows: list[Window], rows: list[Row]) -> dict[At, tuple[int, int]]:
    """Sum and count of the values of every window, over all rows."""
    sums, counts = Counter[At](), Counter[At]()
    for time, key, value, _ in rows:
        for window in windows:
            for start in window.instances_of(time):
                sums[window.id, key, start] += value or 0
                counts[window.id, key, start] += value is not None
    return {at: (sums[at], counts[at]) for at in counts}


def test_results_and_what_missed_them_are_all_rows() -> None:
    reached = Reached()

    @given(
        window_sets(most=4),
        st.integers(0, 10**6),
        st.sampled_from(STRATEGIES),
        st.sampled_from([None, 15, 60]),
    )
    def each(windows: list[Window], seed: int, strategy: str, lateness: int | None) -> None:
        rules = {"lateness": lateness, "keeps_late": True, "keeps_records": seed % 2 == 0}
        spec = spec_of(windows, strategy, **rules)
        shapes = {n: w for base in spec.bases for n, w in base.windows.items()}
        store, every = MemoryStore(), list[Row]()
        results, missed = dict[At, Any](), Counter[At]()
        sums = Counter[At]()
        for rows, watermark in late_script(seed, 90):
            every += rows
            found, step = stepped(spec, store, rows, watermark)
            results |= found
            told = list[tuple[Any, ...]]()
            for row in (row for table in step.missed for row in table.to_pylist()):
                window = shapes[row["node"]]
                told.append((row["node"], row["k0"], row["start"]))
                begins = range(row["missed_first"], row["missed_last"] + 1, window.slide)
                assert row["start"] < row["slice_end"] <= begins[0] + window.range
                if spec.keeps_records:
                    assert row["records"] == of_slice(rows, row)
                    reached["several records"] += len(row["records"]) > 1
                for start in begins:
                    missed[window.id, row["k0"], start] += row["p1"]
                    sums[window.id, row["k0"], start] += row["p0"] or 0
            assert len(set(told)) == len(told), "one row for each key, slice and window"
            reached["missed all"] += bool(step.dropped)
            reached["missed some"] += bool(step.late)
            assert bool(told) == bool(step.late + step.dropped)
        both = {
            at: ((results[at][0] or 0 if at in results else 0) + sums[at], count)
            for at in results.keys() | missed.keys()
            for count in [(results[at][1] if at in results else 0) + missed[at]]
        }
        wanted = of_all_rows(windows, every)
        assert both == {at: wanted[at] for at in both}
        assert both.keys() == wanted.keys()

    each()
    reached.at_least(10, "missed all", "missed some")
    reached.at_least(5, "several records")


def of_slice(rows: list[Row], piece: dict[str, Any]) -> list[str]:
    """The rows of a batch that a piece was made of, by their numbers, in the order of time."""
    own = [row for row in rows if row[1] == piece["k0"]]
    inside = [row for row in own if piece["start"] <= row[0] < piece["slice_end"]]
    by_part = sorted(inside, key=lambda row: (row[0], rows.index(row) % 2, rows.index(row)))
    return [str(row[3]) for row in by_part]


def test_a_late_row_tells_the_windows_that_it_missed() -> None:
    windows = [Window(10, 10, id="short"), Window(30, 10, id="long")]
    spec, store = spec_of(windows, keeps_late=True, keeps_records=True), MemoryStore()
    stepped(spec, store, [(45, "a", 1, 1)], 0)
    stepped(spec, store, [], 40)
    _, step = stepped(spec, store, [(26, "b", 2, 3), (25, "b", 5, 2), (24, "c", 0, 4)], 40)
    rows = [row for table in step.missed for row in table.to_pylist()]
    assert {(row["k0"], row["start"], row["slice_end"], row["p0"]) for row in rows} == {
        ("b", 20, 30, 7),
        ("c", 20, 30, 0),
    }
    spans = sorted((row["missed_first"], row["missed_last"]) for row in rows)
    assert spans == [(0, 10)] * 2 + [(20, 20)] * 2
    listed = {"b": ["2", "3"], "c": ["4"]}
    assert all(row["records"] == listed[row["k0"]] for row in rows), "in the order of time"

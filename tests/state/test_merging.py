"""Open slices in the state of a stream: fragments while windows end in them, then one piece."""

import json
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.test_opened import uneven
from muntin.model.windows import Window
from muntin.physical.due_techniques import TECHNIQUES, predict_partials
from muntin.physical.operators.bucketed import kept_by
from muntin.state.bucket import Bucket
from muntin.state.pieces import START, longs
from muntin.state.store import MemoryStore, from_bytes
from muntin_testing.buckets import BruteForce, Row, late_script, spec_of, stepped
from muntin_testing.reached import Reached, drawn

OPEN = Window(94, 10, id="open")
"""Of nine slices and the begin of a tenth, on which no other window ends."""


def held(store: MemoryStore) -> list[int]:
    """The starts of all pieces of a state."""
    tables = [from_bytes(entry) for name, entry in store.items() if "/" in name]
    return sorted(start for table in tables for start in longs(table, START).tolist())


def test_every_step_emits_what_the_protocol_says() -> None:
    """Late rows, revisions, early results; every step reads the bytes that the last one wrote."""
    reached = Reached()

    @drawn(30)
    @given(
        windows=st.lists(uneven(), min_size=1, max_size=3, unique=True),
        seed=st.integers(0, 2**30),
        technique=st.sampled_from(sorted(TECHNIQUES)),
        rules=st.sampled_from(["append", "update", "late now", "lateness"]),
    )
    def each(windows: list[Window], seed: int, technique: str, rules: str) -> None:
        words: Any = {
            "update": {"update": True},
            "late now": {"late_now": True},
            "lateness": {"lateness": 25},
        }.get(rules, {})
        longer = [Window(w.range * 5, w.slide, w.offset, w.id) for w in windows]
        spec = spec_of(longer, "cutty", technique=technique, **words)
        store, oracle, cache = MemoryStore(), BruteForce(longer, **words), dict[str, pa.Table]()
        for rows, watermark in late_script(seed):
            found, step = stepped(spec, store, rows, watermark, cache=cache)
            assert found == oracle.step(rows, watermark)
            merged = json.loads(store["header"])["bases"][0]["merged_to"]
            reached["merged"] += bool(merged)
            reached[f"late, {rules}"] += bool(step.late and merged)
            reached[f"emitted, {rules}"] += bool(found and merged)

    each()
    reached.at_least(50, "merged")
    for rules in ("append", "update", "late now", "lateness"):
        reached.at_least(5, f"late, {rules}", f"emitted, {rules}")


def filled(strategy: str, steps: int = 60) -> tuple[MemoryStore, BruteForce]:
    """A stream of one key with a row at each instant, after so many steps of ten."""
    spec, store, oracle = spec_of([OPEN], strategy), MemoryStore(), BruteForce([OPEN])
    for i in range(steps):
        rows: list[Row] = [(t, "a", t % 7, t) for t in range(10 * i, 10 * i + 10)]
        found, _ = stepped(spec, store, rows, 10 * i)
        assert found == oracle.step(rows, 10 * i)
    return store, oracle


def test_the_state_keeps_half_as_many_pieces() -> None:
    """Nine slices and what is newest in fragments, where shared pairs keep two for each slide."""
    store, pairs = filled("cutty")[0], filled("shared-pairs")[0]
    [base] = json.loads(store["header"])["bases"]
    merged = base["merged_to"]
    assert merged >= 590 - base["block"] - 10, "only what is newest is in fragments"
    assert {start % 10 for start in held(store) if start < merged} == {0}
    assert {start % 10 for start in held(store) if start >= merged} == {0, 4}
    older = [[s for s in held(each) if 500 <= s < merged] for each in (store, pairs)]
    assert len(older[1]) == 2 * len(older[0]) >= 10


def test_a_restart_with_shared_pairs_and_back_goes_on_exactly() -> None:
    """What was merged stays; its windows hold all of it or nothing."""
    store, oracle = filled("cutty")
    for i, strategy in enumerate(["shared-pairs"] * 4 + ["cutty"] * 12, start=60):
        late: list[Row] = [(10 * i - 60, "a", 1, 10 * i + 1), (10 * i - 40, "b", 2, 10 * i + 2)]
        rows: list[Row] = [*((t, "a", t % 7, t) for t in range(10 * i, 10 * i + 10)), *late]
        found, step = stepped(spec_of([OPEN], strategy), store, rows, 10 * i)
        assert found == oracle.step(rows, 10 * i)
        assert len(found) >= 1
        assert step.late


def test_a_new_window_that_ends_within_merged_slices_begins_after_them() -> None:
    store, _ = filled("cutty")
    merged = json.loads(store["header"])["bases"][0]["merged_to"]
    narrow = Window(54, 10, id="narrow")  # its oldest open instance begins at 540
    step = Bucket(spec_of([OPEN, narrow], "cutty"), 0, store).step([], 590)
    assert step.complete_from["narrow"] >= merged
    wide = Window(50, 10, id="wide")
    store, _ = filled("cutty")
    step = Bucket(spec_of([OPEN, wide], "cutty"), 0, store).step([], 590)
    assert step.complete_from["wide"] < merged, "it is cut where merged slices are"


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_what_is_predicted_is_what_is_read(technique: str) -> None:
    """Of slices, and of fragments where they are not merged yet."""
    window, taken, results = Window(1_206, 4), list[int](), 0
    spec = spec_of([window], "cutty", technique=technique, taken=taken.append)
    store, cache, random = MemoryStore(), dict[str, pa.Table](), Random(1)
    step, full = 8, 2_400
    stepped(spec, store, [(t, "a", 1, t) for t in range(full)], full - step, cache=cache)
    stepped(spec, store, [], full, cache=cache)
    taken.clear()
    for clock in range(full + step, full + window.range, step):
        rows: list[Row] = [(t, "a", 1, t) for t in range(clock - step, clock)]
        late = [(random.randrange(clock - window.range, clock - step), "a", 1, 0)]
        rows += late if random.random() < 0.1 else []
        found, _ = stepped(spec, store, rows, clock, cache=cache)
        results += len(found)
    kept = [kept_by(base) for base in spec.bases]
    predicted = predict_partials(kept, technique, step=step, late=0.1)
    assert sum(taken) / results == pytest.approx(predicted, rel=0.07)

"""The kernel's tree equals brute force: whatever is made of whatever, in any order of merging."""

from collections.abc import Collection, Iterator
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from muntin.cost import RateCost
from muntin.kernels.monoids import Arrays, Monoid, Scanned, Ufuncs
from muntin.kernels.pieces import Pieces, Results
from muntin.kernels.tree import evaluate_tree
from muntin.model.windows import Window
from muntin.physical import PhysicalPlan, lower
from muntin.physical.lowering import Suffix
from muntin.physical.operators.kernel import bases
from muntin.plan import SharingPlan, refine, slice_roots
from muntin.planner.strategies import STRATEGIES, Problem
from muntin_testing.reached import Reached, edges_of
from muntin_testing.windows import nested_sets, starts, window_sets

NAMES = ["wcg", "wcg", "wcg-fw", "steiner", "subsume", "tri-weave", "tri-weave", "direct"]
more = settings(max_examples=3 * settings().max_examples)
Found = dict[tuple[int, int, int], str]
"""(node, group, start) → the records that were merged, in order."""


def in_a_row(older: Arrays, newer: Arrays) -> Arrays:
    left, right = np.broadcast_arrays(older[0], newer[0])
    both = np.empty(left.shape, dtype=object)
    flat, a, b = both.ravel(), left.ravel(), right.ravel()
    for i in range(len(flat)):
        flat[i] = a[i] + b[i]
    return (flat.reshape(left.shape),)


TEXTS = Scanned(in_a_row, ("",))
LARGEST = Ufuncs((np.maximum,), (-1,))


def planned(name: str, windows: list[Window], idempotent: bool) -> SharingPlan:
    problem = Problem(tuple(windows), idempotent, RateCost(rate=5e6))
    return slice_roots(refine(STRATEGIES[name](problem)))


def records(random: Random) -> dict[int, list[int]]:
    """Times of two groups, some of them far apart."""
    dense = random.random() < 0.5
    some = range(-40, 41) if dense else sorted(random.sample(range(-60, 60), 25))
    return {0: list(some), 1: random.sample(range(-30, 30), 12)}


def pieces_of(physical: PhysicalPlan, node: int, held: dict[int, list[int]]) -> Pieces:
    [base] = [base for base in bases(physical) if base.node == node]
    cells: dict[tuple[int, int], list[int]] = {}
    for group, times in held.items():
        for t in sorted(times):
            cells.setdefault((group, base.slices.start_of(t)), []).append(t)
    keys = sorted(cells)
    text = np.empty(len(keys), dtype=object)
    for i, key in enumerate(keys):
        text[i] = "".join(f"[{t}]" for t in cells[key])
    largest = np.array([max(cells[key]) + 1000 for key in keys])
    groups, begins = (np.array([key[i] for key in keys], dtype=np.int64) for i in (0, 1))
    return Pieces(groups, begins, np.arange(len(keys)), ((text,), (largest,)))


def expected(window: Window, held: dict[int, list[int]]) -> Iterator[tuple[int, int, list[int]]]:
    for group, times in held.items():
        for start in starts(window, -200, 200):
            own = [t for t in sorted(times) if start <= t < start + window.range]
            if own:
                yield group, start, own


def evaluated(
    physical: PhysicalPlan,
    held: dict[int, list[int]],
    span: tuple[int, int] | None,
    in_runs: Collection[int] = (),
    reached: Reached | None = None,
) -> tuple[Found, dict[tuple[int, int, int], int]]:
    def between(window: Window) -> tuple[int, int]:
        assert span is not None
        low = span[0] + (window.offset - span[0]) % window.slide
        last = span[1] - window.range
        return low, last - (last - window.offset) % window.slide

    monoids: tuple[Monoid, ...] = (TEXTS, LARGEST)
    found: Found = {}
    largest: dict[tuple[int, int, int], int] = {}
    for base in bases(physical):
        pieces = pieces_of(physical, base.node, held)
        limits = None if span is None else between
        for results in evaluate_tree(base.branches, pieces, monoids, limits, in_runs=in_runs):
            if reached is not None and results.times is not None:
                reached["runs"] += 1
                reached["runs of several"] += bool((results.times > 1).any())
            window = physical.nodes[results.node].shape
            assert isinstance(window, Window)
            for key, text, most in _rows(results, window.slide):
                assert key not in found, "no instance comes twice"
                found[key], largest[key] = text, most
    return found, largest


def _rows(results: Results, slide: int) -> Iterator[tuple[tuple[int, int, int], str, int]]:
    (text,), (largest,) = results.columns
    times = np.ones_like(results.start) if results.times is None else results.times
    for i, start in enumerate(results.start.tolist()):
        for turn in range(int(times[i])):
            key = results.node, int(results.group[i]), start + turn * slide
            yield key, str(text[i]), int(largest[i])


def assert_is_brute_force(
    physical: PhysicalPlan, random: Random, within: bool, idempotent: bool, reached: Reached
) -> dict[tuple[int, int, int], list[int]]:
    """Evaluate the plan on random records, within a random span or not; what was expected."""
    held, low = records(random), random.randrange(-50, 20)
    span = (low, low + random.randrange(1, 60)) if within else None
    in_runs = [node.number for node in physical.outputs if random.random() < 0.5]
    found, largest = evaluated(physical, held, span, in_runs, reached)
    wanted = {}
    for node in physical.outputs:
        assert isinstance(node.shape, Window)
        for group, start, own in expected(node.shape, held):
            inside = span is None or (span[0] <= start and start + node.shape.range <= span[1])
            if inside:
                wanted[node.number, group, start] = own
    assert largest == {key: max(own) + 1000 for key, own in wanted.items()}
    if not idempotent:
        told = {key: "".join(f"[{t}]" for t in own) for key, own in wanted.items()}
        assert found == told
    return wanted


def test_every_tree_gives_what_brute_force_gives() -> None:
    reached = Reached()

    @more
    @given(
        drawn=st.one_of(
            *2 * [st.tuples(window_sets(most=4, longest=18), st.sampled_from(NAMES))],
            st.tuples(nested_sets(), st.just("subsume")),
        ),
        idempotent=st.booleans(),
        within=st.booleans(),
        seed=st.integers(0, 2**30),
    )
    def each(drawn: tuple[list[Window], str], idempotent: bool, within: bool, seed: int) -> None:
        random, (asked, name) = Random(seed), drawn
        plan = planned(name, asked, idempotent)
        physical = lower(plan)
        wanted = assert_is_brute_force(physical, random, within, idempotent, reached)
        reached.update(edges_of(plan))
        reached["within a span"] += within and len(wanted) > 0
        overlapping = [
            n for n in physical.nodes if n.parent >= 0 and not physical.nodes[n.parent].disjoint
        ]
        reached["gathered"] += bool(overlapping)
        reached["gathered for sums"] += bool(overlapping) and not idempotent
        for node in physical.nodes:
            if isinstance(node.program, Suffix):
                assert isinstance(node.shape, Window)
                sampled = node.program.length < node.shape.slide
                reached["sampled delta" if sampled else "sliding delta"] += 1
                reached["stairs on stairs"] += isinstance(
                    physical.nodes[node.parent].program, Suffix
                )

    each()
    reached.at_least(5, "gathered", "gathered for sums", "slices → slices", "within a span")
    reached.at_least(5, "hidden window", "window ← window", "slices → window")
    reached.at_least(10, "runs", "runs of several")
    reached.at_least(3, "sampled delta", "sliding delta", "stairs on stairs")


def test_a_stair_may_have_records_in_its_delta_alone() -> None:
    """The record at 1 is in [1, 14), and in no instance of the narrower window from there on."""
    physical = lower(planned("subsume", [Window(4, 4, 2), Window(13, 4, 1)], idempotent=False))
    [stair] = [node for node in physical.nodes if isinstance(node.program, Suffix)]
    found, _ = evaluated(physical, {0: [1]}, span=(1, 14))
    assert found == {(stair.number, 0, 1): "[1]"}

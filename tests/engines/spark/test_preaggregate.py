"""Pre-aggregation by itself: partials of pieces and instances, counted out by definition."""

from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import muntin as mt
from muntin.aggregates.columns import columns_of
from muntin.cost import RateCost
from muntin.engines.spark import preaggregate
from muntin.engines.spark.preaggregate import PreAggregation
from muntin.model.windows import Window
from muntin.physical import PhysicalPlan
from muntin.physical.operators.kernel import bases
from muntin.planner.strategies import STRATEGIES, Problem, strategy_named
from muntin_testing.running import for_stream
from muntin_testing.windows import random_window

PARTIALS = columns_of([mt.sum("x"), mt.max("x"), mt.count()], lambda _: "bigint").partials


def rows_of(random: Random, count: int) -> list[tuple[Any, int, int | None]]:
    return [
        (
            random.choice(["a", "b", None]),
            random.randrange(-50, 50),
            random.choice([None, random.randrange(100)]),
        )
        for _ in range(count)
    ]


def batches_of(rows: list[tuple[Any, int, int | None]]) -> Iterator[pa.RecordBatch]:
    for low in range(0, len(rows), 7):
        part = rows[low : low + 7]
        key = pa.array([k for k, _, _ in part], pa.string())
        value = pa.array([x for _, _, x in part], pa.int64())
        instant = pa.array([t for _, t, _ in part], pa.int64())
        one = pa.array([1] * len(part), pa.int64())
        yield pa.RecordBatch.from_arrays(
            [key, instant, value, value, one], names=["k0", "t", "p0", "p1", "p2"]
        )


def added(found: list[pa.RecordBatch]) -> dict[Any, tuple[Any, Any, int]]:
    """Partials by key, node and start, merged once more: one piece may come several times."""
    total: dict[Any, tuple[Any, Any, int]] = {}
    for batch in found:
        for row in batch.to_pylist():
            at = (row["k0"], row["node"], row["start"])
            s, m, c = total.get(at, (None, None, 0))
            total[at] = (_sum(s, row["p0"]), _max(m, row["p1"]), c + (row["p2"] or 0))
    return total


def _sum(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


def _max(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else max(a, b)


def planned(strategy: str, windows: list[Window]) -> PhysicalPlan:
    return for_stream(strategy_named(strategy)(Problem(tuple(windows), False, RateCost(5e6))))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(4))
def test_instances_hold_exactly_their_rows(
    strategy: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(f"{strategy}/{seed}")
    windows = list(dict.fromkeys(random_window(random) for _ in range(4)))
    plan = planned(strategy, windows)
    rows = rows_of(random, random.choice([1, 20, 90]))
    if seed % 2:  # several portions, and partials sent before the end
        monkeypatch.setattr(preaggregate, "PORTION", 20)
        monkeypatch.setattr(preaggregate, "HELD", 60)
    body = PreAggregation(("k0",), PARTIALS, bases(plan), wraps=False, instances=True)
    found = added(list(body(batches_of(rows))))
    expected: dict[Any, list[int | None]] = defaultdict(list)
    for key, t, x in rows:
        for i, node in enumerate(plan.nodes):
            if not node.hidden:
                assert isinstance(node.shape, Window)
                for start in node.shape.instances_of(t):
                    expected[(key, i, start)].append(x)
    assert found == {
        at: (
            sum(v for v in xs if v is not None) if any(v is not None for v in xs) else None,
            max((v for v in xs if v is not None), default=None),
            len(xs),
        )
        for at, xs in expected.items()
    }


def test_pieces_are_disjoint_and_hold_every_row() -> None:
    random = Random(1)
    plan = planned("shared-pairs", [Window(10, 4), Window(6, 6, 1)])
    rows = rows_of(random, 60)
    body = PreAggregation(("k0",), PARTIALS, bases(plan), wraps=False)
    pieces = added(list(body(batches_of(rows))))
    assert sum(count for _, _, count in pieces.values()) == len(rows)
    [base] = bases(plan)
    assert {(k, start) for k, _, start in pieces} == {
        (k, base.slices.start_of(t)) for k, t, _ in rows
    }


def test_a_partition_without_rows_gives_none() -> None:
    plan = planned("direct", [Window(10, 4)])
    body = PreAggregation(("k0",), PARTIALS, bases(plan), wraps=False, instances=True)
    assert list(body(iter(()))) == []

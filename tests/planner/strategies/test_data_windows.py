"""Plans of windows that the data decides: refused by rule, and right on generated records."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.errors import PlanError, QueryError, StrategyError
from muntin.model.data_windows import Begins, DataWindow, Session
from muntin.plan import Node, SharingPlan, check, unshare
from muntin.plan.coverage import DATA_DEPENDENT
from muntin.plan.slicing import Slices
from muntin.plan.slicing.cuts import Cut
from muntin.plan.tree import slices_node, window_node
from muntin.planner.data_windows import on_begins, session_chain
from muntin_testing.data_windows import Records, data_windows, meaning, records_of_a_key


def carried_out(plan: SharingPlan, records: Records) -> dict[str, list[list[int]]]:
    """What every node holds: slices and sessions as lists of records, each from its parent only."""
    held: dict[str | None, list[list[int]]] = {None: [[i] for i in range(len(records))]}
    for node in plan.nodes:
        pieces = held[node.parent]
        runs: list[list[int]] = []
        for piece in pieces:
            if runs and _together(node, records, runs[-1][-1], piece[0]):
                runs[-1] += piece
            else:
                runs.append(list(piece))
        held[node.id] = runs
    return {id: runs for id, runs in held.items() if id is not None}


def _together(node: Node, records: Records, last: int, first: int) -> bool:
    before, after = records[last]["t"], records[first]["t"]
    if isinstance(node.shape, Slices):
        return node.shape.start_of(before) == node.shape.start_of(after)
    assert isinstance(node.shape, Session)
    return bool(after - before <= node.shape.gap)


@given(st.sets(st.integers(1, 15), min_size=1, max_size=5), records_of_a_key())
def test_a_chain_makes_every_session_from_those_of_the_smaller_gap(
    gaps: set[int], records: Records
) -> None:
    sessions = tuple(mt.session(f"{gap} microseconds") for gap in gaps)
    plan = session_chain(sessions, idempotent=False)
    assert plan is not None
    check(plan, sessions)
    held = carried_out(plan, records)
    for session in sessions:
        assert held[session.id] == [run for _, _, run in meaning(session, records)]


@given(st.lists(data_windows().filter(lambda w: isinstance(w, DataWindow)), min_size=1, max_size=4))
def test_plans_on_begins_and_alone_pass_the_checker(windows: list[DataWindow]) -> None:
    named = tuple(replace(w, id=f"w{i}") for i, w in enumerate(windows))
    periodic = (mt.hopping("1 hour", "5 minutes"),)
    shared = on_begins(periodic, named, False)
    for plan in (shared, unshare(shared)):
        check(plan, [*periodic, *named])


def fault(parent: Node, window: DataWindow) -> None:
    nodes = [parent, Node(window.id, window, parent.id, DATA_DEPENDENT)]
    asked = [window] if parent.hidden else [window, parent.shape]
    check(SharingPlan.build(nodes, False), asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parent", "window", "reason"),
    [
        (
            mt.session("10 microseconds"),
            mt.session("5 microseconds"),
            "its gap 5 is smaller than 10",
        ),
        (
            mt.session("5 microseconds", maximum="9 microseconds"),
            mt.session("10 microseconds"),
            "cut short at a maximum",
        ),
        (
            mt.session("5 microseconds"),
            mt.session("10 microseconds", maximum="20 microseconds"),
            "cut short at a maximum",
        ),
        (
            mt.session("5 microseconds"),
            mt.count_window(3),
            "only slices, and sessions of smaller gaps",
        ),
        (
            mt.count_window(3),
            mt.session("5 microseconds"),
            "only slices, and sessions of smaller gaps",
        ),
    ],
)
def test_an_edge_that_no_session_allows_is_refused(
    parent: DataWindow, window: DataWindow, reason: str
) -> None:
    with pytest.raises(PlanError, match=reason):
        fault(Node(parent.id, parent, None, DATA_DEPENDENT), window)


def test_slices_longer_than_the_gap_are_refused() -> None:
    slices = slices_node(Slices((Cut(7, 0),)))
    fault(slices, mt.session("7 microseconds"))
    with pytest.raises(PlanError, match="longer than its gap 6"):
        fault(slices, mt.session("6 microseconds"))


def test_nothing_periodic_is_made_of_what_the_data_decides() -> None:
    hour = mt.tumbling("1 hour")
    session = Node("s", mt.session("5 microseconds", id="s"), None, DATA_DEPENDENT)
    plan = SharingPlan.build([session, window_node(hour, "s")], False)
    with pytest.raises(PlanError, match="cannot be computed from 's'"):
        check(plan, [hour, mt.session("5 microseconds", id="s")])
    nested = Node("more", Begins(), "slices", DATA_DEPENDENT, hidden=True)
    root = Node("slices", Begins(), None, DATA_DEPENDENT, hidden=True)
    with pytest.raises(PlanError, match="slices that the data decides"):
        check(SharingPlan.build([root, nested], False), [])


def asked(*windows: DataWindow | mt.Window, **options: Any) -> mt.Plan:
    return mt.optimize(mt.query("ts", windows, [mt.count()]), **options)


def test_sessions_alone_are_a_chain_and_anything_else_is_cut_at_begins() -> None:
    chain = asked(mt.session("5 minutes"), mt.session("1 hour"), rate=1, distinct_keys=1)
    assert (chain.strategy, chain.operator.name) == ("wcg", "sessions")
    assert "sessions of session 5 minutes without a longer pause" in chain.explain()
    assert (
        chain.cost
        < asked(mt.session("5 minutes"), mt.session("1 hour"), rate=1, strategy="cutty").cost * 2
    )
    mixed = asked(mt.session("5 minutes"), mt.tumbling("1 hour"))
    assert (mixed.strategy, mixed.operator.name) == ("cutty", "cutty")
    assert "slices where windows begin" in mixed.explain()
    assert "<svg" in mixed.to_svg()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "steiner"}, "'steiner' plans periodic windows"),
        ({"strategy": "wcg"}, "'wcg' computes sessions from sessions"),
        ({"engine": "stream", "strategy": "wcg"}, "'wcg' merges sessions on batches of Spark"),
        (
            {"engine": "stream", "operator": "kernel"},
            "operator='kernel' is for batches of Spark, and this plan is for streams",
        ),
        ({"engine": "stream", "operator": "native"}, "operator='native' is for periodic windows"),
        ({"cost": "paper"}, "cost='paper' is for periodic windows"),
        ({"operator": "kernel"}, "operator='kernel' is for periodic windows"),
        ({"operator": "runs"}, "'runs' cannot run this plan: it merges sessions of slices"),
    ],
)
def test_options_of_periodic_windows_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(StrategyError, match=message):
        asked(mt.count_window(5), **options)


def test_equal_windows_and_ids_are_refused() -> None:
    with pytest.raises(QueryError, match="are equal: keep one"):
        mt.query("ts", [mt.session("1 hour"), mt.session("60 minutes", id="x")], [mt.count()])
    with pytest.raises(QueryError, match="window id 'x' is given 2 times"):
        mt.query(
            "ts",
            [mt.session("1 hour", id="x"), mt.tumbling("5 microseconds", id="x")],
            [mt.count()],
        )

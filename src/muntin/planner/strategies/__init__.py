"""Strategies: each builds a sharing plan. Here they stand by name, in the order they are tried."""

from __future__ import annotations

from collections.abc import Callable

from muntin.errors import StrategyError, is_one_of, unknown
from muntin.plan import SharingPlan
from muntin.planner.strategies.coverage.factor_windows import wcg_fw
from muntin.planner.strategies.coverage.steiner import steiner
from muntin.planner.strategies.coverage.wcg import wcg
from muntin.planner.strategies.problem import Budget, Problem, budget_for, worth_planning
from muntin.planner.strategies.slices import (
    direct,
    on_cutty,
    on_shared_pairs,
    on_shared_panes,
    unshared_pairs,
    unshared_panes,
)
from muntin.planner.strategies.subsume import subsume
from muntin.planner.strategies.weaving.contiguous import contiguous
from muntin.planner.strategies.weaving.exhaustive import exhaustive
from muntin.planner.strategies.weaving.extremes import all_share, no_share
from muntin.planner.strategies.weaving.insert_then_weave import insert_then_weave
from muntin.planner.strategies.weaving.local_search import local_search
from muntin.planner.strategies.weaving.pairing import pairing
from muntin.planner.strategies.weaving.random_merge import random_merge
from muntin.planner.strategies.weaving.weave_plus import weave_plus
from muntin.planner.strategies.weaving.weave_share import tri_weave, weave_share

Strategy = Callable[[Problem], SharingPlan]
"""Builds a sharing plan for a problem."""

STRATEGIES: dict[str, Strategy] = {
    "direct": direct,
    "unshared-panes": unshared_panes,
    "unshared-pairs": unshared_pairs,
    "shared-panes": on_shared_panes,
    "shared-pairs": on_shared_pairs,
    "cutty": on_cutty,
    "wcg": wcg,
    "wcg-fw": wcg_fw,
    "steiner": steiner,
    "subsume": subsume,
    "weave-share": weave_share,
    "tri-weave": tri_weave,
    "weave-plus": weave_plus,
    "no-share": no_share,
    "all-share": all_share,
    "insert-then-weave": insert_then_weave,
    "local-search": local_search,
    "random-merge": random_merge,
    "pairing": pairing,
    "contiguous": contiguous,
    "exhaustive": exhaustive,
}

SHARES = {"steiner": 2, "weave-share": 2, "tri-weave": 2} | dict.fromkeys(
    ("weave-plus", "insert-then-weave", "local-search", "random-merge", "pairing", "contiguous"), 0
)
"""Strategies with more shares of the planning budget than one, or with none: for few windows."""

FRUGAL = (
    "direct",
    "shared-pairs",
    "tri-weave",
    "wcg",
    "cutty",
    "weave-share",
    "shared-panes",
    "subsume",
)
"""Strategies that find much in few steps: `auto` tries them before the others."""

COST_FREE = frozenset(
    {
        *("direct", "unshared-panes", "unshared-pairs", "shared-panes", "shared-pairs"),
        *("cutty", "no-share", "all-share"),
    }
)
"""Strategies with one plan for a set of windows, whatever the cost."""


def strategy_named(name: str) -> Strategy:
    """The strategy of that name, or an error with the closest known one."""
    if not is_one_of(name, STRATEGIES):
        raise StrategyError(unknown("strategy", name, ["auto", *STRATEGIES]))
    return STRATEGIES[name]


__all__ = [
    "COST_FREE",
    "FRUGAL",
    "SHARES",
    "STRATEGIES",
    "Budget",
    "Problem",
    "Strategy",
    "budget_for",
    "strategy_named",
    "worth_planning",
]

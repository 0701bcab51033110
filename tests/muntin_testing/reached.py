"""What random draws reached: a property test that met nothing interesting must fail, not pass.

reached = Reached()

@given(windows())
def each(window):
    reached["uneven"] += window.range % window.slide != 0
    ...

each()
reached.at_least(10, "uneven")
"""

from collections import Counter

from hypothesis import settings

from conformance.census import edge_kind
from conformance.selection import many
from muntin.model.windows import Window
from muntin.plan import SharingPlan

fewer = settings(max_examples=settings().max_examples // 3)
"""For a test that is repeated for each of many names: together they draw enough."""


def drawn(count: int) -> settings:
    """So many examples by default, for a test whose examples are long; all in the long profile."""
    return settings(max_examples=many(count, settings().max_examples))


class Reached(Counter[str]):
    """How often each kind of case was drawn."""

    def __add__(self, other: "Counter[str]") -> "Reached":  # type: ignore[override]
        """Both together, so that the results of several runs can be summed."""
        return Reached({kind: self[kind] + other[kind] for kind in {*self, *other}})

    def at_least(self, quota: int, *kinds: str) -> None:
        """Fail with the kinds that were drawn more rarely."""
        rare = {kind: self[kind] for kind in kinds if self[kind] < quota}
        assert not rare, f"drawn too rarely to mean much, {quota} wanted: {rare} of {dict(self)}"


def edges_of(plan: SharingPlan) -> Counter[str]:
    """How often each kind of edge occurs in a plan, and how many windows are made of windows."""
    found = Counter(edge_kind(parent, node) for parent, node in plan.edges())
    found["window ← window"] = sum(isinstance(parent, Window) for parent, _ in plan.edges())
    found["hidden window"] = sum(n.hidden and isinstance(n.shape, Window) for n in plan.nodes)
    return found


def built_by(strategy: str) -> tuple[str, ...]:
    """What a strategy is there to build: plans without any of it prove nothing about it."""
    return {
        "direct": ("source → window",),
        "cutty": ("slices → open slice", "slices → window"),
        "wcg": ("window ← window",),
        "wcg-fw": ("window ← window", "hidden window"),
        "steiner": ("window ← window", "hidden window", "slices → window"),
        "subsume": ("window ← window", "slices → window", "window ← window and slices"),
        "tri-weave": ("slices → slices", "slices → window"),
    }.get(strategy, ("slices → window",))

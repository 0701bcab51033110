"""Every technique × every admissible aggregate × random scripts, against recomputation."""

import importlib
import inspect
import pkgutil
from collections import Counter
from itertools import cycle
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin.incremental
from muntin.errors import AggregateError
from muntin.incremental import (
    DABA,
    TECHNIQUES,
    BInt,
    FlatFAT,
    Technique,
    TwoStacks,
    techniques_for,
)
from muntin.incremental.slick_deque import SlickDequeNonInv
from muntin_testing.monoids import (
    SMALL,
    Concat,
    digits,
    monoid_and_values,
    monoids,
    recomputed,
    same,
)
from muntin_testing.reached import fewer

RANGES = (1, 2, 3, 5, 8, 13)
NAMES = {
    "panes", "panes-inv", "flatfat", "b-int", "flatfit", "two-stacks", "daba", "slick-deque",
}  # fmt: skip


def test_no_technique_can_be_dropped_silently() -> None:
    found = set()
    for module in pkgutil.iter_modules(muntin.incremental.__path__):
        members = vars(importlib.import_module(f"muntin.incremental.{module.name}")).values()
        found |= {m for m in members if inspect.isclass(m) and issubclass(m, Technique)}
    concrete = {t for t in found if not inspect.isabstract(t)}
    registered = set(TECHNIQUES.values())
    assert set(TECHNIQUES) == NAMES
    assert all(any(issubclass(t, r) for r in registered) for t in concrete)
    assert all(getattr(muntin.incremental, t.__name__) is t for t in registered)
    assert {t.__name__ for t in registered} <= set(muntin.incremental.__all__)


@st.composite
def scripts(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> list[tuple[str, Any]]:
    """Runs of inserts, evicts and slides, with queries between them: windows grow and shrink."""
    script: list[tuple[str, Any]] = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["insert", "insert", "slide", "evict"]))
        if kind == "evict":
            script += [("evict", None)] * draw(st.integers(1, 20))
        else:
            script += [(kind, value) for value in draw(st.lists(values, max_size=20))]
        if draw(st.booleans()):
            script.append(("query", None))
    return script


def check(window: Technique, script: list[tuple[str, Any]]) -> None:
    """Run the script on the window and on a plain list; ask after every step."""
    held: list[Any] = []
    for step, value in script:
        if step == "evict":
            if not held:
                with pytest.raises(AggregateError, match="empty window"):
                    window.evict()
                continue
            window.evict()
            held.pop(0)
        elif step == "insert" or (step == "slide" and not window.ranges):
            window.insert(value)
            held.append(value)
        elif step == "slide":
            window.slide(value)
            held.append(value)
            del held[: max(0, len(held) - window.ranges[0])]
        else:  # only here, so that techniques are also left unasked for a while
            compare(window, held)
    compare(window, held)


def compare(window: Technique, held: list[Any]) -> None:
    assert len(window) == len(held)
    expected = recomputed(window.monoid, held)
    assert same(window.query(), expected), (window, held)
    if window.several_ranges:
        answers = {r: recomputed(window.monoid, held[-r:]) for r in window.ranges}
        for range, answer in answers.items():
            assert same(window.query(range), answer), (window, range, held)
        together = window.query_all()
        assert list(together) == sorted(answers, reverse=True)
        assert all(same(together[r], answers[r]) for r in answers)
    elif window.ranges and len(held) <= window.ranges[0]:
        assert same(window.query(window.ranges[0]), expected)


@pytest.mark.parametrize("name", monoids())
@fewer
@given(data=st.data())
def test_every_admissible_technique_answers_as_recomputation(name: str, data: Any) -> None:
    monoid, values = monoid_and_values(name)
    script = data.draw(scripts(values))
    ranges = data.draw(st.sets(st.sampled_from(RANGES), max_size=4))
    for technique in techniques_for(monoid):
        asked = ranges if technique.several_ranges else sorted(ranges)[:1]
        check(technique(monoid, asked), script)


@pytest.mark.parametrize("name", monoids())
def test_inadmissible_pairs_are_refused_when_made(name: str) -> None:
    monoid, _ = monoid_and_values(name)
    admissible = {"panes", "flatfat", "b-int", "flatfit", "two-stacks", "daba"}
    admissible |= {"panes-inv"} if monoid.invertible else set()
    admissible |= {"slick-deque"} if monoid.invertible or monoid.selective else set()
    assert {t.name for t in techniques_for(monoid)} == admissible
    for technique in TECHNIQUES.values():
        if technique.name not in admissible:
            with pytest.raises(AggregateError, match=r"not invertible|neither invertible"):
                technique(monoid)


@pytest.mark.parametrize("technique", TECHNIQUES.values(), ids=TECHNIQUES)
def test_several_ranges_are_served_or_refused(technique: type[Technique]) -> None:
    several = {"panes", "flatfat", "b-int", "flatfit", "slick-deque"}
    monoid = monoid_and_values("count")[0]
    if technique.name in several:
        assert technique(monoid, ranges=[4, 16, 4]).ranges == (16, 4)
    else:
        with pytest.raises(AggregateError, match=r"answers one range, not \[16, 4\].*SlickDeque"):
            technique(monoid, ranges=[4, 16])


@pytest.mark.parametrize("name", ["concat", "invertible concat", "earliest", "latest", "argmin"])
def test_order_is_kept_through_growing_shrinking_and_wrapping(name: str) -> None:
    """Longer than hypothesis draws: windows of hundreds, many flips, resets and resizes."""
    monoid, _ = monoid_and_values(name)
    random = Random(7)
    script: list[tuple[str, Any]] = []
    for _ in range(60):
        step, run = random.choice(["insert", "slide", "slide", "evict"]), random.randrange(60)
        for _ in range(run):
            letter = random.choice("abcdefgh")
            value = (random.randrange(3), letter) if name == "argmin" else letter
            script.append((step, value))
            if random.random() < 0.05:
                script.append(("query", None))
    for technique in techniques_for(monoid):
        check(technique(monoid, RANGES if technique.several_ranges else [40]), script)


def turned(window: Technique) -> bool:
    """Whether the window stands in its structure in two parts that a query must put in order."""
    match window:
        case FlatFAT():
            return window._front + window._count > window._slots
        case BInt():
            return window._first // window._capacity < (window._end - 1) // window._capacity
        case TwoStacks():
            return bool(window._front and window._back)
        case DABA():
            return window._sums.first < window._b < window._sums.end
        case SlickDequeNonInv():
            return len(window._kept) > 1
    return len(window) > 1  # these keep the order of a queue


@pytest.mark.parametrize("name", SMALL)
def test_no_technique_confuses_the_order_where_its_window_is_turned(name: str) -> None:
    monoid, values = SMALL[name]
    asked: Counter[str] = Counter()

    @given(
        some=st.lists(values, min_size=5, max_size=12),
        steps=st.lists(st.sampled_from(["slide", "slide", "evict"]), min_size=20, max_size=60),
        longest=st.sampled_from(RANGES[2:]),
    )
    def run(some: list[Any], steps: list[str], longest: int) -> None:
        for technique in techniques_for(monoid):
            window, held = technique(monoid, [longest]), list[Any]()
            for value, step in zip(cycle(some), steps, strict=False):
                if step == "slide":
                    window.slide(value)
                    held = [*held, value][-longest:]
                elif held:
                    window.evict()
                    held.pop(0)
                if turned(window):
                    assert same(window.query(), recomputed(monoid, held)), (window, held)
                    asked[technique.name] += 1

    run()
    assert set(asked) == {t.name for t in techniques_for(monoid)}
    assert min(asked.values()) > 500, asked


def test_a_custom_aggregate_does_not_commute_unless_it_says_so() -> None:
    window = FlatFAT(digits(), ranges=[4])
    for value in (3, 4, 5, 6):
        window.insert(value)
    window.evict()
    window.insert(1)
    assert window.query() == window.query(4) == 4561
    with pytest.raises(
        AggregateError, match=r"'digits' breaks commutativity: \(2, 34\)|\(3, 345\)"
    ):
        digits(commutative=True)


@pytest.mark.parametrize("name", ["concat", "invertible concat", "argmin"])
@pytest.mark.parametrize("size", range(1, 18))
def test_sliding_every_size_of_window(name: str, size: int) -> None:
    monoid, _ = monoid_and_values(name)
    windows = [technique(monoid, ranges=[size]) for technique in techniques_for(monoid)]
    held: list[Any] = []
    for step in range(3 * size + 8):
        value = (step * 5 % 7, step) if name == "argmin" else chr(97 + step % 26)
        held = [*held, value][-size:]
        for window in windows:
            window.slide(value)
            assert window.query(size) == recomputed(monoid, held), window


@pytest.mark.parametrize("technique", TECHNIQUES.values(), ids=TECHNIQUES)
def test_misuse_is_answered_with_the_remedy(technique: type[Technique]) -> None:
    count = monoid_and_values("count")[0]
    window = technique(count, ranges=[4])
    for bad in ([0], [2.5], [True], ["4"]):
        with pytest.raises(AggregateError, match="must be a whole number of values, at least 1"):
            technique(count, ranges=bad)  # type: ignore[arg-type]
    with pytest.raises(AggregateError, match=r"must be a list: ranges=\[4\]"):
        technique(count, ranges=4)  # type: ignore[arg-type]
    with pytest.raises(AggregateError, match=r"range 3 is not registered.*ranges=\[3, 4\]"):
        window.query(3)
    with pytest.raises(AggregateError, match="no range to slide"):
        technique(count).slide(1)
    with pytest.raises(AggregateError, match="empty window"):
        window.evict()
    for other in ("max", type(count), None, 3):
        with pytest.raises(AggregateError, match=r"not an aggregate: use one such as mt.max"):
            technique(other)  # type: ignore[arg-type]
    with pytest.raises(AggregateError, match="leave it out and insert only the values that pass"):
        technique(muntin.count().filter("v > 3"))


def test_one_range_techniques_say_when_the_window_is_longer() -> None:
    for technique in techniques_for(Concat()):
        window = technique(Concat(), ranges=[2])
        for letter in "abc":
            window.insert(letter)
        if technique.several_ranges:
            assert window.query(2) == "bc"
        else:
            with pytest.raises(AggregateError, match="holds 3 values, not 2: evict first"):
                window.query(2)

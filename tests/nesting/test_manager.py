"""The window manager: the paper's worked cases, its corners, and random scripts of thousands."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.errors import StrategyError, WindowError
from muntin.model.windows import Window
from muntin.nesting import WindowManager, subsumable
from muntin_testing.groups import is_sequence
from muntin_testing.windows import intervals, one_period, windows


def ends_aligned(length: int, slide: int, id: str | None = None) -> Window:
    """A window as the paper has it: instances end at the multiples of the slide."""
    return Window(length, slide, -length % slide, id)


FIGURE_7 = {
    "d": (6, 2),
    "u": (6, 4),
    "b": (8, 5),
    "h": (14, 5),
    "f": (20, 5),
    "e": (26, 10),
    "r": (10, 3),
    "p": (18, 3),
    "y": (30, 6),
    "v": (24, 8),
    "z": (32, 4),
}
"""The text names these windows and their relations; of the numbers it gives v, z and k."""


def figure_7() -> WindowManager:
    return WindowManager(ends_aligned(*size, id) for id, size in FIGURE_7.items())


def test_the_groups_of_figure_7() -> None:
    manager = figure_7()
    members = {group.seed.id: [w.id for w in group.windows()] for group in manager.groups}
    assert members == {
        "d": ["d", "u", "v"],
        "b": ["b", "h", "f", "e"],
        "r": ["r", "p", "y"],
        "z": ["z"],  # v slides by 8, so nothing that slides by 4 can follow it
    }
    assert manager.role("u") == "piggybacked"
    assert manager.host_of("u").id == "d"
    assert manager.role("e") == "enclosing"


def test_k_is_embedded_between_p_and_y() -> None:
    manager = figure_7()
    group = manager.register(ends_aligned(21, 3, "k"))
    assert [w.id for w in group.windows()] == ["r", "p", "k", "y"]
    assert manager.role("k") == "enclosing"


def test_u_takes_over_from_d() -> None:
    manager = figure_7()
    manager.suspend("d")
    assert manager.role("u") == "seed"
    assert [w.id for w in manager.group_of("u").windows()] == ["u", "v"]


def test_a_suspended_level_leaves_its_neighbours_nested() -> None:
    manager = figure_7()
    manager.suspend("h")
    assert [w.id for w in manager.group_of("b").windows()] == ["b", "f", "e"]
    manager.suspend("b")
    assert manager.role("f") == "seed"


def test_a_window_is_not_embedded_below_a_wider_one_alone() -> None:
    # The paper looks only at the wider W(8, 4), and would leave W(4, 4) below W(6, 2).
    manager = WindowManager([Window(4, 4), Window(8, 4)])
    manager.register(Window(6, 2))
    assert [repr(group) for group in manager.groups] == [
        "<group W(4, 4) ⊂ W(8, 4)>",
        "<group W(6, 2)>",
    ]


def test_a_finer_window_of_equal_range_takes_over_and_gives_back() -> None:
    manager = WindowManager([Window(4, 2), Window(8, 4), Window(12, 4)])
    manager.register(Window(8, 2))
    assert repr(manager.groups[0]) == "<group W(4, 2) ⊂ W(8, 2) [W(8, 4) ×2] ⊂ W(12, 4)>"
    manager.suspend(Window(8, 2))
    assert repr(manager.groups[0]) == "<group W(4, 2) ⊂ W(8, 4) ⊂ W(12, 4)>"


def test_orphans_that_do_not_fit_are_registered_anew() -> None:
    # Neither W(12, 4) nor W(12, 6) fires whenever W(14, 2) does: none takes over from W(12, 2).
    manager = WindowManager([Window(12, 2), Window(12, 4), Window(12, 6), Window(14, 2)])
    assert len(manager.groups) == 1
    manager.suspend(Window(12, 2))
    assert {repr(group) for group in manager.groups} == {
        "<group W(14, 2)>",
        "<group W(12, 4)>",
        "<group W(12, 6)>",
    }


def test_equal_windows_are_piggybacked_on_each_other() -> None:
    manager = WindowManager(Window(10, 5, id=f"user {i}") for i in range(4))
    assert Counter(map(manager.role, manager.windows)) == {"seed": 1, "piggybacked": 3}
    manager.suspend("user 0")
    assert Counter(map(manager.role, manager.windows)) == {"seed": 1, "piggybacked": 2}


def test_regrouping_repairs_what_churn_has_made_poor() -> None:
    random, manager = Random(2), WindowManager()
    for number in range(12):
        slide = random.choice([1, 2, 3, 4, 6])
        manager.register(ends_aligned(random.randint(slide, 24), slide, f"{number}"))
    for window in random.sample(manager.windows, 6):
        manager.suspend(window)
    kept = manager.windows
    groups = [len(manager.groups), len(manager.regroup()), len(manager.regroup("minimum"))]
    assert groups == [5, 4, 3]
    assert is_right(manager)
    assert set(manager.windows) == set(kept)


def test_what_is_wrong_is_said() -> None:
    manager = WindowManager([Window(10, 5, id="a")])
    with pytest.raises(WindowError, match="'a' is registered already: give this window an id"):
        manager.register(Window(20, 5, id="a"))
    with pytest.raises(WindowError, match="'b' is not registered: known: a"):
        manager.suspend("b")
    with pytest.raises(WindowError, match="42 is not a window"):
        manager.subsume([42])  # type: ignore[list-item]
    with pytest.raises(StrategyError, match="unknown grouping 'minimal': did you mean 'minimum'"):
        manager.regroup("minimal")
    assert manager.windows == (Window(10, 5),), "a refused call changes nothing"


def test_groups_can_be_looked_at() -> None:
    manager = figure_7()
    assert str(manager).splitlines()[:2] == [
        "11 windows in 4 groups",
        "1  slide 2  W(6, 2) [W(6, 4, 2) ×2] ⊂ W(24, 8)",
    ]
    picture = manager.to_svg()
    assert all(f">{id}</text>" in picture for id in FIGURE_7)
    assert str(WindowManager()) == "0 windows in 0 groups"
    assert WindowManager().to_svg().startswith("<svg")


@given(windows(longest=16), windows(longest=16))
def test_subsumable_is_what_it_says(narrow: Window, wide: Window) -> None:
    instances, around = one_period(wide, narrow)
    nested = all((end - narrow.range, end) in around for _, end in instances)
    assert subsumable(narrow, wide) == (nested and narrow.range <= wide.range)
    assert intervals(wide, 0, wide.slide)


def is_right(manager: WindowManager) -> bool:
    assert all(map(is_sequence, manager.groups))
    members = Counter(w.id for group in manager.groups for w in group.windows())
    return members == Counter(w.id for w in manager.windows)


def any_window(random: Random, id: str) -> Window:
    slide = random.choice([1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 24])
    length = random.randint(slide, 60)
    offset = -length % slide if random.random() < 0.7 else random.randrange(slide)
    return Window(length, slide, offset, id)


@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_registrations_and_suspensions(seed: int) -> None:
    random = Random(seed)
    manager = WindowManager(any_window(random, f"first {i}") for i in range(50 * seed))
    asked = {w.id: w for w in manager.windows}
    for step in range(3_000):
        growing = (step // 500) % 2 == 0
        if not asked or random.random() < (0.7 if growing else 0.3):
            window = any_window(random, f"step {step}")
            asked[window.id] = window
            assert window.id in [w.id for w in manager.register(window).windows()]
        else:
            manager.suspend(asked.pop(random.choice(list(asked))))
        if step % 20 == 0:
            assert is_right(manager)
            assert {w.id: w for w in manager.windows} == asked
        if step % 1_000 == 999:
            manager.regroup(random.choice(["greedy", "minimum"]))
    while asked:
        manager.suspend(asked.popitem()[0])
    assert manager.groups == ()


actions = st.lists(st.tuples(st.booleans(), windows(longest=12)), max_size=40)


@given(actions, st.randoms(use_true_random=False))
def test_after_any_script_each_window_is_in_one_group(
    script: list[tuple[bool, Window]], random: Random
) -> None:
    manager = WindowManager()
    for i, (suspend, window) in enumerate(script):
        if suspend and len(manager):
            manager.suspend(random.choice(manager.windows))
        else:
            manager.register(Window(window.range, window.slide, window.offset, f"w{i}"))
        assert is_right(manager)
        for each in manager.windows:
            host = manager.host_of(each)
            assert (manager.role(each) == "piggybacked") == (host.id != each.id)
            assert host.range == each.range

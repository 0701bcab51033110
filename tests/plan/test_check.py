"""The checker: it accepts right plans, refuses every mutation, and agrees with brute force."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muntin.errors import PlanError
from muntin.model.windows import Window
from muntin.plan import Node, SharingPlan, check, close
from muntin.plan.coverage import (
    EdgeKind,
    EdgePieces,
    Progression,
    covering_pieces,
    every,
    fewest_pieces,
    suffix_piece,
)
from muntin.plan.slicing import (
    Cut,
    Slices,
    cut_everywhere,
    cutty,
    pairs,
    panes,
    shared_pairs,
    shared_panes,
    shared_slices,
)
from muntin.plan.tree import slices_node, window_node
from muntin_testing.reached import Reached
from muntin_testing.records import plan_is_right
from muntin_testing.windows import (
    covered_windows,
    random_window,
    related_pair,
    window_sets,
    windows,
)


def accepts(plan: SharingPlan, asked: list[Window]) -> bool:
    try:
        check(plan, asked)
    except PlanError:
        return False
    return True


def edge_plan(child: Window, parent: Window, pieces: EdgePieces, idempotent: bool) -> SharingPlan:
    """The child from these pieces of the parent, which is a hidden window."""
    nodes = [
        replace(window_node(parent, hidden=True), id="parent"),
        Node(child.id, child, "parent", pieces),
    ]
    return SharingPlan.build(nodes, idempotent)


def offsets(*values: int) -> EdgePieces:
    return EdgePieces(tuple(Progression(value, 1, 1) for value in values))


@given(window_sets(), st.sampled_from([shared_pairs, shared_panes]), st.booleans())
def test_slices_that_serve_all_windows_are_right(
    asked: list[Window], slicer: object, idempotent: bool
) -> None:
    slices = slicer(asked)  # type: ignore[operator]
    nodes = [slices_node(slices), *(window_node(w, "slices") for w in asked)]
    plan = SharingPlan.build(nodes, idempotent)
    check(plan, asked)
    assert plan_is_right(plan, asked)


@given(window_sets(least=2, most=3))
def test_slices_of_finer_slices_are_right(asked: list[Window]) -> None:
    nodes = [
        slices_node(shared_panes(asked), "panes"),
        slices_node(shared_pairs(asked), "pairs", "panes"),
    ]
    nodes += [window_node(w, "pairs") for w in asked]
    plan = SharingPlan.build(nodes, idempotent=False)
    check(plan, asked)
    assert plan_is_right(plan, asked)


def test_coverage_edges_are_right() -> None:
    random, seen = Random(1), 0
    for _ in range(600):
        child, parent = related_pair(random)
        for disjoint in (True, False):
            for pieces_of in (covering_pieces, fewest_pieces):
                pieces = pieces_of(child, parent, disjoint=disjoint)
                if pieces is None:
                    continue
                seen += 1
                plan = edge_plan(child, parent, pieces, idempotent=not disjoint)
                check(plan, [child])
    assert seen > 500


def random_pieces(random: Random, child: Window, parent: Window, disjoint: bool) -> EdgePieces:
    """Good pieces with one small thing changed, or not."""
    good = fewest_pieces(child, parent, disjoint) or covering_pieces(child, parent, disjoint=False)
    if good is None or random.random() < 0.2:
        count = random.randrange(1, 4)
        return offsets(*sorted(random.randrange(-2, child.range + 1) for _ in range(count)))
    found = list(good.progressions)
    i = random.randrange(len(found))
    p, step = found[i], random.choice([-parent.slide, -1, 1, parent.slide])
    match random.randrange(7):
        case 0:
            found[i] = replace(p, offset=p.offset + step)
        case 1:
            found[i] = replace(p, stride=max(1, p.stride + step))
        case 2:
            found[i] = replace(p, count=max(1, p.count + random.choice([-1, 1])))
        case 3:
            found.append(Progression(random.randrange(child.range), parent.slide, 1))
        case 4 if p.count % 2:  # every other piece, the first and the last among them
            found[i] = Progression(p.offset, 2 * p.stride, p.count // 2 + 1)
        case 5:
            split = random.randrange(1, p.count + 1)
            found[i] = replace(p, count=split)
            if split < p.count:
                rest = Progression(p.offset + split * p.stride, p.stride, p.count - split)
                found.append(rest)
                random.shuffle(found)
    return EdgePieces(tuple(found))


@pytest.mark.parametrize("idempotent", [True, False])
def test_the_verdict_on_pieces_of_a_window_is_that_of_brute_force(idempotent: bool) -> None:
    random = Random(8)
    verdicts: list[bool] = []
    for _ in range(4_000):
        child, parent = related_pair(random)
        plan = edge_plan(
            child, parent, random_pieces(random, child, parent, not idempotent), idempotent
        )
        verdict = accepts(plan, [child])
        assert verdict == plan_is_right(plan, [child]), (child, parent, plan.node(child.id).pieces)
        verdicts.append(verdict)
    assert 300 < sum(verdicts) < 3_700, "both verdicts must be frequent"


def test_interleaved_progressions_are_judged_by_what_they_cover() -> None:
    child, parent = Window(20, 20), Window(5, 5)
    tiles = EdgePieces((Progression(0, 10, 2), Progression(5, 10, 2)))
    assert accepts(edge_plan(child, parent, tiles, idempotent=False), [child])
    gap = EdgePieces((Progression(0, 10, 2), Progression(5, 5, 1)))
    assert not accepts(edge_plan(child, parent, gap, idempotent=False), [child])
    twice = EdgePieces((Progression(0, 5, 4), Progression(5, 10, 2)))
    assert not accepts(edge_plan(child, parent, twice, idempotent=False), [child])
    assert accepts(edge_plan(child, parent, twice, idempotent=True), [child])


@st.composite
def windows_and_one(draw: st.DrawFn) -> tuple[list[Window], Window]:
    """Windows that slices are made for, and one that is to be read off them: theirs, or any."""
    others = draw(window_sets(most=3, longest=12))
    related = covered_windows(others, 12)
    any_window = windows(longest=12)
    return others, draw(st.one_of(any_window, any_window, related, st.sampled_from(others)))


def test_the_verdict_on_slices_is_that_of_brute_force() -> None:
    """Slices made for other windows serve this one only if they happen to be cut at its ends."""
    reached = Reached()

    @given(windows_and_one(), st.sampled_from([shared_pairs, shared_pairs, shared_panes]))
    def each(drawn: tuple[list[Window], Window], slicer: Callable[..., Slices]) -> None:
        others, asked = drawn
        slices = slicer(others)
        plan = SharingPlan.build(
            [slices_node(slices), window_node(asked, "slices")], idempotent=False
        )
        verdict = accepts(plan, [asked])
        assert verdict == plan_is_right(plan, [asked])
        reached["accepted" if verdict else "refused"] += 1

    each()
    reached.at_least(8, "accepted", "refused")


def test_the_verdict_on_slices_read_open_or_whole_is_that_of_brute_force() -> None:
    reached = Reached()

    @settings(max_examples=150)
    @given(
        windows_and_one(),
        st.sampled_from(["panes", "pairs", "cutty"]),
        st.sampled_from([EdgeKind.WHOLE, EdgeKind.PREFIX]),
        st.sampled_from([-1, 0, 0, 0, 1]),
    )
    def each(drawn: tuple[list[Window], Window], slicing: str, kind: EdgeKind, wrong: int) -> None:
        others, asked = drawn
        node = window_node(asked, "slices", kind=kind)
        node = replace(node, pieces=every(max(1, asked.range + wrong), kind))
        nodes = [slices_node(shared_slices(others, slicing)), node]
        plan = SharingPlan.build(nodes, idempotent=False)
        verdict, right = accepts(plan, [asked]), plan_is_right(plan, [asked])
        assert right or not verdict
        if node.pieces.count == asked.range:  # a longer reading may happen to meet no other slice
            assert verdict == right
            reached[f"{kind.name} {'accepted' if verdict else 'refused'}"] += 1

    each()
    reached.at_least(3, "WHOLE accepted", "WHOLE refused", "PREFIX accepted", "PREFIX refused")


@given(window_sets(least=2, most=3))
def test_open_slices_of_finer_open_slices_are_right(asked: list[Window]) -> None:
    nodes = [slices_node(shared_slices(asked, "cutty"), "fine")]
    nodes += [slices_node(cutty(asked[0]), "coarse", "fine")]
    nodes += [window_node(asked[0], "coarse", kind=EdgeKind.PREFIX)]
    nodes += [window_node(w, "fine", kind=EdgeKind.PREFIX) for w in asked[1:]]
    plan = SharingPlan.build(nodes, idempotent=False)
    check(plan, asked)
    assert plan_is_right(plan, asked)
    lowered = close(plan)
    check(lowered, asked)
    assert plan_is_right(lowered, asked)
    assert close(lowered) is lowered


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        pytest.param(
            [window_node(Window(14, 8, id="w"), kind=EdgeKind.PREFIX)],
            "'w' cannot be computed from 'the source' as planned: only a window on slices",
            id="of the source",
        ),
        pytest.param(
            [
                window_node(Window(8, 8, id="h"), hidden=True),
                Node("w", Window(14, 8, id="w"), "h", every(14, EdgeKind.PREFIX)),
            ],
            "only a window on slices can end within a piece",
            id="of a window",
        ),
        pytest.param(
            [
                replace(slices_node(Slices((Cut(8, 0),))), pieces=every(1, EdgeKind.PREFIX)),
                window_node(Window(14, 8, id="w"), "slices", kind=EdgeKind.PREFIX),
            ],
            "'slices' cannot be computed from 'the source' as planned: only a window",
            id="slices themselves",
        ),
        pytest.param(
            [
                slices_node(Slices((Cut(8, 0),))),
                window_node(Window(14, 8, id="w"), "slices"),
            ],
            "its instances do not end where slices do",
            id="whole, of an open slice",
        ),
        pytest.param(
            [
                slices_node(Slices((Cut(8, 1),))),
                window_node(Window(14, 8, id="w"), "slices", kind=EdgeKind.PREFIX),
            ],
            "its instances do not begin where slices do",
            id="a begin within a slice",
        ),
        pytest.param(
            [
                slices_node(Slices((Cut(8, 0),))),
                Node("w", Window(14, 8, id="w"), "slices", every(8, EdgeKind.PREFIX)),
            ],
            "it does not read all of its range",
            id="without the open slice",
        ),
    ],
)
def test_a_prefix_where_there_is_none_is_refused(nodes: list[Node], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        check(SharingPlan.build(nodes, idempotent=True), [Window(14, 8, id="w")])


def stairs(narrow: Window, wide: Window, slices: Slices, pieces: EdgePieces) -> SharingPlan:
    """The wide window of a piece of the narrow one, which stands on slices."""
    nodes = [
        slices_node(slices),
        replace(window_node(narrow, "slices", hidden=True), id="narrow"),
        Node(wide.id, wide, "narrow", replace(pieces, kind=EdgeKind.SUFFIX)),
    ]
    return SharingPlan.build(nodes, idempotent=False)


def test_the_verdict_on_stairs_is_that_of_brute_force() -> None:
    """Any narrow window and any wide one, on slices that are cut for both or not, at any offset."""
    reached = Reached()

    @settings(max_examples=200)
    @given(
        windows(longest=8),
        windows(longest=12),
        st.sampled_from([shared_pairs, shared_panes]),
        st.booleans(),
        st.sampled_from([0, 0, 0, -1, 1]),
    )
    def each(
        narrow: Window, wide: Window, slicer: Callable[..., Slices], both: bool, wrong: int
    ) -> None:
        wide = replace(wide, id="wide")
        right_piece = suffix_piece(wide, narrow)
        at = wide.range - narrow.range if right_piece is None else min(right_piece.offsets())
        pieces = EdgePieces((Progression(at + wrong, wide.slide, 1),))
        plan = stairs(narrow, wide, slicer([narrow, wide] if both else [narrow]), pieces)
        verdict = accepts(plan, [wide])
        assert verdict == (plan_is_right(plan, [wide]) and wide.range > narrow.range)
        reached["accepted" if verdict else "refused"] += 1
        reached["sampled"] += verdict and wide.range - narrow.range < wide.slide

    each()
    reached.at_least(8, "accepted", "refused", "sampled")


@given(window_sets(least=2, most=4, longest=12), st.sampled_from(["pairs", "cutty"]))
def test_flights_of_stairs_are_right(asked: list[Window], slicing: str) -> None:
    """Every window on the widest that it nests, on slices that are open or not; also closed."""
    slices, nodes = shared_slices(asked, slicing), []
    for wide in asked:
        below = [w for w in asked if suffix_piece(wide, w) is not None]
        kind = EdgeKind.PREFIX if slicing == "cutty" else EdgeKind.WHOLE
        node = window_node(wide, "slices", kind=kind)
        if below:
            narrow = max(below, key=lambda w: w.range)
            piece = suffix_piece(wide, narrow)
            assert piece is not None
            node = Node(wide.id, wide, narrow.id, piece)
        nodes.append(node)
    plan = SharingPlan.build([slices_node(slices), *nodes], idempotent=False)
    for each in (plan, close(plan)):
        check(each, asked)
        assert plan_is_right(each, asked)


NARROW, WIDE = Window(4, 2, id="narrow"), Window(10, 4, id="w")
ASKEW = Window(9, 4, 1, id="w")
STAIR, STAIR_ASKEW = suffix_piece(WIDE, NARROW), suffix_piece(ASKEW, NARROW)
assert STAIR is not None
assert STAIR_ASKEW is not None
FOOT = slices_node(shared_pairs([NARROW, WIDE]))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        pytest.param(
            [FOOT, Node("w", WIDE, "slices", STAIR)],
            "'w' cannot be computed from 'slices' as planned: only a window can add a delta",
            id="of slices",
        ),
        pytest.param(
            [
                FOOT,
                window_node(Window(10, 2, id="narrow"), "slices", hidden=True),
                Node("w", WIDE, "narrow", STAIR),
            ],
            "its range 10 is not wider than 10",
            id="of a window as wide",
        ),
        pytest.param(
            [
                FOOT,
                window_node(NARROW, "slices", hidden=True),
                Node("w", WIDE, "narrow", replace(STAIR, progressions=(Progression(2, 4, 1),))),
            ],
            "one piece of the parent at 6 would end where it does",
            id="of a piece too early",
        ),
        pytest.param(
            [
                FOOT,
                window_node(NARROW, "slices", hidden=True),
                Node("w", WIDE, "narrow", replace(STAIR, progressions=(Progression(5, 4, 1),))),
            ],
            "no instance of the parent begins at offset 5",
            id="of a piece that is none",
        ),
        pytest.param(
            [window_node(NARROW, hidden=True), Node("w", WIDE, "narrow", STAIR)],
            "its stairs do not stand on slices",
            id="without slices",
        ),
        pytest.param(
            [
                slices_node(Slices((Cut(2, 0),))),
                window_node(NARROW, "slices", hidden=True),
                Node("w", ASKEW, "narrow", STAIR_ASKEW),
            ],
            "its instances do not begin where slices do",
            id="a begin within a slice",
        ),
    ],
)
def test_stairs_that_are_none_are_refused(nodes: list[Node], message: str) -> None:
    asked = [node.shape for node in nodes if node.id == "w" and isinstance(node.shape, Window)]
    with pytest.raises(PlanError, match=message):
        check(SharingPlan.build(nodes, idempotent=True), asked)


def test_slices_of_slices_are_accepted_only_if_each_cut_is_one() -> None:
    reached = Reached()

    @given(window_sets(most=2, longest=12), window_sets(most=2, longest=12), st.booleans())
    def each(coarse: list[Window], others: list[Window], finer: bool) -> None:
        fine = [*others, *coarse] if finer else others
        nodes = [
            slices_node(shared_pairs(fine), "fine"),
            slices_node(shared_pairs(coarse), "coarse", "fine"),
        ]
        nodes += [window_node(w, "coarse") for w in coarse]
        plan = SharingPlan.build(nodes, idempotent=False)
        verdict = accepts(plan, coarse)
        assert verdict == plan_is_right(plan, coarse)
        reached["accepted" if verdict else "refused"] += 1

    each()
    reached.at_least(10, "accepted", "refused")


TEN, TWENTY, THIRTY = (Window(n, n, id=str(n)) for n in (10, 20, 30))
HOP = Window(10, 2, id="hop")
DAY, HOUR = Window(24, 1, id="day"), Window(6, 1, id="hour")


def pieces_of(child: Window, parent: Window, disjoint: bool = True) -> EdgePieces:
    pieces = fewest_pieces(child, parent, disjoint)
    assert pieces is not None
    return pieces


GOOD = [
    window_node(TEN),
    Node("20", TWENTY, "10", pieces_of(TWENTY, TEN)),
    Node("30", THIRTY, "10", pieces_of(THIRTY, TEN)),
]
ASKED = [TEN, TWENTY, THIRTY]


def with_pieces(*values: int) -> list[Node]:
    return [GOOD[0], replace(GOOD[1], pieces=offsets(*values)), GOOD[2]]


def test_the_plan_that_is_mutated_below_is_right() -> None:
    check(SharingPlan.build(GOOD, idempotent=False), ASKED)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        pytest.param(GOOD[:2], r"does not answer \['30'\]", id="missing window"),
        pytest.param(
            [*GOOD[:2], replace(GOOD[2], hidden=True)], r"does not answer \['30'\]", id="hidden"
        ),
        pytest.param(
            [*GOOD, window_node(HOP)], r"answers what was not asked: \['hop'\]", id="extra"
        ),
        pytest.param(
            [*GOOD, replace(GOOD[0], id="again")], r"not asked: .*again", id="a window twice"
        ),
        pytest.param(
            [GOOD[0], replace(GOOD[1], id="30"), replace(GOOD[2], id="20")],
            r"does not answer \['20', '30'\]",
            id="labels swapped",
        ),
        pytest.param(
            [*GOOD, replace(slices_node(panes(TEN)), hidden=False)],
            r"not asked",
            id="slices as a result",
        ),
        pytest.param(with_pieces(0), r"pieces reach 10 of its range 20", id="too few pieces"),
        pytest.param(with_pieces(0, 10, 20), r"pieces reach 30 of its range 20", id="too many"),
        pytest.param(with_pieces(10), r"leave a gap at or after 0", id="gap at the start"),
        pytest.param(with_pieces(0, 20), r"leave a gap at or after 10", id="gap inside"),
        pytest.param(
            with_pieces(0, 5), r"no instance of the parent begins at offset 5", id="askew"
        ),
        pytest.param(with_pieces(0, 0, 10), r"overlap.*count records twice", id="a piece twice"),
        pytest.param(with_pieces(-10, 0, 10), r"begin at -10, before", id="before the start"),
        pytest.param(with_pieces(-10, 10), r"begin at -10, before", id="straddling the start"),
        pytest.param(
            [replace(GOOD[0], pieces=every(9)), *GOOD[1:]], r"does not read all", id="short source"
        ),
        pytest.param(
            [replace(GOOD[0], pieces=every(11)), *GOOD[1:]], r"does not read all", id="long source"
        ),
        pytest.param(
            [GOOD[0], GOOD[1], Node("30", THIRTY, "20", offsets(0, 10))],
            r"slide 30 is not a multiple of 20",
            id="slides that do not divide",
        ),
        pytest.param(
            [GOOD[0], GOOD[1], Node("30", THIRTY, "slices", every(30)), slices_node(panes(TWENTY))],
            r"do not begin where slices do",
            id="slices that begin elsewhere",
        ),
        pytest.param(
            [
                *GOOD[:2],
                Node("30", THIRTY, "10", pieces_of(THIRTY, TEN)),
                slices_node(panes(TEN), "s", "10"),
            ],
            r"slices cannot be made of window instances",
            id="slices of a window",
        ),
    ],
)
def test_a_mutated_plan_is_refused_and_the_edge_named(nodes: list[Node], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        check(SharingPlan.build(nodes, idempotent=False), ASKED)


def test_a_gap_within_a_progression_is_seen() -> None:
    child, parent = Window(40, 40, id="child"), Window(10, 10, id="parent")
    plan = edge_plan(child, parent, EdgePieces((Progression(0, 30, 2),)), idempotent=True)
    with pytest.raises(PlanError, match="leave a gap"):
        check(plan, [child])


def test_slices_must_be_cut_where_instances_end() -> None:
    window = Window(5, 4, id="w")
    begins_only = cut_everywhere([Cut(4, 0)])
    plan = SharingPlan.build(
        [slices_node(begins_only), window_node(window, "slices")], idempotent=True
    )
    with pytest.raises(PlanError, match=r"'w' cannot be computed from 'slices'.* do not end where"):
        check(plan, [window])


def test_slices_that_lack_a_cut_cannot_make_finer_ones() -> None:
    window = Window(5, 4, id="w")
    nodes = [
        slices_node(cut_everywhere([Cut(4, 0)]), "coarse"),
        slices_node(pairs(window), "fine", "coarse"),
    ]
    plan = SharingPlan.build([*nodes, window_node(window, "fine")], idempotent=True)
    with pytest.raises(PlanError, match=r"'fine' cannot be computed from 'coarse'.*not cuts of"):
        check(plan, [window])


def test_overlap_is_for_idempotent_aggregates_only() -> None:
    child, parent = Window(10, 2, id="child"), Window(7, 1, id="parent")
    pieces = pieces_of(child, parent, disjoint=False)
    assert accepts(edge_plan(child, parent, pieces, idempotent=True), [child])
    with pytest.raises(PlanError, match="overlap"):
        check(edge_plan(child, parent, pieces, idempotent=False), [child])


def test_disjoint_pieces_of_an_overlapping_parent_serve_sums() -> None:
    plan = edge_plan(DAY, HOUR, pieces_of(DAY, HOUR), idempotent=False)
    check(plan, [DAY])
    assert plan_is_right(plan, [DAY])


def test_nodes_without_their_parent_are_refused_however_the_plan_was_made() -> None:
    plan = SharingPlan((GOOD[1], GOOD[0], GOOD[2]), idempotent=False)
    with pytest.raises(PlanError, match="'20' comes before its parent '10'"):
        check(plan, ASKED)


def test_brute_force_itself_tells_right_from_wrong() -> None:
    random = Random(4)
    for _ in range(30):
        window = random_window(random)
        plan = SharingPlan.build([window_node(window)], idempotent=False)
        assert plan_is_right(plan, [window])
        short = SharingPlan.build([replace(plan.nodes[0], pieces=every(window.range + 1))], False)
        assert not plan_is_right(short, [window])


@pytest.mark.long
@pytest.mark.parametrize("idempotent", [True, False])
def test_twenty_thousand_random_edges(idempotent: bool) -> None:
    random = Random(99)
    for _ in range(20_000):
        child, parent = related_pair(random)
        plan = edge_plan(
            child, parent, random_pieces(random, child, parent, not idempotent), idempotent
        )
        assert accepts(plan, [child]) == plan_is_right(plan, [child])

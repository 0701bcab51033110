"""Another set of windows on the state of a stream: what is kept, and from when the new is complete.

A window that was there goes on exactly: the slices of the state are cut where its instances begin
and end, and those of the new plan too, so pieces of both may stand side by side, whatever else
cuts them. A new window takes over slices of the state:

    cut at all its edges   it is complete from the oldest slice that is still kept
    not cut there          it is complete from the end of the newest slice of the whole stream,
                           in all buckets alike

The state remembers until when slices of each earlier cutting may stand, those that it has merged
included, so this holds after any number of changes; of many, the oldest count as missing, so that a
new window begins later. Older instances of a new window are not emitted, but for those that happen
to begin and end where slices are cut (`state.early`), where windows come and go. What is refused is
a plan that puts kept windows together whose slices the state holds apart, none of them cut for all.
"""

from __future__ import annotations

from collections.abc import Callable

from muntin.errors import StateError
from muntin.model.windows import Window, first_open, kept_from
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import Slices, begins, ends
from muntin.state.early import Early
from muntin.state.header import Header, KeptBase, KeptWindow
from muntin.state.spec import Spec

CUTTINGS = 16
"""Earlier cuttings that a state remembers."""

FITTING = 4
"""Runs are kept as they are while their blocks are at most so many times too long or too short."""


def unchanged(header: Header, spec: Spec) -> bool:
    """Whether the state is of just these windows, on just these slices."""
    return [(kept.slices, [k.window for k in kept.windows]) for kept in header.bases] == [
        (base.slices, list(base.windows.values())) for base in spec.bases
    ]


def take_over(
    header: Header,
    spec: Spec,
    stand_until: Callable[[KeptBase], int | None],
    early: bool = False,
) -> list[tuple[KeptBase, KeptBase]]:
    """The bases of the new windows, each with the base of the state whose runs it takes over.

    `stand_until` tells by when the rows of all pieces of a base have passed, if it has any. With
    `early`, instances of new windows are found that are whole before all of them are.
    """
    return [_take_over(header, base, stand_until, early) for base in spec.bases]


def begin_after(base: Base, instant: int) -> KeptBase:
    """A base of which nothing is kept, with windows that begin at an instant or later."""
    fresh = KeptBase.of(base)
    fresh.whole_from = instant
    for kept in fresh.windows:
        kept.since = instant + (kept.window.offset - instant) % kept.window.slide
    return fresh


def slice_end(slices: Slices, start: int) -> int:
    """Where the slice that begins at `start` ends.

    >>> from muntin.plan.slicing import pairs
    >>> slice_end(pairs(Window(10, 4)), 6)
    8
    """
    return start + min(cut.step - (start - cut.phase) % cut.step for cut in slices.cuts)


def _take_over(
    header: Header, base: Base, stand_until: Callable[[KeptBase], int | None], early: bool
) -> tuple[KeptBase, KeptBase]:
    known = {k.window: k for kept in header.bases for k in kept.windows}
    cuttings = {id(old): _cuttings(old, stand_until(old)) for old in header.bases}

    def complete(old: KeptBase, window: Window, fired: int) -> int:
        """The begin of the oldest instance that is complete and has an end after `fired`."""
        uncut = [end for end, slices in cuttings[id(old)] if not _cut_for(slices, window)]
        begin = max(_whole_from(old, header.settled), *uncut, first_open(window, fired))
        return begin + (window.offset - begin) % window.slide

    old = _source(header, base, [known[w] for w in base.windows.values() if w in known], complete)
    fresh = KeptBase.of(base)
    if old.block // FITTING <= fresh.block <= old.block * FITTING:
        fresh.block = old.block
    fresh.older = [each for each in cuttings[id(old)] if each[1] != fresh.slices]
    _forget(fresh, _whole_from(old, header.settled))
    for kept in fresh.windows:
        if kept.window in known:
            kept.since, kept.early = known[kept.window].since, known[kept.window].early
            continue
        kept.since = complete(old, kept.window, header.last)
        if early:
            first = max(_whole_from(old, header.settled), first_open(kept.window, header.last))
            kept.early = Early.find(kept.window, first, kept.since, cuttings[id(old)])
    return fresh, old


def _source(
    header: Header,
    base: Base,
    continued: list[KeptWindow],
    complete: Callable[[KeptBase, Window, int], int],
) -> KeptBase:
    """The base of the state that serves all windows that go on, and most of the new ones."""

    def serves(old: KeptBase, kept: KeptWindow) -> bool:
        own = any(k.window == kept.window for k in old.windows)
        oldest = first_open(kept.window, header.settled)
        if kept.since is not None:
            oldest = max(oldest, kept.since)
        return own or complete(old, kept.window, header.settled) <= oldest

    able = [old for old in header.bases if all(serves(old, kept) for kept in continued)]
    if not able:
        names = ", ".join(repr(k.window.id) for k in continued)
        raise StateError(
            f"the windows {names} are now computed from common slices ({base.slices}), and the "
            "state of this stream has none that serve all of them: go on with the strategy that "
            "it was started with, or start with a new checkpoint location"
        )

    def served(old: KeptBase) -> tuple[bool, int]:
        cut = sum(_cut_for(old.slices, window) for window in base.windows.values())
        return old.slices == base.slices, cut

    return max(able, key=served)


def _forget(fresh: KeptBase, whole_from: int) -> None:
    """Of too many cuttings, take what stands in the oldest for missing."""
    ends = sorted(end for end, _ in fresh.older)
    fresh.whole_from = max(whole_from, *ends[:-CUTTINGS], whole_from)
    fresh.older = [(end, slices) for end, slices in fresh.older if end > fresh.whole_from]


def _cuttings(old: KeptBase, end: int | None) -> list[tuple[int, Slices]]:
    """Until when slices of each cutting may stand in the state."""
    if end is None:
        return []
    earlier = [each for each in old.older if each[1] != old.slices]
    if old.coarse is not None and old.merged_to is not None:
        earlier.append((old.merged_to, old.coarse))
    return [*earlier, (end, old.slices)]


def _whole_from(old: KeptBase, last: int) -> int:
    """The instant from which on no slice is missing."""
    kept = kept_from([k.window for k in old.windows], last)
    return kept if old.whole_from is None else max(kept, old.whole_from)


def _cut_for(slices: Slices, window: Window) -> bool:
    return slices.cuts_at(begins(window)) and slices.cuts_at(ends(window))

"""The header of a bucket: what its state holds, in words that any later version can read.

    format     a number: an unknown one is refused before anything else is looked at
    buckets    how many buckets there are, and which this one is: keys are spread by both
    last       the watermark of the last step: every window that ended by then has fired
    settled    every window that ended by then is final: `last` less the allowed lateness
    known      whether an entry tells which keys empty windows are emitted for
    revised    the last end of the windows that were emitted again and are not settled, if any
    newest     the start of the newest piece of the whole stream, which all buckets hear of
    until      where the stream began, if it started from history; `untold` while no result, in
               update mode, has told of what the history gave
    technique  what answers windows that are due: a restart changes it only if asked to
    bases      for each set of slices its cuts, the windows made of it, and its runs

A window that joined later is complete only `since` an instant; kept ones have none. A run is a
table of the pieces whose slices begin in one block of time, under a token that no other content
ever had, so that a reader may remember what it has read. Slices that began before `merged_to` are
merged into coarser ones; such a state has a format of its own, which earlier versions refuse.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Protocol

from muntin.errors import StateError
from muntin.model.history import instant_text
from muntin.model.windows import Window
from muntin.physical.blocks import block_length
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import Cut, Slices, edge_rate
from muntin.state.early import NO_EARLY, Early
from muntin.state.spec import Spec

FORMAT, MERGED = 1, 2
"""The format of a state; of one in which slices were merged into coarser ones."""


@dataclass(slots=True)
class KeptWindow:
    """A window of the state; `since` is the instant from which on all its instances are complete.

    Where windows come and go, `early` are older ones that the state makes whole too.
    """

    window: Window
    since: int | None = None
    early: Early = NO_EARLY


@dataclass(slots=True)
class KeptBase:
    """Slices of the state: the length of a block, windows, and the token of each block's run.

    `whole_from` is the instant from which on no slice is missing; `older` lists other cuttings
    that the state went through, each with the instant until which its slices may stand. Pieces that
    begin before `merged_to`, a cut of the `coarse` slices, are pieces of these (`state.merging`).
    """

    slices: Slices
    block: int
    windows: list[KeptWindow]
    whole_from: int | None = None
    runs: dict[int, str] = field(default_factory=dict)
    older: list[tuple[int, Slices]] = field(default_factory=list)
    coarse: Slices | None = None
    merged_to: int | None = None

    @staticmethod
    def of(base: Base) -> KeptBase:
        """The base of a query, with nothing kept yet."""
        windows = [KeptWindow(w) for w in base.windows.values()]
        widest = max((w.window.range for w in windows), default=1)
        block = block_length(widest, edge_rate(base.coarse or base.slices))
        return KeptBase(base.slices, block, windows, coarse=base.coarse)

    def since(self, window: Window) -> int | None:
        """From when on the window is complete; None if it always was."""
        return self.kept(window).since

    def kept(self, window: Window) -> KeptWindow:
        """What is known of a window."""
        return next(kept for kept in self.windows if kept.window == window)

    def to_plain(self) -> dict[str, object]:
        """The base as JSON values."""
        windows = [(k.window, k.since) for k in self.windows]
        return {
            "cuts": self.slices.cuts,
            "block": self.block,
            "whole_from": self.whole_from,
            "windows": [[w.range, w.slide, w.offset, w.id, since] for w, since in windows],
            "runs": list(self.runs.items()),
            "older": [(end, slices.cuts) for end, slices in self.older],
            "coarse": None if self.coarse is None else self.coarse.cuts,
            "merged_to": self.merged_to,
            "early": [kept.early.begins for kept in self.windows],
        }

    @staticmethod
    def from_plain(read: dict[str, Any]) -> KeptBase:
        """The base of JSON values."""
        windows = [KeptWindow(Window(*window), since) for *window, since in read["windows"]]
        for kept, begins in zip(windows, read.get("early", ()), strict=False):  # older have none
            kept.early = Early(tuple(map(tuple, begins)))
        return KeptBase(
            _slices(read["cuts"]),
            read["block"],
            windows,
            read["whole_from"],
            dict(read["runs"]),
            [(end, _slices(cuts)) for end, cuts in read["older"]],
            None if read.get("coarse") is None else _slices(read["coarse"]),
            read.get("merged_to"),
        )


def _slices(cuts: list[list[int]]) -> Slices:
    return Slices(tuple(Cut(*cut) for cut in cuts))


@dataclass(slots=True)
class Header:
    """All that is known of a bucket besides its pieces and keys."""

    buckets: int
    bucket: int
    named: tuple[str, ...]
    described: tuple[str, ...]
    bases: list[KeptBase]
    last: int = 0
    types: str = ""
    newest: int | None = None
    technique: str | None = None
    settled: int = 0
    revised: int | None = None
    known: bool = False
    until: int | None = None
    untold: bool = False

    @staticmethod
    def new(spec: Spec, bucket: int) -> Header:
        """The header of a bucket that has seen nothing: a stream's watermark begins at 0.

        Behind history it is as if the watermark had passed all that ended before.
        """
        bases = [KeptBase.of(base) for base in spec.bases]
        header = Header(spec.buckets, bucket, spec.named, spec.described, bases, until=spec.until)
        header.last = header.settled = spec.until or 0
        header.untold = spec.until is not None and spec.update
        return header

    def to_bytes(self) -> bytes:
        """The header as JSON."""
        return json.dumps(
            {
                "format": MERGED if any(base.merged_to for base in self.bases) else FORMAT,
                "buckets": self.buckets,
                "bucket": self.bucket,
                "named": self.named,
                "described": self.described,
                "last": self.last,
                "types": self.types,
                "newest": self.newest,
                "technique": self.technique,
                "settled": self.settled,
                "revised": self.revised,
                "known": self.known,
                "until": self.until,
                "untold": self.untold,
                "bases": [base.to_plain() for base in self.bases],
            }
        ).encode()

    @staticmethod
    def from_bytes(entry: bytes) -> Header:
        """The header of an entry, if this version knows its format.

        >>> Header.from_bytes(b'{"format": 99}')
        Traceback (most recent call last):
        muntin.errors.StateError: the state of this stream has format 99, and this version of ...
        """
        read = read_entry(entry)
        number = read["format"]
        if isinstance(number, str):
            raise StateError(
                f"the state of this stream has format {number!r}: it was written for windows that "
                "the data decides, or for trailing ones; ask for these again, or start with a new "
                "checkpoint location"
            )
        if number not in (FORMAT, MERGED):
            raise StateError(
                f"the state of this stream has format {number}, and this version of Muntin knows "
                f"only {FORMAT} and {MERGED}: go on with the version that wrote it, or start with "
                "a new checkpoint location"
            )
        return Header(
            read["buckets"],
            read["bucket"],
            tuple(read["named"]),
            tuple(read["described"]),
            [KeptBase.from_plain(base) for base in read["bases"]],
            read["last"],
            read["types"],
            read.get("newest"),  # older states have none
            read.get("technique"),
            read.get("settled", read["last"]),
            read.get("revised"),
            read.get("known", False),
            read.get("until"),
            read.get("untold", False),
        )


def read_entry(entry: bytes) -> dict[str, Any]:
    """What a header says, once it is one of Muntin's; its format is still to be looked at."""
    try:
        read: dict[str, Any] = json.loads(entry)
        read["format"]
    except (ValueError, KeyError, TypeError):
        raise StateError(
            f"the state of this stream was not written by Muntin: it begins with {entry[:20]!r}; "
            "start with a new checkpoint location"
        ) from None
    return read


def check(header: Header, spec: Spec) -> None:
    """Refuse a state that the query cannot go on from, with the reason."""
    if header.buckets != spec.buckets:
        raise StateError(
            f"the state of this stream is spread over {header.buckets} buckets, and the query asks "
            f"for {spec.buckets}: keys would be looked for in the wrong ones; give "
            f"buckets={header.buckets}, or start with a new checkpoint location"
        )
    for what, kept, asked in (
        ("keys", header.named, spec.named),
        ("partial aggregates", header.described, spec.described),
    ):
        if kept != asked:
            raise StateError(
                f"the state of this stream holds the {what} {', '.join(kept) or 'none'}, and the "
                f"query needs {', '.join(asked) or 'none'}: only the windows may change; keep the "
                "others, or start with a new checkpoint location"
            )

    check_history(header.until, spec.until)


def check_begun(until: int | None) -> None:
    """Refuse to go on without the history that a new state should have begun with."""
    if until is not None:
        raise StateError(
            f"the checkpoint of this stream holds no history until {instant_text(until)}, and "
            "mt.History(None, ...) brings none: give its table for the first start"
        )


def check_history(kept: int | None, asked: int | None) -> None:
    """Refuse a state that began elsewhere: rows before would be missing, or count twice."""
    if kept == asked:
        return
    if kept is None:
        raise StateError(
            "the state of this stream was begun without history, which only a new stream can take: "
            "leave out history, or start with a new checkpoint location"
        )
    began = instant_text(kept)
    remedy = f"give history=mt.History(None, until={began!r}), or start with a new checkpoint"
    if asked is None:
        raise StateError(
            f"this stream started from history until {began}, and rows of the stream before that "
            f"would count twice without it: {remedy} location"
        )
    raise StateError(
        f"this stream started from history until {began}, and the query says "
        f"{instant_text(asked)}: {remedy} location"
    )


class Typed(Protocol):
    """What notes the types of its columns."""

    types: str


def check_types(header: Typed, types: str) -> None:
    """Note the types of the columns, or refuse other ones than those of the state."""
    if header.types and header.types != types:
        raise StateError(
            f"the state of this stream has columns {header.types}, and the rows now have {types}: "
            "cast them, or start with a new checkpoint location"
        )
    header.types = types

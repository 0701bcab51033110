"""What a stream of records asks of a bucket, and its state: a header and tables.

format     a text such as "cutty 1"; an unknown one is refused before anything else is looked at
words      what was asked, the signatures of all windows among it: a state goes on only with that
buckets    how many buckets there are, and which this one is: keys are spread by both
last       the watermark of the last step: all records before it have been taken
until      where the stream began, if it started from history, and how many tables of it are still
           to be taken
due        the first instant at which time alone ends a window of some key
tables     the tables of the state, each with its token
waiting    the blocks of records that wait

Nothing is pickled: reading an old state runs no code of it, and what a function remembers is JSON.
A user's function is known by its name and by what it remembers before it has seen a record, which
is what it was made with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar, Protocol
from uuid import uuid4

import numpy as np
import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.data_windows.elements import NEVER
from muntin.data_windows.protocol import WindowFunction, shorten
from muntin.data_windows.window_functions import function_of
from muntin.errors import StateError, UserWindowError
from muntin.model.data_windows import DataWindow, UserWindow
from muntin.model.windows import Window
from muntin.state.header import check_history, read_entry
from muntin.state.state import Cache
from muntin.state.store import Store, from_bytes, to_bytes

Words = dict[str, list[str]]
"""What was asked, by what it is: windows, keys, aggregates."""

CONTROLLED = "those of a control"
"""Stands for the windows of a stream in which they come and go."""


class RecordSpec(Protocol):
    """What every bucket of records is asked, whatever it makes of them.

    `format` names the form of the state, and `what` the windows, for sentences that refuse one.
    """

    format: ClassVar[str]
    what: ClassVar[str]

    @property
    def keys(self) -> tuple[str, ...]:
        """The key columns of the records."""

    @property
    def block(self) -> int:
        """How long a stretch of waiting records is."""

    @property
    def buckets(self) -> int:
        """How many buckets there are."""

    @property
    def late_now(self) -> bool:
        """Whether lateness is judged by the watermark of the present batch."""

    @property
    def until(self) -> int | None:
        """Where the stream begins, if it starts from history."""

    def words(self) -> Words:
        """What was asked in the user's words: a state of other words is refused."""


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """The windows and columns of a query, and the rules that its stream runs by.

    `windows` are numbered by their nodes, `inputs` are the plain names of what they ask for, and
    `order` the columns that order records of equal time. `block` is how long a stretch of waiting
    records is. `named`, `described` and `ordered` say in the user's words what the keys, the
    partial columns and `order_by` are, so that a state can be refused that holds others.
    `late_now` judges lateness by the watermark of the present batch, else by the one before.
    `update` gives windows out as far as they have come, too. With `controlled`, windows come and
    go, and none is written down here.
    """

    keys: tuple[str, ...]
    windows: Mapping[int, Window | DataWindow]
    inputs: Mapping[str, str]
    partials: tuple[PartialColumn, ...]
    order: tuple[str, ...] = ()
    block: int = 1_000_000
    buckets: int = 1
    named: tuple[str, ...] = ()
    described: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    late_now: bool = False
    wraps: bool = False
    update: bool = False
    until: int | None = None
    controlled: bool = False
    format: ClassVar[str] = "cutty 1"
    what: ClassVar[str] = "windows that the data decides"

    def words(self) -> Words:
        """Windows, keys, partial aggregates and what orders records."""
        windows = [self.windows[node] for node in sorted(self.windows)]
        said = [CONTROLLED] if self.controlled else [signature(window) for window in windows]
        return {
            "windows": said,
            "keys": list(self.named),
            "partial aggregates": list(self.described),
            "order_by": list(self.ordered),
        }


@dataclass(slots=True)
class Block:
    """A stretch of waiting records: the numbers of its chunks, and the time of the first one."""

    chunks: list[int] = field(default_factory=list)
    first: int = NEVER


@dataclass(slots=True)
class StreamHeader:
    """All that is known of a bucket besides its tables."""

    format: str
    buckets: int
    bucket: int
    words: Words
    block: int
    last: int = 0
    due: int = NEVER
    types: str = ""
    tables: dict[str, str] = field(default_factory=dict)
    waiting: dict[int, Block] = field(default_factory=dict)
    until: int | None = None
    untaken: int = 0

    @staticmethod
    def new(spec: RecordSpec, bucket: int) -> StreamHeader:
        """The header of a bucket that has seen nothing: a stream's watermark begins at 0."""
        header = StreamHeader(spec.format, spec.buckets, bucket, spec.words(), spec.block)
        header.until = spec.until
        return header

    def to_bytes(self) -> bytes:
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        plain["waiting"] = [(n, block.chunks, block.first) for n, block in self.waiting.items()]
        return json.dumps(plain).encode()

    @staticmethod
    def from_bytes(entry: bytes, format: str) -> StreamHeader:
        """The header of an entry, if it has the format that the query needs.

        >>> StreamHeader.from_bytes(b'{"format": "cutty 9"}', "cutty 1")
        Traceback (most recent call last):
        muntin.errors.StateError: the state of this stream has format 'cutty 9', and this query ...
        """
        read = read_entry(entry)
        if read["format"] != format:
            raise StateError(
                f"the state of this stream has format {read['format']!r}, and this query needs "
                f"{format!r}: "
                "go on with the query and the version of Muntin that wrote it, or start with a "
                "new checkpoint location"
            )
        read["waiting"] = {n: Block(chunks, first) for n, chunks, first in read["waiting"]}
        return StreamHeader(**read)

    def check(self, spec: RecordSpec) -> None:
        """Refuse a state that the query cannot go on from, with the reason."""
        if self.buckets != spec.buckets:
            raise StateError(
                f"the state of this stream is spread over {self.buckets} buckets, and the query "
                f"asks for {spec.buckets}: keys would be looked for in the wrong ones; give "
                f"buckets={self.buckets}, or start with a new checkpoint location"
            )
        check_history(self.until, spec.until)
        for what, asked in spec.words().items():
            kept = self.words[what]
            if kept != asked:
                raise StateError(
                    f"the state of this stream was written for the {what} {_without(kept, asked)}, "
                    f"and the query has {_without(asked, kept)}: with {spec.what} nothing may "
                    "change at a restart; keep them as they were, or start with a new checkpoint "
                    "location"
                )


class Tables:
    """Tables of a state by name, each under a token that no other content ever had.

    A reader may hand in a cache that outlives it: what is found there under a token is right, even
    after a rollback of the store.

    >>> from muntin.state.store import MemoryStore
    >>> store, tokens = MemoryStore(), {}
    >>> Tables(store, {}, tokens).put("open", pa.table({"group": [3]}))
    >>> Tables(store, {}, tokens).get("open").to_pydict(), Tables(store, {}, tokens).get("keys")
    ({'group': [3]}, None)
    """

    def __init__(self, store: Store, cache: Cache, tokens: dict[str, str]) -> None:
        self._store, self._cache, self.tokens = store, cache, tokens

    def get(self, name: str) -> pa.Table | None:
        token = self.tokens.get(name)
        if token is None:
            return None
        if token not in self._cache:
            entry = self._store.read(name)
            assert entry is not None, "tokens name the tables that there are"
            self._cache[token] = from_bytes(entry)
        return self._cache[token]

    def put(self, name: str, table: pa.Table) -> None:
        """Put a table in the place of any before."""
        self._cache.pop(self.tokens.get(name, ""), None)
        self.tokens[name] = token = uuid4().hex
        self._cache[token] = table
        self._store.write(name, to_bytes(table))

    def drop(self, name: str) -> None:
        self._cache.pop(self.tokens.pop(name), None)
        self._store.remove(name)


def _without(some: list[str], others: list[str]) -> str:
    """What only some have; if that is nothing but their order, all of them.

    >>> _without(["a", "b"], ["b"]), _without(["a", "b"], ["b", "a"]), _without([], ["a"])
    ('a', 'a; b', 'none')
    """
    both = set(some) == set(others)
    return "; ".join(each for each in some if both or each not in others) or "none"


def dump_state(name: str, function: WindowFunction, declared: tuple[int, int] | None = None) -> str:
    """The state of a function, with the last bounds that it declared; refused if not plain.

    >>> from muntin.data_windows.window_functions import CountFunction
    >>> dump_state("count", CountFunction(4, 2))
    '{"state": {"range": 4, "slide": 2, "seen": 0, "ended": 0, "last": 0}, "declared": null}'
    """
    state = function.state()
    try:
        text = json.dumps({"state": state, "declared": declared}, default=_scalar)
        if _listed(json.loads(text)["state"]) != _listed(state):
            raise ValueError("a dictionary key is not text")
    except (TypeError, ValueError) as error:
        raise UserWindowError(
            f"window function {name!r} remembers {shorten(state)}, which the state of a stream "
            f"cannot hold as JSON ({error}): keep plain numbers, texts, lists and dictionaries in "
            "its attributes, or override state() and restore()"
        ) from error
    return text


def _scalar(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is a {type(value).__name__}")


def _listed(state: object) -> object:
    """The state with lists for tuples, as JSON has them; NaN is itself."""
    if isinstance(state, dict):
        return {key: _listed(value) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return [_listed(value) for value in state]
    return "NaN" if isinstance(state, float) and state != state else state


def signature(window: DataWindow | Window) -> str:
    """A window in words: a stream resumes only from a state written under the same words.

    >>> from muntin.model.data_windows import session
    >>> signature(session("5 minutes"))
    'session 5 minutes = Session(incomplete=True, gap=300000000, maximum=None)'
    """
    given = {f.name: getattr(window, f.name) for f in fields(window)}
    for name in ("id", "limit"):  # a label, and what may be raised
        given.pop(name, None)
    if isinstance(window, UserWindow):
        function = function_of(window)
        given["factory"] = type(function).__qualname__
        given["made with"] = json.loads(dump_state(window.id, function))["state"]
    words = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return f"{window.id} = {type(window).__name__}({words})"


def keeps_records(window: UserWindow) -> bool:
    """Whether a window's function can only be evaluated on records kept one by one."""
    return not function_of(window).deterministic

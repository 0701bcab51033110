"""What a stream with a control writes down: what it keeps, and what it made of each command."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields

from muntin.errors import ControlError
from muntin.model.window_text import AnyWindow, Named
from muntin.state.control.decision import PERIODIC, Label, Terms

RUNNING, SUSPENDED, REFUSED = "running", "suspended", "refused"


@dataclass(frozen=True, slots=True)
class Stream:
    """What a stream keeps: the windows of its start, its terms, and for the reader its keys."""

    windows: tuple[AnyWindow, ...]
    terms: Terms
    keys: tuple[str, ...] = ()

    def to_json(self) -> str:
        plain = {
            "windows": [Label(w.id, w).to_plain() for w in self.windows],
            "aggregates": self.terms.aggregates,
            "grain": self.terms.grain,
            "keys": self.keys,
        }
        if self.terms.kind != PERIODIC:
            plain |= {"kind": self.terms.kind, "inputs": self.terms.inputs}
        return json.dumps(plain, ensure_ascii=False, indent=1)

    @staticmethod
    def from_json(text: str) -> Stream:
        try:
            plain = json.loads(text)
            terms = Terms(tuple(map(str, plain["aggregates"])), int(plain["grain"]))
            kind, keys = plain.get("kind", PERIODIC), tuple(map(str, plain["keys"]))
            if kind == PERIODIC:
                windows = tuple(Label.from_plain(each, terms).window for each in plain["windows"])
                return Stream(windows, terms, keys)
            named = tuple(Named(str(id), str(own)) for id, own, *_ in plain["windows"])
            known, inputs = {each.id: each for each in named}, tuple(map(str, plain["inputs"]))
            return Stream(named, Terms(terms.aggregates, 1, str(kind), known, inputs), keys)
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError):
            raise ControlError("not what a stream keeps") from None


@dataclass(frozen=True, slots=True)
class Entry:
    """What a stream made of one command; times are microseconds of event time.

        register   running     complete_from: every instance that begins here or later is emitted
                               answers_from: the first of older ones that are too, if any is
        suspend    suspended   instances that end by `effective` are still emitted
        either     refused     with the reason

    `order` counts the commands that the stream met before: a restart goes on counting. `effective`
    is the newest event time of the stream when it met the command; None before any row.
    """

    key: str
    action: str
    id: str
    state: str
    order: int = 0
    window: str | None = None
    aggregates: tuple[str, ...] | None = None
    effective: int | None = None
    complete_from: int | None = None
    reason: str | None = None
    answers_from: int | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> Entry:
        """The entry of some JSON, if it is one.

        >>> entry = Entry("1", "suspend", "short", "suspended", effective=5)
        >>> Entry.from_json(entry.to_json()) == entry
        True
        >>> Entry.from_json("[]")
        Traceback (most recent call last):
        muntin.errors.ControlError: not an entry of a log
        """
        try:
            plain = json.loads(text)
            names = plain["aggregates"]
            entry = Entry(**plain | {"aggregates": None if names is None else tuple(names)})
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ControlError("not an entry of a log") from None
        if not all(_is_a(str(each.type), getattr(entry, each.name)) for each in fields(entry)):
            raise ControlError("not an entry of a log")
        return entry


def _is_a(kind: str, value: object) -> bool:
    """Whether a value is of a declared type."""
    if value is None:
        return kind.endswith(" | None")
    match kind.removesuffix(" | None"):
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "str":
            return isinstance(value, str)
        case _:
            return isinstance(value, tuple) and all(isinstance(each, str) for each in value)

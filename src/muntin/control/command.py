"""A command to a running stream: register a window, or suspend one.

Commands travel as JSON, one object each:

    {"key": "00001700000000000000-6f3a…", "action": "register", "id": "short",
     "window": "10 minutes/1 minute", "aggregates": ["total"]}

The key is the time of writing in nanoseconds and a random part: no two are equal, and those of one
micro-batch are obeyed in the order of their keys. A window is written as everywhere, by its range,
slide and offset; without `aggregates` all of the stream's are computed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from time import time_ns
from typing import Any
from uuid import uuid4

from muntin.errors import ControlError, MuntinError, did_you_mean
from muntin.windows import Window, parse_window

REGISTER, SUSPEND = "register", "suspend"
ACTIONS = (REGISTER, SUSPEND)


def new_key() -> str:
    """A key later than all that were made before, by this clock."""
    return f"{time_ns():020}-{uuid4().hex}"


@dataclass(frozen=True, slots=True, order=True)
class Command:
    """What is to be done with the window of an id; ordered by key."""

    key: str
    action: str
    id: str
    window: Window | None = None
    aggregates: tuple[str, ...] | None = None

    def to_json(self) -> str:
        """The command as one line of JSON.

        >>> print(Command("1", "register", "short", Window(6, 2)).to_json())
        {"key": "1", "action": "register", "id": "short", "window": "6 microseconds/2 microseconds"}
        """
        plain: dict[str, Any] = {"key": self.key, "action": self.action, "id": self.id}
        if self.window is not None:
            plain["window"] = window_text(self.window)
        if self.aggregates is not None:
            plain["aggregates"] = list(self.aggregates)
        return json.dumps(plain, ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> Command:
        """The command of a line.

        >>> Command.from_json('{"action": "registr", "id": "short"}')
        Traceback (most recent call last):
        muntin.errors.ControlError: unknown action 'registr': did you mean 'register'?
        """
        try:
            plain = json.loads(text)
        except ValueError:
            raise ControlError(f"a command must be a JSON object, not {text[:80]!r}") from None
        if not isinstance(plain, dict):
            raise ControlError(f"a command must be a JSON object, not {text[:80]!r}")
        return _checked(plain, key_of(text))


def key_of(text: str) -> str:
    """The key of a command; one without a key has one by its content, and comes first."""
    try:
        key = json.loads(text)["key"]
    except (ValueError, KeyError, TypeError):
        key = None
    return str(key) if key else f"{0:020}-{blake2b(text.encode(), digest_size=16).hexdigest()}"


def window_text(window: Window) -> str:
    """A window by its range, slide and offset, whatever its id.

    >>> window_text(Window("1 hour", "5 minutes", id="mine"))
    '1 hour/5 minutes'
    """
    return Window(window.range, window.slide, window.offset).id


def _checked(plain: dict[str, Any], key: str) -> Command:
    action, id = plain.get("action"), plain.get("id")
    if action not in ACTIONS:
        raise ControlError(f"unknown action {action!r}: {did_you_mean(action, ACTIONS)}")
    text = plain.get("window")
    if action == SUSPEND:
        if not isinstance(id, str) or not id:
            raise ControlError(f"suspend needs the id of a window, not {id!r}")
        return Command(key, action, id)
    if not isinstance(text, str):
        raise ControlError(f"register needs a window such as '1 hour/5 minutes', not {text!r}")
    if id is not None and (not isinstance(id, str) or not id):
        raise ControlError(f"window id {id!r} must be a non-empty text")
    try:
        window = parse_window(text)
    except MuntinError as error:
        raise ControlError(str(error)) from None
    name = id or window.id
    window = Window(window.range, window.slide, window.offset, name)
    return Command(key, action, name, window, _names(plain.get("aggregates")))


def _names(given: object) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, list) and given and all(isinstance(name, str) for name in given):
        return tuple(dict.fromkeys(given))
    raise ControlError(f"aggregates {given!r} must be a list of names, at least one")

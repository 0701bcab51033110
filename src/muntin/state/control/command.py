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
from time import time_ns
from typing import Any
from uuid import uuid4

from muntin.errors import ControlError, did_you_mean, shown
from muntin.model.windows import Window, parse_window
from muntin.state.control.limits import LONGEST_TEXT, unfit_text, unfit_window

REGISTER, SUSPEND = "register", "suspend"
ACTIONS = (REGISTER, SUSPEND)


def new_key() -> str:
    """A key later than all that were made before, by this clock."""
    return f"{time_ns():020}-{uuid4().hex}"


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be done with the window of an id."""

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
    def of(plain: dict[str, Any], key: str) -> Command:
        """The command of a JSON object.

        >>> Command.of({"action": "registr", "id": "short"}, "1")
        Traceback (most recent call last):
        muntin.errors.ControlError: unknown action 'registr': did you mean 'register'?
        """
        action, id = plain.get("action"), plain.get("id")
        if action not in ACTIONS:
            said = shown(action)
            raise ControlError(f"unknown action {said}: {did_you_mean(said, ACTIONS)}")
        if action == SUSPEND:
            return Command(key, action, _fit_id(id))
        window = named_window(plain.get("window"), id)
        return Command(key, action, window.id, window, fit_names(plain.get("aggregates")))


def named_window(given: object, id: object = None) -> Window:
    """A window, or the one of a text, under an id, as any stream can have it.

    >>> named_window("1 hour/5 minutes", "mine").id
    'mine'
    """
    window = _parsed(given) if isinstance(given, str) else given
    if not isinstance(window, Window):
        raise ControlError(
            f"register needs a window such as '1 hour/5 minutes', not {shown(given)}"
        )
    reason = unfit_window(window)
    if reason:
        raise ControlError(reason)
    name = window.id if id is None else id
    return Window(window.range, window.slide, window.offset, _fit_id(name))


def fit_names(given: object) -> tuple[str, ...] | None:
    """The names of a list, each once, or None for all."""
    if given is None:
        return None
    if isinstance(given, list) and given and all(isinstance(name, str) for name in given):
        for name in given:
            reason = unfit_text(name, "aggregate")
            if reason:
                raise ControlError(reason)
        return tuple(dict.fromkeys(given))
    raise ControlError(f"aggregates must be a list of names, at least one, not {shown(given)}")


def window_text(window: Window) -> str:
    """A window by its range, slide and offset, whatever its id.

    >>> window_text(Window("1 hour", "5 minutes", id="mine"))
    '1 hour/5 minutes'
    """
    return Window(window.range, window.slide, window.offset).id


def _parsed(text: str) -> Window:
    if len(text) > LONGEST_TEXT:
        raise ControlError(
            f"the window {shown(text)} has {len(text)} characters: write at most {LONGEST_TEXT}, "
            "such as '1 hour/5 minutes'"
        )
    try:
        return parse_window(text)
    except (ValueError, ArithmeticError) as error:  # ours are ValueErrors, as others may be
        raise ControlError(str(error)) from None


def _fit_id(id: object) -> str:
    if not isinstance(id, str):
        raise ControlError(f"window id {shown(id)} must be a text")
    reason = unfit_text(id, "window id")
    if reason:
        raise ControlError(reason)
    return id

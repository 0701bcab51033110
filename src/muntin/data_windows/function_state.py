"""What a function remembers, as JSON, and the words by which a state knows its windows.

Nothing is pickled: reading an old state runs no code of it. A state belongs to the windows that it
was written by. A user's function is known by its name and by what it remembers before it has seen
a record, which is what it was made with.
"""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np

from muntin.data_windows.protocol import WindowFunction, shorten
from muntin.data_windows.window_functions import function_of
from muntin.errors import UserWindowError
from muntin.model.data_windows import DataWindow, UserWindow
from muntin.model.windows import Window


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
            raise ValueError("the key of a dictionary is no text")
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
        if function.deterministic:
            given["made with"] = json.loads(dump_state(window.id, function))["state"]
    words = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return f"{window.id} = {type(window).__name__}({words})"


def keeps_records(window: DataWindow | Window) -> bool:
    """Whether a window's function can only be evaluated on records kept one by one."""
    return isinstance(window, UserWindow) and not function_of(window).deterministic

"""A command to a running stream: register a window, or suspend one.

Commands travel as JSON, one object each:

    {"key": "00001700000000000000-6f3a…", "action": "register", "id": "short",
     "window": "10 minutes/1 minute", "aggregates": ["total"]}

The key is the time of writing in nanoseconds and a random part: no two are equal, and those of one
micro-batch are obeyed in the order of their keys. A window is written as everywhere, by its range,
slide and offset; without `aggregates` all of the stream's are computed. Streams of sessions and the
like, and of trailing windows, take other texts, which stay texts until such a stream reads them.

Anyone may write the bytes that arrive. `read_command` gives a command, or the reason why they are
none, and never raises: a stream that meets them lives on, and meets them again when a micro-batch
is repeated. A window within the limits below runs. Texts are bounded, so that a log and a list can
show them.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from time import time_ns
from uuid import uuid4

from muntin.errors import ControlError, did_you_mean, shown
from muntin.model.durations import duration_text
from muntin.model.windows import Window, parse_window

MOST_BYTES = 65_536
"""A command, as the file or row that it comes in."""

LONGEST_TEXT = 200
"""Characters of an id, of a key, and of a window as text."""

MOST_OVERLAP = 100_000
"""Instances that one row may fall into: each of them is a row of the results. A day by the second
has 86,400."""

MOST_WINDOWS = 1_000
"""Windows of a stream at one time, suspended ones included until their last instance is emitted."""

REGISTER, SUSPEND = "register", "suspend"
ACTIONS = (REGISTER, SUSPEND)
UNKNOWN = "?"
"""Stands for an action or id that cannot be told."""


def new_key() -> str:
    """A key later than all that were made before, by this clock."""
    return f"{time_ns():020}-{uuid4().hex}"


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be done with the window of an id; of some streams, a window is its text."""

    key: str
    action: str
    id: str
    window: Window | str | None = None
    aggregates: tuple[str, ...] | None = None

    def to_json(self) -> str:
        """The command as one line of JSON.

        >>> print(Command("1", "register", "short", Window(6, 2)).to_json())
        {"key": "1", "action": "register", "id": "short", "window": "6 microseconds/2 microseconds"}
        """
        plain: dict[str, object] = {"key": self.key, "action": self.action, "id": self.id}
        if self.window is not None:
            plain["window"] = self.window_text
        if self.aggregates is not None:
            plain["aggregates"] = self.aggregates
        return json.dumps(plain, ensure_ascii=False)

    @property
    def window_text(self) -> str | None:
        """The window as it is written, if there is one."""
        return window_text(self.window) if isinstance(self.window, Window) else self.window


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Bytes that are no command, and why; action and id as far as they can be told."""

    key: str
    reason: str
    action: str = UNKNOWN
    id: str = UNKNOWN


def read_command(raw: bytes | str, as_text: bool = False) -> Command | Unreadable:
    """The command that some bytes are, or why they are none.

    A command without a key, or with an unfit one, has one by its content, and comes first. With
    `as_text` a window stays a text, for a stream whose windows are not periodic.

    >>> read_command('{"key": "1", "action": "suspend", "id": "short"}').id
    'short'
    >>> read_command(b'{"action": "registr", "id": "short"}').reason
    "unknown action 'registr': did you mean 'register'?"
    >>> read_command(b"\\xff").reason
    'a command must be text in UTF-8, and this has the byte 0xff in it'
    """
    content = strip(raw)
    key = f"{0:020}-{blake2b(content, digest_size=16).hexdigest()}"
    try:
        plain = _read_object(content)
    except ControlError as error:
        return Unreadable(key, str(error))
    key = _fit_or_none(plain.get("key")) or key
    action, id = plain.get("action"), plain.get("id")
    try:
        if action == SUSPEND:
            return Command(key, SUSPEND, check_text(id, "window id"))
        if action != REGISTER:
            said = shown(action)
            raise ControlError(f"unknown action {said}: {did_you_mean(said, ACTIONS)}")
        if as_text:
            text = check_text(plain.get("window"), "window")
            name = check_text(text if id is None else id, "window id")
            return Command(key, REGISTER, name, text, check_names(plain.get("aggregates")))
        window = check_window(plain.get("window"), id)
        return Command(key, REGISTER, window.id, window, check_names(plain.get("aggregates")))
    except ControlError as error:
        known = str(action) if action in ACTIONS else UNKNOWN
        return Unreadable(key, str(error), known, _fit_or_none(id) or UNKNOWN)


def strip(raw: bytes | str) -> bytes:
    """What was written, as bytes without the white space around it."""
    return (raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw).strip()


def _read_object(content: bytes) -> Mapping[str, object]:
    if len(content) > MOST_BYTES:
        raise ControlError(f"a command has at most {MOST_BYTES:,} bytes, and this {len(content):,}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"{content[error.start]:#04x}"
        raise ControlError(
            f"a command must be text in UTF-8, and this has the byte {byte} in it"
        ) from None
    try:
        plain = json.loads(text)
    except RecursionError:
        plain = None
    except ValueError as error:  # of JSON's, or of a number with thousands of digits
        raise ControlError(
            f"a command must be one JSON object, and a file or row holds one: {shown(text)} "
            f"cannot be read ({error})"
        ) from None
    if not isinstance(plain, dict):
        raise ControlError(f"a command must be a JSON object, not {shown(text)}")
    return plain


def check_window(given: object, id: object = None) -> Window:
    """A window, or the one of a text, under an id, as any stream can have it.

    >>> check_window("1 hour/5 minutes", "mine").id
    'mine'
    >>> check_window("1 hour/1 microsecond")
    Traceback (most recent call last):
    muntin.errors.ControlError: a row would fall into 3,600,000,000 instances of the window ...
    """
    window = _parse(given) if isinstance(given, str) else given
    if not isinstance(window, Window):
        raise ControlError(
            f"register needs a window such as '1 hour/5 minutes', not {shown(given)}"
        )
    instances = -(-window.range // window.slide)
    if instances > MOST_OVERLAP:
        raise ControlError(
            f"a row would fall into {instances:,} instances of the window "
            f"{shown(window_text(window))}, more than {MOST_OVERLAP:,}: choose a slide of at least "
            f"{duration_text(-(-window.range // MOST_OVERLAP))}"
        )
    name = check_text(window.id if id is None else id, "window id")
    return Window(window.range, window.slide, window.offset, name)


def _parse(text: str) -> Window:
    if len(text) > LONGEST_TEXT:
        raise ControlError(
            f"the window {shown(text)} has {len(text)} characters: write at most {LONGEST_TEXT}, "
            "such as '1 hour/5 minutes'"
        )
    try:
        return parse_window(text)
    except (ValueError, ArithmeticError) as error:  # ours are ValueErrors, as others may be
        raise ControlError(str(error)) from None


def check_names(given: object) -> tuple[str, ...] | None:
    """The names of a list, each once, or None for all."""
    if given is None:
        return None
    if isinstance(given, list) and given and all(isinstance(name, str) for name in given):
        return tuple(dict.fromkeys(check_text(name, "aggregate") for name in given))
    raise ControlError(f"aggregates must be a list of names, at least one, not {shown(given)}")


def check_text(given: object, what: str) -> str:
    """A text that may be an id or a name.

    >>> check_text("one\\ntwo", "id")
    Traceback (most recent call last):
    muntin.errors.ControlError: the id 'one\\ntwo' holds a control character: leave it out
    """
    if not isinstance(given, str):
        raise ControlError(f"{what} {shown(given)} must be a text")
    if not given:
        raise ControlError(f"the {what} is empty: give it at least one character")
    fault = None
    if len(given) > LONGEST_TEXT:
        fault = f"has {len(given)} characters: give at most {LONGEST_TEXT}"
    elif any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in given):
        fault = "holds a control character: leave it out"
    if fault:
        raise ControlError(f"the {what} {shown(given)} {fault}")
    return given


def _fit_or_none(given: object) -> str | None:
    """A text that may be shown and logged, or None."""
    with suppress(ControlError):
        return check_text(given, "text")
    return None


def window_text(window: Window) -> str:
    """A window by its range, slide and offset, whatever its id.

    >>> window_text(Window("1 hour", "5 minutes", id="mine"))
    '1 hour/5 minutes'
    """
    return Window(window.range, window.slide, window.offset).id

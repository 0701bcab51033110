"""Commands as they arrive: bytes that anyone may have written.

Each is a command or the reason why it is none; nothing that the bytes say raises an error, since
a stream that meets them lives on, and meets them again when a micro-batch is repeated.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from muntin.errors import ControlError, shown
from muntin.state.control.command import ACTIONS, Command
from muntin.state.control.limits import MOST_BYTES, unfit_text

UNKNOWN = "?"
"""Stands for an action or id that cannot be told."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Bytes that are no command, and why; action and id as far as they can be told."""

    key: str
    reason: str
    action: str = UNKNOWN
    id: str = UNKNOWN


def read_command(raw: bytes | str) -> Command | Unreadable:
    """The command that some bytes are, or why they are none.

    A command without a key, or with an unfit one, has one by its content, and comes first.

    >>> read_command('{"key": "1", "action": "suspend", "id": "short"}').id
    'short'
    >>> read_command(b'{"action": "registr", "id": "short"}').reason
    "unknown action 'registr': did you mean 'register'?"
    >>> read_command(b"\\xff").reason
    'a command must be text in UTF-8, and this has the byte 0xff in it'
    """
    whole = stripped(raw)
    key = f"{0:020}-{blake2b(whole, digest_size=16).hexdigest()}"
    try:
        plain = _object(whole)
    except ControlError as error:
        return Unreadable(key, str(error))
    key = _fit(plain.get("key")) or key
    try:
        return Command.of(plain, key)
    except ControlError as error:
        action = plain.get("action")
        known = action if action in ACTIONS else UNKNOWN
        return Unreadable(key, str(error), known, _fit(plain.get("id")) or UNKNOWN)


def stripped(raw: bytes | str) -> bytes:
    """What was written, as bytes without the white space around it."""
    return (raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw).strip()


def _object(whole: bytes) -> dict[str, Any]:
    if len(whole) > MOST_BYTES:
        raise ControlError(f"a command has at most {MOST_BYTES:,} bytes, and this {len(whole):,}")
    try:
        text = whole.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"{whole[error.start]:#04x}"
        raise ControlError(
            f"a command must be text in UTF-8, and this has the byte {byte} in it"
        ) from None
    try:
        plain = json.loads(text)
    except RecursionError:
        raise ControlError(f"a command must be a JSON object, not {shown(text)}") from None
    except ValueError as error:  # of JSON's, or of a number with thousands of digits
        raise ControlError(
            f"a command must be one JSON object, and a file or row holds one: {shown(text)} "
            f"cannot be read ({error})"
        ) from None
    if not isinstance(plain, dict):
        raise ControlError(f"a command must be a JSON object, not {shown(text)}")
    return plain


def _fit(value: object) -> str | None:
    """A text that may be shown and logged, or None."""
    return value if isinstance(value, str) and unfit_text(value, "text") is None else None

"""What a command may ask for: the limits of a stream with a control, all in one place.

A window that passes them runs: its instances have timestamps, a row falls into a bounded number of
them, and a stream keeps a bounded number of windows. Texts are bounded, so that a log and a list
can show them.
"""

from __future__ import annotations

import unicodedata

from muntin.errors import shown
from muntin.model.durations import duration_text
from muntin.model.windows import Window

MOST_BYTES = 65_536
"""A command, as the file or row that it comes in."""

LONGEST_TEXT = 200
"""Characters of an id, of a key, and of a window as text."""

MOST_OVERLAP = 100_000
"""Instances that one row may fall into: each of them is a row of the results. A day by the second
has 86,400."""

MOST_WINDOWS = 1_000
"""Windows of a stream at one time, suspended ones included until their last instance is emitted."""


def unfit_text(text: str, what: str) -> str | None:
    """Why a text cannot be an id or a key, or None.

    >>> unfit_text("short", "id"), unfit_text("one\\ntwo", "id")
    (None, "the id 'one\\\\ntwo' holds a control character: leave it out")
    """
    if not text:
        return f"the {what} is empty: give it at least one character"
    if len(text) > LONGEST_TEXT:
        return f"the {what} {shown(text)} has {len(text)} characters: give at most {LONGEST_TEXT}"
    if any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in text):
        return f"the {what} {shown(text)} holds a control character: leave it out"
    return None


def unfit_window(window: Window) -> str | None:
    """Why no stream can have a window, or None.

    >>> unfit_window(Window("1 hour", "1 microsecond"))  # doctest: +NORMALIZE_WHITESPACE
    "a row would fall into 3,600,000,000 instances of the window '1 hour/1 microsecond', more than
    100,000: choose a slide of at least 36 milliseconds"
    """
    instances = -(-window.range // window.slide)
    if instances > MOST_OVERLAP:
        least = duration_text(-(-window.range // MOST_OVERLAP))
        return (
            f"a row would fall into {instances:,} instances of the window {_text(window)}, more "
            f"than {MOST_OVERLAP:,}: choose a slide of at least {least}"
        )
    return None


def _text(window: Window) -> str:
    return shown(Window(window.range, window.slide, window.offset).id)

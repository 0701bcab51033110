"""Names that users chose, as they are shown: on a terminal, in a picture, on a page.

An id, an alias or a column may hold anything. What would move a cursor, break a line, turn the
direction of writing or make a picture no XML is shown as Python writes it: \\x1b, \\n, \\u202e.
"""

from __future__ import annotations

MOST = 100
"""So many letters of a name are shown."""


def printable(text: str) -> str:
    """A text with an escape for each letter that does not print.

    >>> print(printable("a\\x1b[31m\\nb"))
    a\\x1b[31m\\nb
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shortened(name: str) -> str:
    """A name that prints, and the middle left out where it is long.

    >>> shortened("x" * 1000) == "x" * 60 + "…" + "x" * 39
    True
    """
    shown = printable(name)
    return shown if len(shown) <= MOST else f"{shown[: MOST - 40]}…{shown[-39:]}"

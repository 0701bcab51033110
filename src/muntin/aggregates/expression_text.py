"""SQL that users write as text: one complete expression, which stays where it is put.

A text is complete if it closes every quote, comment and bracket that it opens, closes none that it
did not open, and ends no statement. Between parentheses, with the end of a line before the closing
one, such a text cannot leave its place. Whether it means anything is for the engine to say.

Texts are split into words as Spark splits them:

    'it\\'s', "it's", r'C:\\'   strings; a backslash escapes, but not in a raw one
    `a name`                  names
    -- to the end of the line, and over it where a backslash stands there
    /* over lines, and /* nested */ */
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from muntin.errors import QueryError, shown

_WORD = re.compile(
    r"""
    (?P<blank>   \s+ )
  | (?P<line>    --(?:\\\n|[^\r\n])* )
  | (?P<comment> /\* )
  | (?P<opens>   [(\[] )
  | (?P<closes>  [)\]] )
  | (?P<ends>    ; )
  | (?P<text>    [rR](?:'[^']*'|"[^"]*") | \w+
               | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` )
  | (?P<quote>   ['"`] )
  | (?P<other>   . )
    """,
    re.VERBOSE | re.DOTALL,
)
_NESTED = re.compile(r"/\*|\*/")
_CLOSED_BY = {"(": ")", "[": "]"}
_OPENED_BY = {")": "(", "]": "["}


def check_expression(text: str, what: str) -> None:
    """Refuse a text that is not one complete expression.

    >>> check_expression("a = ')' -- as in (", "filter")
    >>> check_expression("b) OR (true", "filter")
    Traceback (most recent call last):
    muntin.errors.QueryError: filter 'b) OR (true' is not one complete SQL expression: ...
    """
    fault = incomplete(text)
    if fault:
        raise QueryError(f"{what} {shown(text)} is not one complete SQL expression: {fault}")


def incomplete(text: str) -> str | None:
    """Why a text is not one complete expression, or None if it is one.

    >>> incomplete("f(a[0], /* ) */ 'x')"), incomplete("a; b")
    (None, 'a ; ends it')
    """
    opened: list[str] = []
    empty = True
    for kind, word in _words(text):
        empty = empty and kind in ("blank", "line", "comment")
        match kind:
            case "line" if word.endswith("\\"):
                return "its comment goes on after the \\ at its end"
            case "comment" if word.startswith("/*+"):
                return "/*+ begins a hint"
            case "unended":
                return "its /* has no */"
            case "opens":
                opened.append(word)
            case "closes":
                if not opened or _CLOSED_BY[opened.pop()] != word:
                    return f"its {word} has no {_OPENED_BY[word]}"
            case "ends":
                return "a ; ends it"
            case "quote":
                return f"its {word} is not closed"
    if opened:
        return f"its {opened[-1]} has no {_CLOSED_BY[opened[-1]]}"
    return "it is empty" if empty else None


def without_comments(text: str) -> str:
    """The text with a blank for each comment, for parsers that read comments in another way.

    >>> without_comments("a/* it's */+ '--' -- the sum")
    "a + '--'  "
    """
    return "".join(" " if kind in ("line", "comment") else word for kind, word in _words(text))


def _words(text: str) -> Iterator[tuple[str, str]]:
    """Every word with its kind."""
    position = 0
    while position < len(text):
        found = _WORD.match(text, position)
        assert found is not None, "any letter is a word"
        assert found.lastgroup is not None, "every word has a kind"
        kind, end = found.lastgroup, found.end()
        if kind == "comment":
            end = _end_of_comment(text, end)
            kind = kind if end <= len(text) else "unended"
        yield kind, text[position:end]
        position = end


def _end_of_comment(text: str, position: int) -> int:
    """Where it ends: beyond the text, if it does not end."""
    depth = 1
    for mark in _NESTED.finditer(text, position):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text) + 1

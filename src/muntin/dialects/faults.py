"""Mistakes in query text: where they are, what is wrong there, and what to write instead."""

from __future__ import annotations

from itertools import accumulate

from sqlglot.errors import ParseError, TokenError

from muntin.errors import QueryError

SHOWN = 80
"""So many characters of a long line are shown around a mistake."""


class SqlError(QueryError):
    """A query text that cannot be read; `line` and `column` count from 1.

    >>> print(SqlError("SELECT 1,\\nFROM t", 8, "nothing follows ','", "remove the comma"))
    line 1, column 9: nothing follows ','
      SELECT 1,
              ^
    hint: remove the comma
    """

    def __init__(self, sql: str, position: int, problem: str, hint: str) -> None:
        before = sql[:position]
        self.line = before.count("\n") + 1
        self.column = position - (before.rfind("\n") + 1) + 1
        self.text = sql.splitlines()[self.line - 1] if sql.strip() else ""
        self.hint = hint
        text, place = _excerpt(self.text, self.column - 1)
        super().__init__(
            f"line {self.line}, column {self.column}: {problem}\n"
            f"  {text}\n  {' ' * place}^\nhint: {hint}"
        )


def _excerpt(line: str, place: int) -> tuple[str, int]:
    """What is shown of a line, and where the place is in it; a long one is cut on both sides.

    >>> _excerpt("SELECT " + "x" * 500, 400)
    ('…xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…', 41)
    """
    first, last = max(place - SHOWN // 2, 0), min(place + SHOWN // 2, len(line))
    if len(line) <= 2 * SHOWN:
        return line, place
    cut = ("…" if first else "") + line[first:last] + ("…" if last < len(line) else "")
    return cut, place - first + bool(first)


def from_parser(sql: str, error: ParseError) -> SqlError:
    """A parser's complaint, with the place that it names."""
    known = error.errors[0] if error.errors else {}
    line, last = known.get("line") or 1, known.get("col") or 1
    word = str(known.get("highlight") or "")
    starts = [0, *(i + 1 for i, letter in enumerate(sql) if letter == "\n")]
    position = starts[min(line, len(starts)) - 1] + max(int(last) - len(word), 0)
    problem = str(known.get("description") or error).splitlines()[0].strip()
    problem = problem.replace("Invalid expression / Unexpected token", "unexpected text")
    shown = f" at {word!r}" if word and word not in problem else ""
    hint = "the form is SELECT … FROM input TIMESTAMP BY time GROUP BY keys, Windows(…)"
    return SqlError(sql, min(position, len(sql)), f"{problem}{shown}", hint)


def too_deep(sql: str) -> SqlError:
    """Parentheses or operators inside one another beyond what the parser can follow."""
    depth = list(accumulate({"(": 1, ")": -1}.get(letter, 0) for letter in sql))
    deepest = depth.index(max(depth)) if depth else 0
    return SqlError(
        sql,
        deepest,
        "the query is nested too deeply",
        "compute inner parts in columns of the input",
    )


def from_tokenizer(sql: str, error: TokenError) -> SqlError:
    """Text that does not even split into words: a quote or a bracket that never ends."""
    last = max(sql.rfind(mark) for mark in ("'", '"', "["))
    word = "a quoted text or name" if last >= 0 else "a word"
    return SqlError(sql, max(last, 0), f"{word} does not end", "close it with the same mark")

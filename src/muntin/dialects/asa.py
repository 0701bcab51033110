"""The query language of Azure Stream Analytics (ASA) as a sqlglot dialect.

ASA is T-SQL with windows in GROUP BY (Figure 1(a) of the factor-windows paper):

    FROM input TIMESTAMP BY column
    GROUP BY keys, Windows(Window('id', TumblingWindow(minute, 10)), …)

    TumblingWindow(unit, size)          or (Duration(unit, size) [, Offset(unit, n)])
    HoppingWindow(unit, size, hop)      or (Duration(unit, size), Hop(unit, n) [, Offset(unit, n)])

Windows become `PeriodicWindow` nodes while parsing, so that a mistake inside one is reported at its
own word. T-SQL's parser takes the rest: SELECT lists, expressions, [quoted names].
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ClassVar, NoReturn, TypeVar

from sqlglot import exp
from sqlglot.dialects.tsql import TSQL
from sqlglot.parsers.tsql import TSQLParser
from sqlglot.tokenizer_core import Token, TokenType

from muntin.dialects.faults import SqlError
from muntin.errors import WindowError, did_you_mean
from muntin.model.durations import ABBREVIATIONS, UNITS, duration_text
from muntin.model.windows import Window

T = TypeVar("T")

SHORT_UNITS = {
    **{word: unit for unit, words in ABBREVIATIONS.items() for word in words if word != "m"},
    **{"dd": "day", "hh": "hour", "mi": "minute", "n": "minute", "ss": "second"},
    **{"mcs": "microsecond"},
}
"""Short names of units, ASA's own and those of other durations; "m" is T-SQL's month."""

REFUSED = {
    "SLIDINGWINDOW": (
        "SlidingWindow gives a result whenever an event enters or leaves, so its instances depend "
        "on the events and cannot share periodic pieces",
        "use HoppingWindow(unit, size, hop) with the hop at which you need results",
    ),
    "SESSIONWINDOW": (
        "SessionWindow ends when no event comes, so it is not periodic",
        "compute sessions by themselves, with mt.session(...)",
    ),
    "SNAPSHOTWINDOW": (
        "SnapshotWindow groups events of one instant, so it is not periodic",
        "group by the time column itself",
    ),
}
"""ASA windows that are not periodic: the reason, and what to write instead."""

STAMPED = ["TIMESTAMP", "BY"]


class PeriodicWindow(exp.Expression):
    """A tumbling or hopping window; `window` holds its numbers."""

    arg_types: ClassVar[dict[str, bool]] = {"window": True}


class WindowList(exp.Expression):
    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class TimestampBy(exp.Expression):
    """A table and the column that says when its events happened."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}


class AsaParser(TSQLParser):
    """T-SQL's parser with ASA's windows, and with errors where T-SQL is lenient."""

    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        **TSQLParser.FUNCTION_PARSERS,
        "WINDOWS": lambda self: self._asa_window_list(),
        "WINDOW": lambda self: self._asa_named_window(),
        "TUMBLINGWINDOW": lambda self: self._asa_periodic("TumblingWindow"),
        "HOPPINGWINDOW": lambda self: self._asa_periodic("HoppingWindow"),
        **dict.fromkeys(REFUSED, lambda self: self._asa_refuse_window()),
    }

    def _fault(self, problem: str, hint: str, token: Token | None = None) -> NoReturn:
        at = token or self._curr
        raise SqlError(self.sql, at.start if at else len(self.sql.rstrip()), problem, hint)

    def _parse_csv(
        self, parse_method: Callable[[], T | None], sep: TokenType = TokenType.COMMA
    ) -> list[T]:
        def parse_item() -> T | None:
            comma = self._prev if self._prev and self._prev.token_type == sep else None
            item = parse_method()
            if item is None and comma is not None and self._prev is comma:
                after = f"before {self._curr.text!r}" if self._curr else "at the end"
                self._fault(f"nothing follows the comma {after}", "remove the comma", comma)
            return item

        return super()._parse_csv(parse_item, sep)

    # FROM input TIMESTAMP BY column ---------------------------------------------------------

    def _parse_table_alias(
        self, alias_tokens: Collection[TokenType] | None = None
    ) -> exp.TableAlias | None:
        return None if self._asa_words() == STAMPED else super()._parse_table_alias(alias_tokens)

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        table = super()._parse_table(*args, **kwargs)
        if table is None or self._asa_words() != STAMPED:
            return table
        self._advance(2)
        at = self._curr
        column = self._parse_column()
        if not isinstance(column, exp.Column):
            self._fault(
                "TIMESTAMP BY needs the name of a column",
                "compute the time in a column of the input first",
                at,
            )
        if self._match_text_seq("OVER"):
            self._fault(
                "TIMESTAMP BY … OVER has no meaning here",
                "leave OVER out: rows are taken by their own time",
                self._prev,
            )
        return TimestampBy(this=table, expression=column)

    # GROUP BY keys, Windows(…) ---------------------------------------------------------------

    def _asa_window_list(self) -> exp.Expr:
        opened = self._tokens[self._index - 2]
        windows = self._parse_csv(self._asa_window_item)
        if not windows:
            self._fault("Windows(...) is empty", "put Window('id', TumblingWindow(…)) in it")
        self._asa_expect_close("Windows(…)", opened)
        return WindowList(expressions=windows)

    def _asa_window_item(self) -> exp.Expr | None:
        at = self._curr
        item = self._parse_function()
        closes = at is None or at.token_type == TokenType.R_PAREN
        if not isinstance(item, PeriodicWindow) and not closes:
            self._fault(
                "Windows(...) takes only windows",
                "write Window('id', TumblingWindow(minute, 10))",
                at,
            )
        return item

    def _asa_named_window(self) -> exp.Expr:
        """Window('id', definition); Window() alone is part of System.Window()."""
        opened = self._tokens[self._index - 2]
        if self._curr and self._curr.token_type == TokenType.R_PAREN:
            return exp.Anonymous(this="Window")
        if not self._match(TokenType.STRING):
            self._fault("a window's id is a quoted text", "write Window('10 min', …)")
        name, at = self._prev.text, self._prev
        if not self._match(TokenType.COMMA):
            self._fault(f"Window({name!r} has no definition", "write Window('id', TumblingWindow…)")
        spec = self._curr
        item = self._parse_function()
        if not isinstance(item, PeriodicWindow):
            self._fault(
                f"Window({name!r}, …) needs a window",
                "write TumblingWindow(minute, 10) or HoppingWindow(minute, 60, 5)",
                spec,
            )
        self._asa_expect_close(f"Window({name!r}, …)", opened)
        kept: Window = item.args["window"]
        named = self._asa_window(at, kept.range, kept.slide, kept.offset, name)
        return PeriodicWindow(window=named).update_positions(opened)

    def _asa_expect_close(self, what: str, opened: Token) -> None:
        if self._curr and self._curr.token_type == TokenType.R_PAREN:
            return
        where = f"before {self._curr.text!r}" if self._curr else "at the end"
        line = f", which opens in line {opened.line}," if opened.line != self._prev.line else ""
        self._fault(f"{what}{line} is not closed {where}", "a ')' is missing here")

    def _asa_refuse_window(self) -> NoReturn:
        name = self._tokens[self._index - 2]
        reason, hint = REFUSED[name.text.upper()]
        self._fault(reason, hint, name)

    # TumblingWindow(minute, 10), HoppingWindow(Duration(hour, 1), Hop(minute, 5)) ------------

    def _asa_periodic(self, name: str) -> exp.Expr:
        opened = self._tokens[self._index - 2]
        hopping = name == "HoppingWindow"
        if self._asa_words()[0] == "DURATION":
            size = self._asa_part("Duration")
            hop = self._asa_part("Hop") if hopping else size
        else:
            unit = self._asa_unit(name)
            size = unit * self._asa_number(name)
            hop = unit * self._asa_number(name) if hopping else size
        offset = self._asa_part("Offset") if self._asa_words() == [",", "OFFSET"] else 0
        self._asa_expect_close(f"{name}(…)", opened)
        window = self._asa_window(opened, size, hop, offset, None)
        return PeriodicWindow(window=window).update_positions(opened)

    def _asa_window(self, at: Token, size: int, hop: int, offset: int, id: str | None) -> Window:
        try:
            return Window(duration_text(size), duration_text(hop), duration_text(offset), id)
        except WindowError as error:
            self._fault(str(error), "correct the numbers of this window", at)

    def _asa_words(self) -> list[str]:
        """The two words that come next."""
        return [token.text.upper() if token else "" for token in (self._curr, self._next)]

    def _asa_part(self, part: str) -> int:
        """Duration(unit, n), Hop(unit, n) or Offset(unit, n), after its comma."""
        if part != "Duration" and not self._match(TokenType.COMMA):
            self._fault(f"{part}(unit, n) is missing", f"write {part}(minute, 5) here")
        if self._asa_words()[0] != part.upper():
            self._fault(f"expected {part}(unit, n)", f"write {part}(minute, 5) here")
        self._advance()
        opened = self._prev
        if not self._match(TokenType.L_PAREN):
            self._fault(f"{part} needs a unit and a number", f"write {part}(minute, 5)")
        length = self._asa_unit(part) * self._asa_number(part)
        self._asa_expect_close(f"{part}(…)", opened)
        self._advance()
        return length

    def _asa_unit(self, within: str) -> int:
        token = self._curr
        word = token.text.lower() if token else ""
        if not token or token.token_type in (TokenType.NUMBER, TokenType.STRING):
            self._fault(
                f"{within} begins with a unit, not {word!r}", "write the unit first: (minute, 10)"
            )
        name = SHORT_UNITS.get(word, word if word in UNITS else word.removesuffix("s"))
        if name not in UNITS:
            known = [unit for unit in UNITS if unit != "week"]
            self._fault(f"unknown unit {token.text!r}", did_you_mean(name, known))
        self._advance()
        return UNITS[name]

    def _asa_number(self, within: str) -> int:
        if not self._match(TokenType.COMMA):
            self._fault(f"{within} needs another number", f"write {_FORMS[within]}")
        sign = -1 if self._match(TokenType.DASH) else 1
        token = self._curr
        if not self._match(TokenType.NUMBER) or not token.text.isdigit():
            self._fault(f"{within} needs a whole number", f"write {_FORMS[within]}", token)
        if len(token.text) > 18:
            self._fault(f"{within} is too long", "choose at most 1000 years", token)
        return sign * int(token.text)


_FORMS = {
    "TumblingWindow": "TumblingWindow(minute, 10)",
    "HoppingWindow": "HoppingWindow(minute, 60, 5): unit, size, hop",
    "Duration": "Duration(minute, 10)",
    "Hop": "Hop(minute, 5)",
    "Offset": "Offset(minute, 1)",
}


class Asa(TSQL):
    """sqlglot's name for the dialect is `asa`."""

    Parser = AsaParser

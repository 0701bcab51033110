"""Options of a job file, declared once: their type, what they mean and what they may be.

A section of the file is a frozen dataclass whose fields are options. The reader checks a file
against them, and the documentation is written from them, so neither can fall behind the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, get_type_hints

KINDS: Mapping[object, str] = {
    str: "text",
    bool: "true or false",
    float: "a number",
    tuple[str, ...]: "a list of texts",
    Mapping[str, str]: "a table of texts, numbers or booleans",
}
"""The types that an option may have, as a file's author knows them."""


@dataclass(frozen=True, slots=True)
class Option:
    """One key of a section: what may stand there."""

    name: str
    kind: object
    default: object
    meaning: str
    choices: tuple[str, ...]
    most: float
    whole: bool

    @property
    def required(self) -> bool:
        """Whether it may not be left out."""
        return self.default is MISSING

    @property
    def allowed(self) -> str:
        """What may stand there, in words."""
        if self.kind is float:
            kind = "a whole number" if self.whole else "a number"
            return f"{kind} more than 0, at most {self.most:,.0f}"
        return f"one of {', '.join(self.choices)}" if self.choices else KINDS[self.kind]


def option(
    meaning: str,
    default: Any = MISSING,
    choices: tuple[str, ...] = (),
    most: float = 0,
    whole: bool = False,
) -> Any:
    """Declare a field of a section; a number has a largest value, and may have to be whole."""
    metadata = {"meaning": meaning, "choices": choices, "most": most, "whole": whole}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


@cache
def options_of(section: type) -> Mapping[str, Option]:
    """The options of a section by name.

    >>> from muntin.jobs.job import Trigger
    >>> options_of(Trigger)["interval"].allowed
    'text'
    """
    hints = get_type_hints(section)
    found = {}
    for each in fields(section):
        kind = hints[each.name]
        if kind not in KINDS:  # one of them, or None
            kind = next(k for k in kind.__args__ if k is not type(None))
        default = {} if each.default_factory is not MISSING else each.default
        found[each.name] = Option(each.name, kind, default, **each.metadata)
    return found

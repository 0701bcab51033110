"""Windows as text: in job files, on the command line, and in commands to a running stream.

    1 hour/5 minutes@2 minutes          mt.hopping("1 hour", "5 minutes", "2 minutes")
    session 30 minutes                  mt.session("30 minutes")
    session 30 minutes up to 4 hours    mt.session("30 minutes", maximum="4 hours")
    100/10 records                      mt.count_window(100, 10)
    10/5 of mileage                     mt.hopping_by("mileage", 10, 5)
    snapshot                            mt.snapshot()

In [as_of], trailing windows:

    1 hour                              mt.trailing("1 hour")
    10 rows delayed by 5 minutes        mt.trailing(rows=10, delay="5 minutes")
    lifetime                            mt.lifetime()

A text is the window's default id; another id stands before it: visit = session 30 minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from muntin.model.data_windows import DataWindow, count_window, hopping_by, session, snapshot
from muntin.model.durations import duration_text
from muntin.model.frames import Trailing, lifetime, trailing
from muntin.model.windows import Window, parse_window

Made = Callable[..., DataWindow]


@dataclass(frozen=True, slots=True)
class Named:
    """A window that is known by its id alone: what others are told of it."""

    id: str
    text: str


AnyWindow = Window | DataWindow | Trailing | Named

_FORMS: tuple[tuple[str, Made], ...] = (
    (
        r"session (?P<gap>.+?)(?: up to (?P<maximum>.+))?",
        lambda gap, maximum, id: session(gap, maximum, id),
    ),
    (
        r"(?P<range>\d+)(?:/(?P<slide>\d+))? records?",
        lambda range, slide, id: count_window(int(range), slide and int(slide), id),
    ),
    (
        r"(?P<range>[\d.]+)(?:/(?P<slide>[\d.]+))? of (?P<measure>.+)",
        lambda range, slide, measure, id: hopping_by(measure, _number(range), _number(slide), id),
    ),
    (r"snapshot", lambda id: snapshot(id)),
)


def parse_any_window(text: str) -> Window | DataWindow:
    """The window that a text says.

    >>> parse_any_window("visit = session 30 minutes").id, parse_any_window("100/10 records").slide
    ('visit', 10)
    >>> parse_any_window("2.5 of km / 4").measure, parse_any_window("1 hour/5 minutes").id
    ('km / 4', '1 hour/5 minutes')
    """
    name, _, body = text.rpartition("=")
    for form, made in _FORMS:
        found = re.fullmatch(form, body.strip())
        if found:
            return made(**found.groupdict(), id=name.strip() or None)
    return parse_window(text)


def parse_trailing(text: str) -> Trailing:
    """The trailing window that a text says.

    >>> parse_trailing("10 rows").rows, parse_trailing("day = 24 hours delayed by 1 hour").id
    (10, 'day')
    """
    name, _, body = text.rpartition("=")
    own, _, delay = (part.strip() for part in body.partition("delayed by"))
    id, late = name.strip() or None, delay or None
    if own == "lifetime":
        return lifetime(late, id)
    if found := re.fullmatch(r"(\d+) rows?", own):
        return trailing(None, late, id, rows=int(found[1]))
    return trailing(own, late, id)


def text_of(window: AnyWindow) -> str:
    """A window as text, whatever its id; of those that no text says, a description.

    >>> text_of(session("30 minutes", id="visit")), text_of(trailing("1h", delay="5min", id="h"))
    ('session 30 minutes', '1 hour delayed by 5 minutes')
    """
    match window:
        case Window():
            return Window(window.range, window.slide, window.offset).id
        case Named():
            return window.text
        case Trailing(length=None, rows=None):
            own = "lifetime"
        case Trailing(length=None):
            own = f"{window.rows} row{'' if window.rows == 1 else 's'}"
        case Trailing(length=int(length)):
            own = duration_text(length)
        case _:
            return replace(window, id="").id
    return f"{own} delayed by {duration_text(window.delay)}" if window.delay else own


def _number(text: str | None) -> Any:
    """A whole number stays one; what is none, the window refuses in its own words."""
    for kind in (int, float):
        try:
            return text and kind(text)
        except ValueError:
            continue
    return text

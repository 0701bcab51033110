"""Groups as text and as a picture: windows by range and slide, groups as coloured lines.

The picture is the paper's Figure 7: one axis for the range, one for the slide, a line through the
levels of each group; seeds are filled, piggybacked windows hang on their level by a dashed line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import inf

from muntin.errors import printable, shortened
from muntin.model.durations import duration_text
from muntin.model.windows import Window
from muntin.nesting.groups import Group, Level

SHOWN = 20
"""Groups, and levels of a group, that the text shows."""
_COLOURS = ("#3178c6", "#c98a00", "#3a8f4a", "#b03060", "#6f4fb3", "#008b8b", "#8a5a2b", "#555f6b")
_WIDTH, _HEIGHT, _MARGIN = 640, 360, 56
_APART = 24
"""Pixels between two numbers on an axis."""
_FONT = "font-family='ui-sans-serif, system-ui, sans-serif' font-size='12'"


def text(groups: Sequence[Group]) -> str:
    """One line a group: its seed's slide and its levels."""
    windows = sum(1 for group in groups for _ in group.windows())
    lines = [f"{_count(windows, 'window')} in {_count(len(groups), 'group')}"]
    for number, group in enumerate(groups[:SHOWN], 1):
        levels = [printable(str(level)) for level in group.levels[:SHOWN]]
        if len(group.levels) > SHOWN:
            levels.append(f"… {len(group.levels) - SHOWN} more")
        lines.append(f"{number}  slide {group.seed.slide}  {' ⊂ '.join(levels)}")
    if len(groups) > SHOWN:
        lines.append(f"… {len(groups) - SHOWN} more groups")
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def svg(groups: Sequence[Group]) -> str:
    """The picture; windows are labelled by their ids."""
    windows = [window for group in groups for window in group.windows()]
    place = _Axes(windows)
    body = [place.frame()]
    for i, group in enumerate(groups):
        body.append(_draw_group(group, place, _COLOURS[i % len(_COLOURS)]))
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {_HEIGHT}' "
        f"width='{_WIDTH}' height='{_HEIGHT}' role='img' aria-label='groups of windows'>"
        f"<rect width='100%' height='100%' rx='10' fill='#ffffff'/>{''.join(body)}</svg>"
    )


class _Axes:
    """Where a window stands: ranges to the right, slides upwards."""

    def __init__(self, windows: Sequence[Window]) -> None:
        self.windows = windows
        self.right = max((w.range for w in windows), default=1)
        self.top = max((w.slide for w in windows), default=1)

    def __call__(self, window: Window) -> tuple[float, float]:
        x = _MARGIN + window.range / self.right * (_WIDTH - 2 * _MARGIN)
        y = _HEIGHT - _MARGIN - window.slide / self.top * (_HEIGHT - 2 * _MARGIN)
        return x, y

    def frame(self) -> str:
        left, bottom = _MARGIN, _HEIGHT - _MARGIN
        marks = [
            f"<path d='M{left} {_MARGIN - 16}V{bottom}H{_WIDTH - 24}' fill='none' "
            "stroke='#8896a5'/>",
            f"<text x='{_WIDTH - 24}' y='{bottom + 36}' text-anchor='end' {_FONT}>range</text>",
            f"<text x='{left - 8}' y='{_MARGIN - 24}' {_FONT}>slide</text>",
        ]
        ranges = ((self(Window(n, n))[0], n) for n in sorted({w.range for w in self.windows}))
        marks += [
            f"<text x='{x:.0f}' y='{bottom + 18}' text-anchor='middle' fill='#555f6b' "
            f"{_FONT}>{_short(length)}</text>"
            for x, length in _spaced(ranges, _APART)
        ]
        slides = ((self(Window(n, n))[1], n) for n in sorted({w.slide for w in self.windows}))
        marks += [
            f"<text x='{left - 8}' y='{y + 4:.0f}' text-anchor='end' fill='#555f6b' "
            f"{_FONT}>{_short(slide)}</text>"
            f"<path d='M{left} {y:.0f}H{_WIDTH - 24}' stroke='#eef1f4'/>"
            for y, slide in _spaced(slides, _APART / 2)
        ]
        return "".join(marks)


def _spaced(marks: Iterable[tuple[float, int]], apart: float) -> Iterator[tuple[float, int]]:
    """The marks of an axis, without those too near to the one before."""
    last = inf
    for at, length in marks:
        if abs(at - last) >= apart:
            last = at
            yield at, length


def _short(length: int) -> str:
    """Plain numbers stay numbers; microseconds on data become durations."""
    return str(length) if length < 1_000_000 else duration_text(length)


def _draw_group(group: Group, place: _Axes, colour: str) -> str:
    points = [place(level.window) for level in group.levels]
    path = "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points)
    line = f"<path d='{path}' fill='none' stroke='{colour}' stroke-width='2'/>"
    dots = (_draw_level(level, place, colour, i == 0) for i, level in enumerate(group.levels))
    return line + "".join(dots)


def _draw_level(level: Level, place: _Axes, colour: str, seed: bool) -> str:
    x, y = place(level.window)
    drawn: list[str] = []
    for rider in level.piggybacked.values():
        _, above = place(rider)
        drawn.append(
            f"<path d='M{x:.0f} {y:.0f}V{above:.0f}' stroke='{colour}' stroke-dasharray='3 3'/>"
            + _dot(x, above, "#ffffff", colour, rider.id, radius=4)
        )
    return "".join(drawn) + _dot(x, y, colour if seed else "#ffffff", colour, level.window.id, 6)


def _dot(x: float, y: float, fill: str, colour: str, label: str, radius: int) -> str:
    return (
        f"<circle cx='{x:.0f}' cy='{y:.0f}' r='{radius}' fill='{fill}' stroke='{colour}' "
        f"stroke-width='2'/><text x='{x + 8:.0f}' y='{y - 8:.0f}' fill='#1f2933' {_FONT}>"
        f"{escape(shortened(label))}</text>"
    )

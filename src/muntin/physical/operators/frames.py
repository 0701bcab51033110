"""frames: for each row the aggregates of its own trailing windows, by one ladder of blocks.

The engine brings events and rows together by key and in the order of time; NumPy finds the run of
events that each frame holds, and merges it (`kernels.framed`). What it costs hardly depends on how
long the windows are, or how many. An aggregate is computed in one of three ways:

    merged        from partials that arrays can merge
    from values   distinct counts, sets and percentiles, from the values themselves
    left          by the engine itself, where it is neither; a stream refuses it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from operator import mul

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import Input, inputs_of
from muntin.aggregates.holistic import Percentile
from muntin.aggregates.signatures import has_no_order
from muntin.cost.statistics import SECOND, Statistics
from muntin.kernels.mergers import not_merged
from muntin.model.as_of import AsOf
from muntin.model.choices import Closed
from muntin.model.durations import duration_text
from muntin.model.frames import Trailing
from muntin.model.history import instant_text
from muntin.physical.operators.base import DataOperator
from muntin.physical.question import Question
from muntin.plan import SharingPlan

TypeOf = Callable[[Input], str | None]

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_COMPARED = (
    *(*_NUMBERS, "boolean", "string", "char", "varchar", "binary"),
    *("date", "timestamp", "timestamp_ntz"),
)
"""Types that arrays tell apart and put in order as Spark does."""
_OF_STRUCTS = ("moments", "four_moments", "comoments", "custom")


class Frames(DataOperator):
    """The operator of mt.as_of."""

    name = "frames"
    card = "each row's own trailing windows, by one ladder of blocks over its sorted events"
    for_data_windows = False
    aggregates = False

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """It has no windows that rows share."""
        return "it runs mt.as_of, whose windows belong to single rows"


FRAMES = Frames()


@dataclass(frozen=True, slots=True)
class Division:
    """The aggregates of a question by how they are computed."""

    merged: tuple[Aggregate, ...]
    from_values: tuple[Aggregate, ...]
    left: tuple[Aggregate, ...]

    @property
    def own(self) -> tuple[Aggregate, ...]:
        """Those of the kernel, in the order in which their inputs are numbered."""
        return (*self.merged, *self.from_values)


def divide(aggregates: Sequence[Aggregate], type_of: TypeOf) -> Division:
    """How each aggregate is computed over inputs of these types."""
    merged: list[Aggregate] = []
    from_values: list[Aggregate] = []
    left: list[Aggregate] = []
    for aggregate in aggregates:
        kinds = [type_of(each) for each in inputs_of(aggregate)]
        if aggregate.function.in_frames:
            numeric = isinstance(aggregate.function, Percentile)
            known = _NUMBERS if numeric and not aggregate.function.approximate else _COMPARED
            (from_values if all(_is_of(k, known) for k in kinds) else left).append(aggregate)
        else:
            (merged if _can_merge(aggregate, kinds) else left).append(aggregate)
    return Division(tuple(merged), tuple(from_values), tuple(left))


def _can_merge(aggregate: Aggregate, kinds: Sequence[str | None]) -> bool:
    function = aggregate.function
    if function.holistic or function.unshared(kinds):
        return False
    partials = function.partials(kinds)
    if not_merged(p.merger for p in partials) or any(p.row is None for p in partials):
        return False
    compared = any(p.merger not in _OF_STRUCTS for p in partials)
    return not compared or all(_is_of(kind, _COMPARED) for kind in kinds) or not kinds


def _is_of(kind: str | None, known: tuple[str, ...]) -> bool:
    """A type that is not known is taken to be a plain one."""
    return kind is None or (kind.partition("(")[0] in known and not has_no_order(kind))


CONTROLLED_ROWS = (
    "windows come and go by a control: one row for each row and window of the moment, and the "
    "windows below are those of the start"
)
"""What explain() says of a stream with a control."""


def describe(asked: AsOf, division: Division | None) -> list[str]:
    """Lines of explain(): the frames, and how the kernel computes each aggregate over them."""
    lines = [f"  {frame.id}: {describe_frame(frame, asked.closed)}" for frame in asked.frames]
    if division is None:
        return lines
    ways = (("merged", division.merged), ("from values", division.from_values))
    for words, some in ways:
        if some:
            lines.append(f"{words}: {', '.join(a.name for a in some)}")
    return lines


def describe_stream(asked: AsOf, arrival: bool) -> list[str]:
    """Lines of explain() on a stream: when rows come out, and what the state holds."""
    if arrival:
        waits = "rows come out as they arrive, with what has arrived by then"
    else:
        waits = "rows wait until the watermark has passed them, then come out once"
    both = ["rows and events meet in one state; the watermark is that of both together"]
    return [
        f"as of {asked.time}: {FRAMES.name}, on {'two streams' if asked.apart else 'a stream'} of "
        "Spark",
        "",
        *(both if asked.apart else []),
        f"{waits}; NumPy on each bucket of keys",
        f"the state keeps {_kept(asked)}",
    ]


def describe_history(asked: AsOf, until: int) -> str:
    """A line of explain() on a stream that starts from history: which events it reads."""
    end = instant_text(until)
    if asked.reach is None:
        return f"starts from history: all events of the table until {end}"
    since = instant_text(until - asked.reach)
    return f"starts from history: the events of the table from {since} until {end}"


def _kept(asked: AsOf) -> str:
    """What stays in the state once rows have come out."""
    parts = []
    reaches = [f.reach for f in asked.frames if f.reach is not None]
    if reaches:
        parts.append(f"the events of the last {duration_text(max(reaches))}")
    most = max((f.rows for f in asked.frames if f.rows is not None), default=None)
    if most is not None:
        parts.append(f"the last {most} event{'' if most == 1 else 's'} of each key")
    if any(frame.is_endless for frame in asked.frames):
        parts.append("one partial of each key")
    return ", ".join(parts)


def describe_frame(frame: Trailing, closed: Closed) -> str:
    """Which events a frame holds.

    >>> from muntin.model.frames import trailing
    >>> describe_frame(trailing("1 hour"), "right")
    'events in (t - 1 hour, t]'
    """
    left, right = {
        "left": ("[", ")"), "right": ("(", "]"), "both": ("[", "]"), "none": ("(", ")")
    }[closed]  # fmt: skip
    until = f"t - {duration_text(frame.delay)}" if frame.delay else "t"
    if frame.length is not None:
        since = f"{until} - {duration_text(frame.length)}"
        step = duration_text(frame.grain) if frame.grain else ""
        moved = f", {since} rounded down to a multiple of {step}" if step else ""
        return f"events in {left}{since}, {until}{right}{moved}"
    if frame.rows is not None:
        return f"the last {frame.rows} events in (-∞, {until}{right}"
    return f"all events in (-∞, {until}{right}"


FEWEST_REACHES, MOST_REACHES = 2, 8
"""A chunk of time is so many times as long as the longest window reaches, at least and at most."""
KERNEL_SECONDS = (0.29, 1.2e-7)
"""For the kernel: of any call, and of one feature of one row."""
OWN_SECONDS = (0.39, 0.0081, 2.1e-7, 1.3e-8)
"""For Spark's own RANGE frames: of any call, of one column, of one feature of one row, and of one
event that a frame visits for it. Both are as `muntin bench as-of-choice` fitted them, in a session
that has run queries before."""


def chunk_length(asked: AsOf, statistics: Statistics, parts: int) -> int | None:
    """How long the chunks of time are that keys are cut into, or None where keys stay whole.

    Every chunk repeats the events that its first rows reach, so long ones are cheap: keys that are
    fewer than the parts of a shuffle are cut shorter, as far as is known, for all parts to have
    work. Where a window has no bound in time, there is no length that its events could be within.

    >>> from muntin.model.as_of import as_of_query
    >>> from muntin.aggregates import count
    >>> asked = as_of_query("ts", ["1 day"], [count()], "card")
    >>> day = 86_400_000_000
    >>> month = Statistics(rows=30 * 86_400.0, keys=1, rate=1.0)
    >>> [chunk_length(asked, month, parts) // day for parts in (1, 4, 200)]
    [8, 8, 2]
    """
    reach = asked.reach
    if reach is None:
        return None
    keys = 1.0 if not asked.keys else statistics.keys
    unknown = {"rate"} | ({"keys"} if asked.keys else set())
    if keys >= parts or unknown & set(statistics.unknown):
        return MOST_REACHES * reach
    share = statistics.rows / statistics.rate * SECOND * max(keys, 1.0) / parts
    return min(max(ceil(share / reach), FEWEST_REACHES), MOST_REACHES) * reach


def predict(
    asked: AsOf,
    statistics: Statistics,
    kernel_seconds: Sequence[float] = KERNEL_SECONDS,
    own_seconds: Sequence[float] = OWN_SECONDS,
) -> tuple[float, float]:
    """Seconds by the kernel, and by Spark's own RANGE frames, which visit every event of a frame.

    >>> import muntin as mt
    >>> from muntin.model.as_of import as_of_query
    >>> asked = as_of_query("ts", ["1 hour"], [mt.count()])
    >>> kernel, own = predict(asked, Statistics(rows=1e6, keys=50, rate=1.0))
    >>> kernel < own
    True
    """
    work = zip(count_work(asked, statistics), (kernel_seconds, own_seconds), strict=True)
    kernel, own = (sum(map(mul, amounts, seconds)) for amounts, seconds in work)
    return kernel, own


def count_work(asked: AsOf, statistics: Statistics) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What each of KERNEL_SECONDS and OWN_SECONDS is taken for."""
    columns = len(asked.aggregates) * len(asked.frames)
    features = columns * statistics.rows
    visited = 0.0
    for frame in asked.frames:
        held = statistics.rows
        if frame.length is not None and "rate" not in statistics.unknown:
            held = min(held, statistics.rate * frame.length / SECOND)
        if "keys" not in statistics.unknown:
            held /= max(statistics.keys, 1.0)
        visited += statistics.rows * held * len(asked.aggregates)
    return (1.0, features), (1.0, float(columns), features, visited)

"""When a key is cut into chunks of time although a window has no bound in time.

Windows with a bound need the events of the end of the chunk before, its *halo*. `rows=n` needs the
last n events before the halo as well, however old; `mt.lifetime()` one partial of all events before
the halo. Both are found by reading the events once more, and cost 2.5 to 3 times the processor time
of keys that stay whole (a million rows of one key, with either or both). So keys are cut only where
that pays: where several tasks run at once for each key, and keys are known to have many rows.
"""

from __future__ import annotations

from math import ceil

from muntin.cost.statistics import SECOND, Statistics
from muntin.kernels.frame_program import FrameProgram
from muntin.model.as_of import AsOf

MOST_CARRIED = 1_000
"""Of more last events, keys stay whole: every chunk would repeat them."""
FEWEST_ROWS = 2_000_000.0
"""Keys with fewer rows stay whole: one task has them before the events are read twice."""
TASKS_A_KEY = 4
"""Keys stay whole unless so many tasks run at once for each."""
CHUNKS_A_TASK = 2
"""Chunks for each task that runs at once, so that none waits long for the last."""


def halo(asked: AsOf) -> int:
    """How far before a chunk its rows look at events one by one, whatever else they carry.

    >>> from muntin.aggregates import count
    >>> from muntin.model.as_of import as_of_query
    >>> from muntin.model.frames import lifetime
    >>> halo(as_of_query("ts", ["5us", lifetime(delay="7us")], [count()]))
    7
    """
    return max(frame.delay if frame.reach is None else frame.reach for frame in asked.frames)


def last_rows(asked: AsOf) -> int:
    """How many of the last events before its halo a chunk needs, whenever they were."""
    return max((frame.rows for frame in asked.frames if frame.rows is not None), default=0)


def is_endless(asked: AsOf) -> bool:
    """Whether a window holds all events before a row."""
    return any(frame.is_endless for frame in asked.frames)


def carry_refusal(asked: AsOf, program: FrameProgram) -> str | None:
    """Why a chunk cannot be given what came before it, or None."""
    if last_rows(asked) > MOST_CARRIED:
        return f"more than {MOST_CARRIED:,} rows would go to every chunk"
    if not is_endless(asked):
        return None
    if program.values:
        return "what is computed from values needs all events of 'lifetime'"
    if any(p.code is not None for p in program.partials):
        return "functions in Python take all events of 'lifetime' in order"
    if any(p.beside for p in program.partials):
        return "of equal ones, the oldest of 'lifetime' counts"
    return None


def carried_length(asked: AsOf, statistics: Statistics, tasks: int) -> int | None:
    """How long chunks are where they carry what came before, or None where that does not pay.

    So many tasks run at once.

    >>> from muntin.aggregates import count
    >>> from muntin.model.as_of import as_of_query
    >>> from muntin.model.frames import lifetime
    >>> asked = as_of_query("ts", [lifetime()], [count()], "card")
    >>> month = Statistics(rows=2_592_000.0, keys=1, rate=1.0)
    >>> [(carried_length(asked, month, tasks) or 0) // 3_600_000_000 for tasks in (3, 12, 360)]
    [0, 30, 1]
    >>> carried_length(asked, Statistics(rows=1e9, keys=1, rate=1.0, unknown=("keys",)), 200)
    """
    keys = 1.0 if not asked.keys else max(statistics.keys, 1.0)
    unknown = {"rate"} | ({"keys"} if asked.keys else set())
    if unknown & set(statistics.unknown) or keys * TASKS_A_KEY > tasks:
        return None
    if statistics.rows < FEWEST_ROWS * keys:
        return None
    share = statistics.rows / statistics.rate * SECOND * keys / (CHUNKS_A_TASK * tasks)
    return max(ceil(share), 2 * halo(asked), 1)

"""Questions about windows without a bound in time, over keys that chunks of time cut.

Times stand at the borders of chunks and of what the chunk after them sees, or a microsecond beside
that, and tie there. Imports nothing of Muntin.
"""

from collections import Counter, defaultdict
from random import Random
from typing import Any

from conformance.everyday import CALLS, CONDITIONS, MICROSECONDS
from conformance.oracle import Row
from conformance.trailing import CLOSED, MORE, Question, Window

MINUTE = MICROSECONDS["minute"]
CHUNK = 10 * MINUTE
CHUNKS = (range(-3, 3), range(2_850_000, 2_850_009))
"""Numbers of chunks: about 1970, and much later."""


def carried_question(seed: str, most_rows: int = 60) -> Question:
    """The question of this seed: of the last rows, of all of them, or of both."""
    random = Random(seed)
    kind = random.choice(["rows", "lifetime", "both"])
    chunks = random.choice(CHUNKS)
    calls = random.sample([*CALLS, *(MORE if kind == "rows" else ())], 3)
    others = random.random() < 0.4
    return Question(
        seed,
        _windows(random, kind),
        tuple((c, random.choice(CONDITIONS) if random.random() < 0.2 else None) for c in calls),
        tuple(random.sample(["k", "part"], random.choice([0, 1, 1, 2]))),
        random.choice([None, None, *CONDITIONS]),
        random.choice(CLOSED),
        _rows(random, "ts", most_rows, chunks),
        _rows(random, "at", random.choice([5, most_rows]), chunks) if others else None,
    )


def _windows(random: Random, kind: str) -> tuple[Window, ...]:
    delays = [None, None, "1 minute", "10 minutes"]
    windows = []
    if random.random() < 0.6:
        windows.append(Window(random.choice(["1 second", "5 minutes", "9 minutes"])))
    if kind != "lifetime":
        windows.append(Window(rows=random.choice([1, 2, 7]), delay=random.choice(delays)))
    if kind != "rows":
        windows.append(Window(delay=random.choice(delays)))
    return tuple(windows)


def _rows(random: Random, time: str, count: int, chunks: range) -> tuple[Row, ...]:
    rows: list[Row] = []
    for order in random.sample(range(10 * count), count):
        border = random.choice(chunks) * CHUNK - random.choice([0, 0, 1, 5, 9, 10]) * MINUTE
        instant = border + random.choice([-1, 0, 0, 1, MINUTE // 2])
        if rows and random.random() < 0.6:  # often more ties than windows hold rows
            instant = random.choice(rows[:5])[time] or instant
        rows.append(
            {
                time: None if random.random() < 0.05 else instant,
                "k": random.choice([None, "a", "a", "a", "it's"]),
                "part": random.choice([None, 1, 1]),
                "n": None if random.random() < 0.1 else random.choice([1, 2, 2**40, -5]),
                "x": None if random.random() < 0.1 else random.randrange(-800, 800) / 8,
                "o": order,
                "s": random.choice([None, "", "a", "z z"]),
            }
        )
    return tuple(rows)


def count_splits(asked: Question, reached: Counter[str]) -> None:
    """How many keys have rows in several chunks, and how far back what they are given lies."""
    rows = _places(asked, asked.rows, "ts")
    events = rows if asked.events is None else _places(asked, asked.events, "at")
    chunks: defaultdict[Any, set[int]] = defaultdict(set)
    for key, time in events:
        chunks[key].add(time // CHUNK)
    asking = {(key, time // CHUNK) for key, time in rows}
    cut = {key for key, chunk in asking if any(each < chunk for each in chunks[key])}
    reached["keys that are cut"] += len(cut)
    reached["an empty chunk between"] += any(
        chunk - 1 not in chunks[key] and min(chunks[key], default=chunk) < chunk - 1
        for key, chunk in asking
    )
    times = Counter(events)
    reached["ties at a border"] += any(
        count > 1 and time % CHUNK == 0 for (_, time), count in times.items()
    )
    fewest = min((w.rows for w in asked.windows if w.rows is not None), default=len(events))
    reached["more ties than rows"] += max(times.values(), default=0) > fewest


def _places(asked: Question, rows: tuple[Row, ...], time: str) -> list[tuple[Any, int]]:
    return [(tuple(r[k] for k in asked.keys), r[time]) for r in rows if r[time] is not None]

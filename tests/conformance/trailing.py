"""Questions about trailing windows, each made from one seed, in the words of their user.

Times tie, repeat, are null, lie before 1970, and stand exactly a window's length apart or a
microsecond beside that. Imports nothing of Muntin.
"""

from dataclasses import dataclass
from random import Random
from typing import Any

from conformance.everyday import CALLS, CONDITIONS, Call, Condition, length
from conformance.oracle import Frame, Measure, Row, Trailing, features

LENGTHS = ("1 second", "5 minutes", "1 hour", "90 minutes", "1 day", "1 week")
BASES = (0, 1_700_000_000_000_000, -2_000_000_000_000_000)
GRAINS = ("1 minute", "7 minutes", "1 hour")
CLOSED = ("left", "right", "both", "none")
MORE = (
    Call("count_distinct", ("s",), lambda row: row["s"]),
    Call("collect_set", ("n",), lambda row: row["n"]),
    Call("median", ("x",), lambda row: row["x"]),
)
"""Aggregates that are computed from values."""


@dataclass(frozen=True)
class Window:
    """A trailing window as a user writes it."""

    duration: str | None = None
    rows: int | None = None
    delay: str | None = None

    def frame(self, number: int, grain: str | None) -> Frame:
        """The same for the oracle; its id is its number."""
        span = None if self.duration is None else length(self.duration)
        step = length(grain) if grain is not None and self.is_long(grain) else 0
        late = length(self.delay) if self.delay else 0
        return Frame(f"w{number}", span, self.rows, late, step)

    def is_long(self, grain: str) -> bool:
        """Whether its far end moves by the grain."""
        return self.duration is not None and length(self.duration) >= 12 * length(grain)


@dataclass(frozen=True)
class Question:
    """Windows, aggregates, rows, and perhaps other events."""

    seed: str
    windows: tuple[Window, ...]
    calls: tuple[tuple[Call, Condition | None], ...]
    keys: tuple[str, ...]
    where: Condition | None
    closed: str
    rows: tuple[Row, ...]
    events: tuple[Row, ...] | None
    grain: str | None = None

    def features(self) -> list[dict[str, Any]]:
        """What brute force gives for every row."""
        measures = [
            Measure(f"a{i}", call.function, call.value, _holds(only))
            for i, (call, only) in enumerate(self.calls)
        ]
        frames = [window.frame(i, self.grain) for i, window in enumerate(self.windows)]
        asked = Trailing(
            frames,
            measures,
            self.keys,
            self.closed,
            _holds(self.where),
            ties=lambda row: row["o"],
            events_time="ts" if self.events is None else "at",
        )
        return features(asked, self.rows, self.rows if self.events is None else self.events)


def _holds(condition: Condition | None) -> Any:
    return (lambda row: True) if condition is None else condition[1]


def trailing_question(seed: str, most_rows: int = 40) -> Question:
    """The question of this seed."""
    random = Random(seed)
    windows = _windows(random)
    calls = random.sample([*CALLS, *MORE], random.choice([2, 3, 4]))
    others = random.random() < 0.4
    many = random.choice([0, 1, most_rows, most_rows, most_rows])
    rows = _rows(random, windows, many, "ts")
    few = random.choice([0, most_rows, most_rows])
    return Question(
        seed,
        windows,
        tuple((c, random.choice(CONDITIONS) if random.random() < 0.2 else None) for c in calls),
        tuple(random.sample(["k", "part"], random.choice([0, 1, 1, 2]))),
        random.choice([None, None, *CONDITIONS]),
        random.choice(CLOSED),
        rows,
        _rows(random, windows, few, "at", rows) if others else None,
        random.choice([None, *(g for g in GRAINS if any(w.is_long(g) for w in windows))]),
    )


def _windows(random: Random) -> tuple[Window, ...]:
    spans: list[str] = random.sample(LENGTHS, random.choice([1, 2, 3]))
    found = [Window(span, delay=random.choice([None, None, "5 minutes"])) for span in spans]
    if random.random() < 0.4:
        found.append(Window(rows=random.choice([1, 3, 10])))
    if random.random() < 0.4:
        found.append(Window(delay=random.choice([None, "1 hour"])))
    return tuple(found)


def _rows(
    random: Random,
    windows: tuple[Window, ...],
    count: int,
    time: str,
    others: tuple[Row, ...] = (),
) -> tuple[Row, ...]:
    spans = [length(w.duration) for w in windows if w.duration] + [300_000_000]
    base, reach = random.choice(BASES), int(max(spans) * random.choice([0.5, 1, 3]))
    if others:
        base = next((row["ts"] for row in others if row["ts"] is not None), base)
    known = [row["ts"] for row in others if row["ts"] is not None]
    orders = random.sample(range(10 * count + 1), count)
    rows: list[Row] = []
    for order in orders:
        instant: int | None = base + random.randrange(reach)
        kind = random.random()
        if kind < 0.06:
            instant = None
        elif kind < 0.7 and known:
            apart = random.choice([0, 0, *spans]) + random.choice([-1, 0, 0, 0, 1])
            instant = random.choice(known) + random.choice([-1, 1]) * apart
        if instant is not None:
            known.append(instant)
        rows.append(
            {
                time: instant,
                "k": random.choice([None, "a", "b", "it's"]),
                "part": random.choice([None, 1, 2]),
                "n": None if random.random() < 0.1 else random.choice([1, 1, 2, 2**40, -5]),
                "x": None if random.random() < 0.1 else random.randrange(-800, 800) / 8,
                "o": order,
                "s": random.choice([None, "", "a", "ä", "z z", "'"]),
            }
        )
    return tuple(rows)

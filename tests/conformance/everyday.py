"""Everyday queries, each made from one seed: windows as people write them, on rows as they come.

Ranges and slides run from a minute to four weeks and are mostly related by division, so that one
window can feed another; some are uneven, some have offsets. Rates are those at which sharing pays.
Rows have ties, nulls in times, keys and values, instants exactly at begins and a microsecond beside
them, and lie before and after 1970. Imports nothing of Muntin.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from conformance.oracle import Asked, Interval, Measure, Row

MICROSECONDS = {
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}

FAMILIES: tuple[tuple[str, ...], ...] = (
    ("1 minute", "2 minutes", "5 minutes", "10 minutes", "15 minutes", "30 minutes", "1 hour"),
    ("5 minutes", "10 minutes", "15 minutes", "20 minutes", "30 minutes", "1 hour", "2 hours"),
    ("10 minutes", "30 minutes", "1 hour", "2 hours", "3 hours", "6 hours", "12 hours", "1 day"),
    ("1 hour", "2 hours", "4 hours", "8 hours", "12 hours", "1 day", "2 days", "1 week"),
    ("6 hours", "12 hours", "1 day", "2 days", "1 week", "2 weeks", "4 weeks"),
)
"""Durations that appear together."""

UNEVEN = (
    "7 minutes",
    "25 minutes",
    "45 minutes",
    "50 minutes",
    "90 minutes",
    "7 hours",
    "36 hours",
)
BASES = (0, 1_700_000_000_000_000, -3 * MICROSECONDS["week"], -2_000_000_000_000_000)
"""Where tables begin: in 1970, in 2023, just before 1970, in 1906."""

MOST_RESULTS = 3_000
"""How many pairs of row and interval a question may have."""

Condition = tuple[str, Callable[[Row], bool | None]]

CONDITIONS: tuple[Condition, ...] = (
    ("n > 0", lambda row: None if row["n"] is None else row["n"] > 0),
    ("k IS NULL OR k <> 'b'", lambda row: row["k"] is None or row["k"] != "b"),
    ("x < 50 AND n IS NOT NULL", lambda row: _has(row, "x", "n") and row["x"] < 50),
)
"""SQL and the same in Python; a comparison with null is unknown."""


def _has(row: Row, *names: str) -> bool:
    return all(row[name] is not None for name in names)


def _holds(condition: Condition | None) -> Callable[[Row], bool | None]:
    return (lambda row: True) if condition is None else condition[1]


def _positive(row: Row) -> bool | None:
    return None if row["n"] is None else row["n"] > 0


@dataclass(frozen=True)
class Call:
    """An aggregate as a user writes it, and the same for the oracle."""

    function: str
    arguments: tuple[str, ...]
    value: Callable[[Row], Any] = field(repr=False)
    idempotent: bool = False


CALLS = (
    Call("count", (), lambda row: 1),
    Call("count", ("x",), lambda row: row["x"]),
    Call("count_if", ("n > 0",), _positive),
    Call("sum", ("n",), lambda row: row["n"]),
    Call("sum", ("x",), lambda row: row["x"]),
    Call("avg", ("x",), lambda row: row["x"]),
    Call("var_pop", ("x",), lambda row: row["x"]),
    Call("stddev_samp", ("x",), lambda row: row["x"]),
    Call("bit_xor", ("n",), lambda row: row["n"]),
    Call("min", ("n",), lambda row: row["n"], idempotent=True),
    Call("max", ("x",), lambda row: row["x"], idempotent=True),
    Call("min", ("s",), lambda row: row["s"], idempotent=True),
    Call("bool_or", ("n > 0",), _positive, idempotent=True),
    Call("bool_and", ("n > 0",), _positive, idempotent=True),
    Call("max_by", ("s", "o"), lambda row: (row["s"], row["o"]), idempotent=True),
)


@dataclass(frozen=True)
class Question:
    """A query in the words of its user, the rows, and how it is planned."""

    seed: str
    windows: tuple[tuple[str, str, str], ...]
    calls: tuple[tuple[Call, Condition | None], ...]
    keys: tuple[str, ...]
    where: Condition | None
    rows: tuple[Row, ...]
    rate: float
    distinct_keys: int
    slicing: str

    def asked(self) -> Asked:
        """The same for the oracle."""
        measures = [
            Measure(f"a{i}", call.function, call.value, _holds(only))
            for i, (call, only) in enumerate(self.calls)
        ]
        windows = [interval(*window) for window in self.windows]
        return Asked(windows, measures, self.keys, _holds(self.where))

    def split(self) -> dict[str, "Question"]:
        """Two questions about the same rows, with some of the windows and aggregates each."""
        return {
            "first": replace(self, windows=self.windows[:2], calls=self.calls[:-1]),
            "second": replace(self, windows=self.windows[1:] or self.windows),
        }

    def without_one(self) -> list["Question"]:
        """Every question that lacks one window, aggregate, key, or some of the rows."""
        found: list[Question] = []
        if len(self.windows) > 1:
            for i, _ in enumerate(self.windows):
                found.append(replace(self, windows=self.windows[:i] + self.windows[i + 1 :]))
        if len(self.calls) > 1:
            found += [replace(self, calls=(call,)) for call in self.calls]
        if self.where or self.keys:
            found.append(replace(self, where=None, keys=()))
        if len(self.rows) > 1:
            half = len(self.rows) // 2
            found += [replace(self, rows=part) for part in (self.rows[:half], self.rows[half:])]
        return found


def length(text: str) -> int:
    """The microseconds of "5 minutes"."""
    number, unit = text.split()
    return int(number) * MICROSECONDS[unit.removesuffix("s")]


def interval(span: str, slide: str, offset: str) -> Interval:
    """The window for the oracle, with the id that Muntin's contract gives it."""
    hop = "" if span == slide else f"/{slide}"
    shift = "" if length(offset) == 0 else f"@{offset}"
    return Interval(f"{span}{hop}{shift}", length(span), length(slide), length(offset))


def question(seed: str, most_rows: int = 40) -> Question:
    """The question of this seed."""
    random = Random(seed)
    windows = _windows(random)
    apart = Random(f"{seed}/nested")
    if apart.random() < 0.2:
        windows = _nested(apart)
    copies = sum(length(span) / length(slide) for span, slide, _ in windows)
    count = min(random.choice([0, 1, most_rows, most_rows, most_rows]), int(MOST_RESULTS / copies))
    return Question(
        seed,
        windows,
        _calls(random),
        tuple(random.sample(["k", "part"], random.choice([0, 1, 1, 2]))),
        random.choice([None, None, *CONDITIONS]),
        _rows(random, windows, max(count, 1) if count else 0),
        random.choice([10.0, 1e3, 1e5]),
        random.choice([1, 20, 1000]),
        random.choice(["pairs", "pairs", "panes", "cutty"]),
    )


def _windows(random: Random) -> tuple[tuple[str, str, str], ...]:
    family = random.choice(FAMILIES)
    offsets = _offsets(random, family)
    found: dict[tuple[str, str, str], None] = {}
    for _ in range(random.choice([2, 2, 3, 3, 4, 5])):
        span = random.choice(family[1:])
        slide = span if random.random() < 0.4 else random.choice(_shorter(family, span))
        if random.random() < 0.15:
            span, slide = sorted((span, random.choice(UNEVEN)), key=length, reverse=True)
        offset = random.choice(offsets)
        if length(offset) < length(slide):
            found[(span, slide, offset)] = None
    return tuple(found) or (("1 hour", "10 minutes", "0 seconds"),)


def _nested(random: Random) -> tuple[tuple[str, str, str], ...]:
    """The last so many minutes or hours, each wider than the one before, and all ending together.

    Mostly of ranges that are no multiples of each other: 15, 25 and 45 minutes, every 5.
    """
    step = length(random.choice(["1 minute", "5 minutes", "10 minutes", "1 hour", "6 hours"]))
    slide, span = step, step * random.randrange(2, 5)
    found: dict[tuple[str, str, str], None] = {}
    for _ in range(random.choice([2, 3, 3, 4])):
        found[(_text(span), _text(slide), _text(-span % slide))] = None
        slide *= random.choice([1, 1, 1, 2])
        span = max(span + step * random.randrange(1, 6), slide)
    return tuple(found)


def _text(microseconds: int) -> str:
    """A duration in the largest whole unit, as ids have it."""
    units = sorted(MICROSECONDS.items(), key=lambda unit: -unit[1])
    name, size = next(unit for unit in units if microseconds % unit[1] == 0)
    count = microseconds // size
    return f"{count} {name}{'' if count == 1 else 's'}" if count else "0 seconds"


def _shorter(family: Sequence[str], span: str) -> list[str]:
    """Slides of a window of this range: others of the family, not too many to a range."""
    return [s for s in family if length(s) <= length(span) <= 60 * length(s)]


def _offsets(random: Random, family: Sequence[str]) -> list[str]:
    """Mostly none; sometimes one for all windows, sometimes several."""
    kind = random.random()
    if kind < 0.7:
        return ["0 seconds"]
    return [family[0]] if kind < 0.85 else ["0 seconds", family[0], "90 seconds"]


def _calls(random: Random) -> tuple[tuple[Call, Condition | None], ...]:
    """Two to four aggregates; in a third of the questions pieces may overlap for all of them."""
    known = [call for call in CALLS if call.idempotent] if random.random() < 0.34 else CALLS
    chosen = random.sample(known, random.choice([2, 3, 4]))
    return tuple((c, random.choice(CONDITIONS) if random.random() < 0.2 else None) for c in chosen)


def _rows(random: Random, windows: Sequence[Sequence[str]], count: int) -> tuple[Row, ...]:
    """Rows over a few of the longest ranges, in any order."""
    longest = max(length(span) for span, _, _ in windows)
    base, span = random.choice(BASES), int(longest * random.choice([0.4, 1.5, 3]))
    orders = random.sample(range(10 * count + 1), count)
    rows: list[Row] = []
    for order in orders:
        rows.append(
            {
                "ts": _time(random, windows, base, span, rows),
                "k": random.choice([None, "a", "b", "it's"]),
                "part": random.choice([None, 1, 2]),
                "n": _or_null(random, random.choice([1, 1, 2, random.randrange(-5, 2**40)])),
                "x": _or_null(random, random.randrange(-800, 800) / 8),
                "o": order,
                "s": _or_null(random, random.choice(["", "a", "ä", "z z", "'"])),
            }
        )
    return tuple(rows)


def _time(
    random: Random, windows: Sequence[Sequence[str]], base: int, span: int, before: list[Row]
) -> int | None:
    kind = random.random()
    if kind < 0.05:
        return None
    if kind < 0.2 and before:
        earlier: int | None = random.choice(before)["ts"]
        return earlier
    instant = base + random.randrange(span)
    if kind < 0.5:
        _, slide, offset = random.choice(windows)
        edge = instant - (instant - length(offset)) % length(slide)
        return edge + random.choice([-1, 0, 0, 1])
    return instant


def _or_null(random: Random, value: Any) -> Any:
    return None if random.random() < 0.1 else value

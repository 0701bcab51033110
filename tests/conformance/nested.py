"""Questions of mt.join and mt.distinct with rows, judged by brute force over explicit intervals."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

import pyarrow as pa

import muntin as mt
from muntin_testing.pairs import (
    Given,
    Row,
    any_begin,
    any_pairs,
    any_rows,
    any_window,
    brute_items,
    brute_pairs,
)
from muntin_testing.reached import Reached

LEFT = pa.schema(
    [("ts", pa.timestamp("us", "UTC")), ("user", pa.string()), ("v", pa.int64()), ("n", pa.int32())]
)
RIGHT = pa.schema(
    [LEFT.field("ts").with_name("at"), LEFT.field("user"), ("w", pa.int64()), LEFT.field("n")]
)

CONDITIONS: dict[str | None, Callable[[Row, Row], bool]] = {
    None: lambda a, b: True,
    "v < w": lambda a, b: None not in (a["v"], b["w"]) and a["v"] < b["w"],
    "left.n % 3 = right.n % 3 OR w IS NULL": lambda a, b: (
        a["n"] % 3 == b["n"] % 3 or b["w"] is None
    ),
    "RIGHT.at >= left.ts AND user <> 'a'": lambda a, b: b["at"] >= a["ts"] and a["user"] != "a",
}
"""Conditions as SQL, and what they mean."""

Found = Counter[tuple[Any, ...]]
"""Rows of a result, as far as they are compared."""


@dataclass(frozen=True)
class Pairs:
    """A join: the rows of both sides, windows and a condition."""

    left: list[Row]
    right: list[Row]
    windows: list[Given]
    where: str | None

    @staticmethod
    def drawn(seed: object, rows: int = 24) -> "Pairs":
        random = Random(str(seed))
        begin = any_begin(random)
        left = any_rows(random, rows, "ts", "v", begin)
        right = any_rows(random, rows, "at", "w", begin)
        return Pairs(left, right, any_pairs(random, 4), random.choice(list(CONDITIONS)))

    @property
    def tables(self) -> tuple[pa.Table, pa.Table]:
        """Both sides as Arrow tables."""
        left = pa.Table.from_pylist(self.left, schema=LEFT)
        return left, pa.Table.from_pylist(self.right, schema=RIGHT)

    @property
    def asked(self) -> dict[str, Any]:
        """The arguments of mt.join besides the tables and the layout."""
        asked = {"on": "user", "time": ("ts", "at"), "windows": self.windows}
        return asked | {"where": self.where}

    def expected(self, reached: Reached) -> Found:
        """The pairs of every interval."""
        found = brute_pairs(self.left, self.right, self.windows, CONDITIONS[self.where], reached)
        reached[f"where {self.where}"] += bool(found)
        reached["before 1970"] += any(end.year < 1970 for _, end, _, _ in found)
        return found


PAIR_KINDS = ("held by several windows", "held several times", "sides differ")


def pairs_in(long: list[dict[str, Any]]) -> Found:
    """(window id, end, n of the left, n of the right) of rows of the long layout."""
    for row in long:
        other = row.get("right_window", row["window"])
        assert row["window"]["end"] == other["end"]
        assert row["window"]["start"] <= row["left"]["ts"] < row["window"]["end"]
        assert other["start"] <= row["right"]["at"] < other["end"]
        assert row["user"] == row["left"]["user"] == row["right"]["user"]
    return Counter(
        (r["window_id"], r["window"]["end"], r["left"]["n"], r["right"]["n"]) for r in long
    )


def pairs_held(nested: list[dict[str, Any]], windows: list[Given]) -> Found:
    """The same of rows of the nested layout: every end from the first to the last."""
    steps = {id_of(each): step_of(each) for each in windows}
    found: Found = Counter()
    seen: Counter[tuple[int, int]] = Counter()
    for row in nested:
        smallest = row["windows"][0]
        assert (row["window_id"], row["expires"]) == (smallest["window_id"], smallest["expires"])
        seen[row["left"]["n"], row["right"]["n"]] += 1
        for held in row["windows"]:
            end = held["first_end"]
            while end <= held["expires"]:
                found[held["window_id"], end, row["left"]["n"], row["right"]["n"]] += 1
                end += steps[held["window_id"]]
    assert set(seen.values()) <= {1}, "each pair is found once"
    return found


def sides_of(given: Given) -> tuple[mt.Window, mt.Window]:
    return given if isinstance(given, tuple) else (given, given)


def id_of(given: Given) -> str:
    left, right = sides_of(given)
    return left.id if left.id == right.id else f"{left.id} & {right.id}"


def step_of(given: Given) -> timedelta:
    """How far apart common ends are, found by looking: ends meet within the product of slides."""
    left, right = (w.slide // 1_000_000 for w in sides_of(given))
    step = next(n for n in range(1, left * right + 1) if n % left == 0 and n % right == 0)
    return timedelta(seconds=step)


@dataclass(frozen=True)
class Items:
    """Distinct items: rows and windows."""

    rows: list[Row]
    windows: list[mt.Window]
    grouping: str

    @staticmethod
    def drawn(seed: object) -> "Items":
        random = Random(str(seed))
        rows = any_rows(random, 40, "ts", "v", any_begin(random))
        slides = [random.choice([1, 2, 3, 4, 6, 12]) for _ in range(5)]
        made = [any_window(random, s, 0 if random.random() < 0.6 else None) for s in slides]
        return Items(rows, list(dict.fromkeys(made)), random.choice(["greedy", "minimum"]))

    @property
    def table(self) -> pa.Table:
        return pa.Table.from_pylist(self.rows, schema=LEFT)

    @property
    def asked(self) -> dict[str, Any]:
        """The arguments of mt.distinct besides the table and the layout."""
        asked: dict[str, Any] = {"time": "ts", "items": "v", "windows": self.windows}
        return asked | {"keys": "user", "grouping": self.grouping}

    def expected(self) -> Found:
        """The items of every interval, each with when it was last seen."""
        return brute_items(self.rows, self.windows)


def items_in(long: list[dict[str, Any]]) -> Found:
    """(window id, end, user, v, last seen) of rows of the long layout."""
    return Counter(
        (r["window_id"], r["window"]["end"], r["user"], r["v"], r["last_seen"]) for r in long
    )


def items_held(nested: list[dict[str, Any]], windows: list[mt.Window]) -> Found:
    """The same of rows of the nested layout."""
    ranges = {w.id: timedelta(microseconds=w.range) for w in windows}
    for row in nested:
        assert row["window_id"] == row["windows"][0]
        assert ranges[row["window_id"]] == min(ranges[id] for id in row["windows"])
        assert row["expires"] == row["last_seen"] + ranges[row["window_id"]]
    return Counter(
        (id, r["window_end"], r["user"], r["v"], r["last_seen"])
        for r in nested
        for id in r["windows"]
    )

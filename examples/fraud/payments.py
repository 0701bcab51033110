"""Card payments, made up: a week of history as a table, then live ones, a small file each second.

    python payments.py FOLDER

Payments of now go to FOLDER/arriving until the process is stopped. One card is stolen: it pays
every second, and a lot. No real card is in it.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

CARDS = [f"card-{number:03}" for number in range(50)]
STOLEN = CARDS[7]
WEEK = timedelta(days=7)


def pay(dice: random.Random, card: str, paid: datetime, number: str, most: float = 60) -> Any:
    amount = round(dice.uniform(1, most), 2)
    return {"payment": number, "paid": paid.isoformat(), "card": card, "amount": amount}


def write_history(folder: Path, until: datetime) -> None:
    """A week of payments before `until`, about four a day and card."""
    dice = random.Random(7)
    times = sorted(until - WEEK * dice.random() for _ in range(28 * len(CARDS)))
    rows = [pay(dice, dice.choice(CARDS), paid, f"h{i}") for i, paid in enumerate(times)]
    for row in rows:
        row["paid"] = datetime.fromisoformat(row["paid"])
    schema = pa.schema(
        {
            "payment": pa.string(),
            "paid": pa.timestamp("us", "UTC"),
            "card": pa.string(),
            "amount": pa.float64(),
        }
    )
    pq.write_table(pa.Table.from_pylist(rows, schema), folder / "history.parquet")


def live(dice: random.Random) -> Iterator[list[Any]]:
    """The payments of each second."""
    second = 0
    while True:
        cards = [*dice.sample(CARDS, 3), STOLEN]
        paid = datetime.now(UTC)
        yield [
            pay(dice, card, paid, f"p{second}-{i}", most=900 if card == STOLEN else 60)
            for i, card in enumerate(dict.fromkeys(cards))
        ]
        second += 1


def write_live(folder: Path) -> None:
    """A file is there whole, or not at all: it is written aside and renamed."""
    arriving = folder / "arriving"
    arriving.mkdir(exist_ok=True)
    for number, rows in enumerate(live(random.Random(8))):
        aside = folder / "aside.json"
        aside.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        aside.rename(arriving / f"{number:08}.json")
        time.sleep(1)


if __name__ == "__main__":
    write_live(Path(sys.argv[1]))

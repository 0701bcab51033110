"""Ten days of card transactions, made by this script from a fixed seed: no real card is in it."""

import random
from datetime import datetime, timedelta
from pathlib import Path

FILE = Path(__file__).parent / "cards.csv"
START = datetime(2026, 1, 1)


def write_cards() -> None:
    """A dozen cards that shop now and then; one of them is stolen on the eighth day."""
    dice = random.Random(7)
    rows = []
    for card in range(12):
        time = START + timedelta(hours=dice.random() * 12)
        while time < START + timedelta(days=10):
            rows.append((time, f"card-{card:02}", round(dice.lognormvariate(3, 0.8), 2)))
            time += timedelta(hours=dice.expovariate(1 / 3))
    time = START + timedelta(days=8, hours=3)
    for _ in range(25):
        rows.append((time, "card-07", round(dice.uniform(200, 400), 2)))
        time += timedelta(seconds=dice.randrange(20, 90))
    lines = [f"{t:%Y-%m-%dT%H:%M:%SZ},{card},{amount}" for t, card, amount in sorted(rows)]
    FILE.write_text("\n".join(["paid,card,amount", *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_cards()

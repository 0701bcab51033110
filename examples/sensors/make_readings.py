"""Six hours of readings of three sensors, a file an hour, from a fixed seed."""

import random
from datetime import datetime, timedelta
from pathlib import Path

FOLDER = Path(__file__).parent / "readings"
START = datetime(2026, 1, 1)


def write_readings() -> None:
    """Temperatures that wander; some readings arrive a few minutes late, in the next file."""
    dice = random.Random(7)
    temperature = dict.fromkeys(("attic", "cellar", "kitchen"), 20.0)
    files: list[list[str]] = [[] for _ in range(6)]
    for minute in range(6 * 60):
        for device in temperature:
            temperature[device] += dice.gauss(0, 0.3)
            late = minute % 60 > 54 and minute // 60 < 5 and dice.random() < 0.3
            time = START + timedelta(minutes=minute, seconds=dice.randrange(60))
            row = f"{time:%Y-%m-%dT%H:%M:%SZ},{device},{temperature[device]:.2f}"
            files[minute // 60 + late].append(row)
    for hour, rows in enumerate(files):
        text = "\n".join(["EntryTime,DeviceID,temperature", *rows])
        (FOLDER / f"hour-{hour}.csv").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    write_readings()

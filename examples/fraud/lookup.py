"""What is known of a card: its newest features, in a few lines.

python lookup.py DSN CARD
"""

from __future__ import annotations

import sys

import psycopg
from psycopg.rows import dict_row

QUERY = "SELECT * FROM features WHERE card = %s ORDER BY paid DESC LIMIT 1"


def lookup(dsn: str, card: str) -> dict[str, object] | None:
    """The features of its last payment; None for a card that has not paid yet."""
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        return connection.execute(QUERY, (card,)).fetchone()


if __name__ == "__main__":
    for name, value in (lookup(sys.argv[1], sys.argv[2]) or {}).items():
        print(f"{name:24} {value}")

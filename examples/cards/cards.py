"""Card features in Python: find the card that suddenly pays far more often than it used to."""

from pathlib import Path

import muntin as mt
from muntin.engines.spark.session import local_session

CARDS = Path(__file__).parent / "cards.csv"


def main() -> None:
    """The instants at which an hour held more than a quarter of a week's payments."""
    spark = local_session("cards")
    payments = spark.read.csv(
        str(CARDS), header=True, schema="paid TIMESTAMP, card STRING, amount DOUBLE"
    )
    features = mt.aggregate(
        payments,
        time="paid",
        keys=["card"],
        windows=[
            mt.tumbling("5 minutes", id="5m"),
            mt.hopping("1 hour", "5 minutes", id="1h"),
            mt.hopping("24 hours", "5 minutes", id="1d"),
            mt.hopping("7 days", "5 minutes", id="7d"),
        ],
        aggregates=[mt.count().alias("n"), mt.avg("amount").alias("mean")],
        layout="wide",
    )
    hurried = features.where("n__1h > 5 AND n__1h > n__7d / 4")
    hurried.select("card", "window_end", "n__5m", "n__1h", "n__7d", "mean__1h").orderBy(
        "window_end"
    ).show(3, truncate=False)


if __name__ == "__main__":
    main()

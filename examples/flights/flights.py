"""Flights by airport: the plan, the rows, and the proof that they are Spark's own."""

import muntin as mt
from muntin.engines.spark.session import local_session


def main() -> None:
    """Delays over an hour, a day and a week, computed together."""
    spark = local_session("flights")
    flights = mt.demo_flights(spark)
    query = mt.query(
        time="departure",
        keys=["origin"],
        windows=[
            mt.tumbling("1 hour"),
            mt.hopping("1 day", "6 hours"),
            mt.hopping("1 week", "1 day"),
        ],
        aggregates=[mt.count().alias("flights"), mt.avg("delay").alias("mean_delay")],
    )
    plan = mt.optimize(query, rate=0.01, distinct_keys=3)
    print(plan.explain())
    plan.apply(flights).where("origin = 'JFK' AND window_id = '1 week/1 day'").orderBy(
        "window"
    ).show(3, truncate=False)
    print(mt.verify(flights.where("departure < '2013-02-01'"), plan))


if __name__ == "__main__":
    main()

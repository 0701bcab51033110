"""A declarative pipeline: flights, and their delays over three windows in one pass.

    cd examples/pipeline && spark-pipelines run

The functions of a pipeline only describe: nothing may be analysed in them. So the plan is made
without Spark and handed over as SQL.
"""

from importlib.resources import files

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

import muntin as mt

FLIGHTS = str(files("muntin.demo") / "flights.parquet")
PLAN = mt.optimize(
    mt.query(
        time="departure",
        keys=["origin"],
        windows=[
            mt.tumbling("1 hour"),
            mt.hopping("1 day", "6 hours"),
            mt.hopping("1 week", "1 day"),
        ],
        aggregates=[mt.count().alias("flights"), mt.avg("delay").alias("mean_delay")],
    ),
    engine="sql",
)


@dp.materialized_view
def flights() -> DataFrame:
    """Departures from New York in 2013."""
    return SparkSession.active().read.parquet(FLIGHTS)


@dp.materialized_view
def delays() -> DataFrame:
    """Every airport, over an hour, a day and a week."""
    return SparkSession.active().sql(PLAN.to_sql("spark", table="flights"))

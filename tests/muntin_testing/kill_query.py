"""The query of the stream that is killed, for the process that dies and for the one that judges."""

import muntin as mt

SCHEMA = "ts timestamp, k string, n bigint"
QUERY = mt.query(
    "ts",
    [mt.tumbling("10 seconds"), mt.hopping("30 seconds", "10 seconds")],
    [mt.sum("n").alias("total"), mt.max("n").alias("most"), mt.count().alias("rows")],
    keys="k",
)
RECORDS = mt.query(
    "ts",
    [
        mt.session("2 seconds"),
        mt.count_window(4, 2),
        mt.threshold("n", 300),
        mt.hopping("30 seconds", "10 seconds"),
    ],
    QUERY.aggregates,
    keys="k",
    order_by="n",
)
"""Windows that the data decides."""

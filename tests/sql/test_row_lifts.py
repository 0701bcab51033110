"""The partial of one row is what the lift makes of a group of that row alone."""

from random import Random

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from muntin.aggregates.columns import columns_of, distinct_inputs
from muntin.sql.row_lifts import row_lift
from muntin_testing.tables import SCHEMA, aggregate_of, random_rows
from muntin_testing.values import all_cases, same


def test_every_lift_of_one_row(frugal: SparkSession) -> None:
    every = (aggregate_of(name, case.types) for name, case in all_cases())
    aggregates = [a for a in dict.fromkeys(every) if not a.function.holistic]
    inputs = distinct_inputs(aggregates)
    rows = random_rows(Random(3), "timestamp", 0, 10**9, 60)
    table = frugal.createDataFrame(rows, SCHEMA.format(kind="timestamp")).select(
        F.monotonically_increasing_id().alias("row"),
        *(F.expr(each.argument).alias(f"v{i}") for i, each in enumerate(inputs)),
    )
    kinds = dict(zip(inputs, [f.dataType.simpleString() for f in table.schema][1:], strict=True))
    partials = columns_of(aggregates, kinds.__getitem__).partials
    plain = {p.name: row_lift(p.lift) for p in partials}
    known = [p for p in partials if plain[p.name] is not None]
    assert len(known) > 30
    assert {p.lift.partition("(")[0] for p in partials if p not in known} <= {
        "collect_set",
        "hll_sketch_agg",
        "kll_sketch_agg_bigint",
        "kll_sketch_agg_double",
    }
    lifted = table.groupBy("row").agg(*(F.expr(p.lift).alias(p.name) for p in known))
    kind = {f.name: f.dataType.simpleString() for f in lifted.schema}
    single = table.select(
        "row",
        *(F.expr(f"CAST({plain[p.name]} AS {kind[p.name]})").alias(p.name) for p in known),
    )
    by_row = {row["row"]: row for row in lifted.collect()}
    assert len(by_row) == len(rows)
    for row in single.collect():
        for p in known:
            found, expected = row[p.name], by_row[row["row"]][p.name]
            assert same(found, expected), f"{p.lift}: {found} for {expected}"

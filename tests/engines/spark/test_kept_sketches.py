"""Sketches that Python makes, read by Spark's own functions: right within their errors."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from muntin.aggregates.sketches import ApproxPercentile
from muntin.engines.spark.session_facts import version_of
from muntin.kernels.distinct_sketches import DistinctSketch
from muntin.kernels.encoding import Encoded
from muntin.kernels.quantile_sketches import KINDS, QuantileSketch

COUNTS = (0, 1, 7, 8, 9, 24, 25, 384, 385, 3_000, 30_000)


def sketch(encoded: Encoded, empty: bytes) -> bytearray:
    if not len(encoded.arrays[0]):
        return bytearray(empty)
    [merged] = encoded.decode(encoded.monoid.reduce(tuple(a[None] for a in encoded.arrays)))
    return bytearray(merged.as_py())


def test_spark_counts_what_a_sketch_of_hashes_holds(frugal: SparkSession) -> None:
    """Lists, sets and ranks of all sizes; 5 standard errors, and few values exactly."""
    random, rows = Random(1), []
    for lg_k in (4, 7, 8, 12, 14):
        for count in COUNTS:
            hashes = pa.array([random.randrange(-(2**63), 2**63) for _ in range(count)], pa.int64())
            own = DistinctSketch(lg_k)
            rows.append((lg_k, count, sketch(own.encode(own.lift(hashes)), own.write(frozenset()))))
    table = frugal.createDataFrame(rows, "lg_k int, count int, sketch binary")
    exact = 0
    for lg_k, count, found in table.selectExpr(
        "lg_k", "count", "hll_sketch_estimate(sketch)"
    ).collect():
        few = count <= DistinctSketch(lg_k).most_coupons
        allowed = 0 if few else 5 * 1.04 / 2 ** (lg_k / 2) * count
        assert abs(found - count) <= allowed, (lg_k, count, found)
        exact += few
    assert 20 < exact < len(rows) - 20


def test_spark_finds_the_ranks_of_a_sketch_of_values(frugal: SparkSession) -> None:
    if version_of(frugal) < ApproxPercentile.since:
        pytest.skip("this Spark has no such sketches")
    shares = (0.0, 0.1, 0.5, 0.99, 1.0)
    for kind, form in KINDS.items():
        random, rows, known = np.random.default_rng(2), [], {}
        for count in COUNTS[1:]:
            values = (random.normal(size=count) * 1e6).astype(form)
            own = QuantileSketch(kind, 200)
            rows.append((count, sketch(own.encode(own.lift(pa.array(values))), own.write(()))))
            known[count] = np.sort(values)
        table = frugal.createDataFrame(rows, "count int, sketch binary")
        quantiles = [f"kll_sketch_get_quantile_{kind}(sketch, {p}D)" for p in shares]
        found = table.selectExpr("count", f"kll_sketch_get_n_{kind}(sketch)", *quantiles).collect()
        assert len(found) == len(rows)
        for count, seen, *given in found:
            values = known[count]
            assert (seen, given[0], given[-1]) == (count, values[0], values[-1])
            for p, value in zip(shares[1:-1], given[1:-1], strict=True):
                if count <= 200:
                    assert value == values[max(int(np.ceil(p * count)) - 1, 0)]
                rank = np.searchsorted(values, value, side="right") / count
                assert abs(rank - p) <= 1 / count + (0.02 if count > 200 else 0)

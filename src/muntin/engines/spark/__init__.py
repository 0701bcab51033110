"""Muntin on Spark: the only package that imports pyspark, which is an extra of Muntin."""

from muntin.errors import check_library

check_library("pyspark", "spark", "Spark")

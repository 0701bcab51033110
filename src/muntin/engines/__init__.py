"""What runs plans: Spark, the only importer of pyspark, and DuckDB in process."""

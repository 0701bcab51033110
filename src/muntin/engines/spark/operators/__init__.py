"""How each operator runs on Spark: `run` gives the long result; the other half is in `physical`."""

"""Reduce the nycflights13 flights table to the file that `muntin demo` reads.

    python tools/reduce_flights.py nycflights13_flights.parquet src/muntin/demo/flights.parquet

Keeps six columns and every row, in order of time. Timestamps become microseconds in UTC, so that
Spark reads them as `timestamp`; rows that share an instant are sorted by their other columns, which
makes the output independent of the input's order and compresses better.
"""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA = pa.schema(
    [
        pa.field("departure", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("origin", pa.string(), nullable=False),
        pa.field("carrier", pa.string(), nullable=False),
        pa.field("dest", pa.string(), nullable=False),
        pa.field("delay", pa.int32()),  # null: the flight was cancelled
        pa.field("distance", pa.int32(), nullable=False),
    ]
)
RENAMED = {"sched_dep_utc": "departure", "dep_delay": "delay"}


def reduce_flights(source: Path, target: Path) -> None:
    table = pq.read_table(source)
    table = table.rename_columns([RENAMED.get(name, name) for name in table.column_names])
    table = table.select(SCHEMA.names).cast(SCHEMA).replace_schema_metadata(None)
    table = table.sort_by([(name, "ascending") for name in SCHEMA.names])
    pq.write_table(
        table,
        target,
        compression="zstd",
        compression_level=22,
        use_dictionary=["origin", "carrier", "dest", "delay", "distance"],
        column_encoding={"departure": "DELTA_BINARY_PACKED"},
        row_group_size=len(table),
        store_schema=False,
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: reduce_flights.py SOURCE.parquet TARGET.parquet")
    reduce_flights(Path(sys.argv[1]), Path(sys.argv[2]))
